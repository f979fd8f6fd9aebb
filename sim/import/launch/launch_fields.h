// The values of a run that settings of several frameworks are, one for one.
#pragma once

#include "sim/import/launch/launch_table.h"

namespace headway::import {

// clang-format off
inline constexpr WholeField kLayers = [](LaunchRun& r) { return &r.model.layers; };
inline constexpr WholeField kHidden = [](LaunchRun& r) { return &r.model.hidden; };
inline constexpr WholeField kHeads = [](LaunchRun& r) { return &r.model.heads; };
inline constexpr WholeField kKeyValueHeads = [](LaunchRun& r) { return &r.model.key_value_heads; };
inline constexpr WholeField kHeadDim = [](LaunchRun& r) { return &r.model.head_dim; };
inline constexpr WholeField kFfn = [](LaunchRun& r) { return &r.model.ffn; };
inline constexpr WholeField kVocabulary = [](LaunchRun& r) { return &r.model.vocabulary; };
inline constexpr WholeField kPrediction = [](LaunchRun& r) { return &r.model.multi_token_prediction; };
inline constexpr WholeField kTopK = [](LaunchRun& r) { return r.model.moe ? &r.model.moe->top_k : nullptr; };
inline constexpr WholeField kRoutingGroups = [](LaunchRun& r) { return r.model.moe ? &r.model.moe->routing_groups : nullptr; };
inline constexpr WholeField kGroupLimit = [](LaunchRun& r) { return r.model.moe ? &r.model.moe->group_limit : nullptr; };
inline constexpr WholeField kSequenceLength = [](LaunchRun& r) { return &r.training.sequence_length; };
inline constexpr WholeField kMicroBatch = [](LaunchRun& r) { return &r.parallelism.micro_batch; };
inline constexpr WholeField kTensor = [](LaunchRun& r) { return &r.parallelism.tensor; };
inline constexpr WholeField kPipeline = [](LaunchRun& r) { return &r.parallelism.pipeline; };
inline constexpr WholeField kVirtualStages = [](LaunchRun& r) { return &r.parallelism.virtual_stages; };
inline constexpr WholeField kContext = [](LaunchRun& r) { return &r.parallelism.context; };
inline constexpr WholeField kExpert = [](LaunchRun& r) { return &r.parallelism.expert; };

inline constexpr auto kTiedEmbeddings = [](LaunchRun& r) { return &r.model.tied_embeddings; };
inline constexpr auto kBiases = [](LaunchRun& r) { return &r.model.biases; };
inline constexpr auto kQueryKeyNorm = [](LaunchRun& r) { return &r.model.query_key_norm; };
inline constexpr auto kPadded = [](LaunchRun& r) -> bool* { return r.model.moe ? &r.model.moe->padded : nullptr; };
inline constexpr auto kSequence = [](LaunchRun& r) { return &r.parallelism.sequence; };
inline constexpr auto kTensorOverlap = [](LaunchRun& r) { return &r.training.framework.tensor_overlap; };
inline constexpr auto kFusedPermute = [](LaunchRun& r) { return &r.training.framework.fused_permute; };

inline constexpr auto kHasExperts = [](const LaunchRun& r) { return r.model.moe.has_value(); };
inline constexpr auto kHasTensorRanks = [](const LaunchRun& r) { return r.parallelism.tensor > 1; };
inline constexpr auto kHasPrediction = [](const LaunchRun& r) { return r.model.multi_token_prediction > 0; };
// clang-format on

}  // namespace headway::import

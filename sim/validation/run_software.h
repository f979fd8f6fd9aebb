// What is known of a published run's software: the profile of its era and the flags its source
// states.
#pragma once

#include <optional>
#include <string>

#include "sim/gpu/spec.h"
#include "sim/validation/run_parts.h"

namespace headway::validation {

/// Name of the framework profile that stands for a row's era; where the era is blank or not known,
/// that of the nearest family and year, and `era` is assumed.
/// @param rack  its GPUs share NVLink beyond a node
std::string framework_entry(const RunRow& row, bool rack, Assumed& assumed);

/// A row whose software has a name that no list knows is read as eager PyTorch, and a second time
/// as this row, of plain Megatron-LM; nothing where its software is known, or has no name.
std::optional<RunRow> read_as_megatron(const RunRow& row, bool rack);

/// Whether the software that a row names is another than the profile that it is predicted with,
/// which its status tells: predictions and comparisons then have the row's name for it.
bool stands_in(const RunRow& row, const Assumed& assumed);

/// Tokens an expert takes at most / mean, as the row's words on routing state it ("capacity factor
/// 1.0"); 0: they do not.
double stated_capacity(const RunRow& row);

/// Flags that the row states in place of the profile's: overlaps, graphs, compilation, exchange of
/// experts. Experts that are filled up to a capacity get their tokens by plain all-to-all, the only
/// dispatcher that drops. Source: Megatron-Bridge, apply_moe_token_drop, 2025.
/// @param stand_in  whether the profile stands in for other software
void apply_flags(const RunRow& row, bool stand_in, workload::FrameworkSpec& framework);

/// Whether the release of a row's software has no fused attention for it: latent attention with
/// heads wider than 128 on Blackwell before Transformer Engine 2.5 and cuDNN 9.11 (June 2025, in
/// releases from 25.07).
/// Source: NVIDIA/TransformerEngine, v2.3 and v2.5, common/fused_attn/fused_attn.cpp (heads of 192
/// and 128, sm_arch_ >= 100) and pytorch/attention/dot_product_attention/utils.py
/// ("Disabling FlashAttention as it does not support MLA").
bool scores_in_memory(const RunRow& row,
                      const workload::ModelSpec& model,
                      gpu::Architecture architecture);

/// Whether a mixture's tokens travel by plain all-to-all whatever its profile says: on Blackwell
/// before the recipes of 25.11 had HybridEP, as DeepEP ran on Ampere and Hopper alone.
/// Source: NVIDIA-NeMo/Megatron-Bridge, v0.1.0rc4, src/megatron/bridge/training/deepep.py,
/// validate_deepep; v0.2.0, scripts/performance/configs: moe_flex_dispatcher_backend.
bool exchanges_plainly(const RunRow& row, gpu::Architecture architecture);

/// Whether the recipe of a row's release fuses permutation where its profile does not: NeMo's of
/// DeepSeek from Transformer Engine 2.1 on (in releases from 25.03).
/// Source: NVIDIA/NeMo, nemo/collections/llm/gpt/model/deepseek.py, moe_permute_fusion, 2025.
bool fuses_permutation(const RunRow& row, const workload::ModelSpec& model);

/// Whether recomputation by operators makes attention again: scaled_dot_product_attention is
/// cuDNN's on Blackwell, and what that returns was not among what torchtitan keeps before December
/// 2025. Source: pytorch/torchtitan, pull request 2095 (_op_sac_save_list).
bool remakes_attention(const RunRow& row, const training::Scenario& scenario);

/// Which memory a row's peak is: as its notes name it, else what the software's logs print.
workload::ReportedMemory reported_memory(const RunRow& row,
                                         const workload::FrameworkSpec& framework);

}  // namespace headway::validation

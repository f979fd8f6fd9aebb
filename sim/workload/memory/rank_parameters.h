// Parameters one rank holds, by chunk, and the buckets in which their gradients are reduced.
#pragma once

#include <vector>

#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/spec.h"
#include "sim/workload/vision/encoder_parts.h"

namespace headway::workload {

/// Parameters of one rank [count]: those that all data x context ranks hold too, and those of its
/// own routed experts, which fewer ranks share.
struct RankParameters {
  double shared = 0;
  double experts = 0;
  [[nodiscard]] double total() const { return shared + experts; }
  RankParameters& operator+=(const RankParameters& other) {
    shared += other.shared;
    experts += other.experts;
    return *this;
  }
  friend RankParameters operator*(double times, const RankParameters& one) {
    return {times * one.shared, times * one.experts};
  }
  bool operator==(const RankParameters&) const = default;
};

/// Parameters of one decoder layer on one rank: matrices split over the tensor group, norms, row
/// biases and the router whole, routed experts over expert x expert tensor ranks.
RankParameters layer_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const LayerKind& kind = {});
/// Those of them that every tensor rank holds whole, so that with sequence parallelism their
/// gradients are summed over the group: norms, row biases, the router, matrices that compress.
double replicated_parameters(const ModelSpec& model, const LayerKind& kind);
/// Token table (split) and learned positions (whole).
double embedding_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism);
/// Final norm and output matrix; the latter is not counted again where it is the embedding of the
/// same rank.
double head_parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism);
/// Multi-token prediction modules, beside the head: a layer, the joining matrix, three norms each,
/// and a copy of the token table where the embedding is on another stage.
RankParameters prediction_parameters_per_rank(const ModelSpec& model,
                                              const ParallelismSpec& parallelism);
/// All parameters of a chunk on one rank.
RankParameters chunk_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const ChunkLayout& chunk);
/// All parameters of a stage on one rank.
RankParameters stage_parameters_per_rank(const ModelSpec& model,
                                         const ParallelismSpec& parallelism,
                                         const StageLayout& layout,
                                         int stage);

/// Gradients that are reduced together: head with prediction modules, embedding, some layers in a
/// row, or some parts of an encoder.
struct Bucket {
  LayerRuns runs;                   ///< its layers, in the order of the model
  std::vector<EncoderRun> encoder;  ///< its parts of an encoder, in the order of the forward
  bool head = false;
  bool embedding = false;
  RankParameters parameters;  ///< all, as HeldParameters::stored
  RankParameters trained;
  [[nodiscard]] int layers() const;
  bool operator==(const Bucket&) const = default;
};

/// Whether each data-parallel rank keeps only its share of the gradients (ZeRO-2, ZeRO-3, HSDP).
bool shards_gradients(Sharding sharding);
/// Whether each keeps only its share of the weights (ZeRO-3, HSDP).
bool shards_weights(Sharding sharding);

/// Whether sharded weights are gathered once a step and gradients reduced once: in a pipeline,
/// where the software does so.
bool gathers_once(const FrameworkSpec& framework, const ParallelismSpec& parallelism);
/// Whether gradients are reduced beside backward, a bucket once it is whole.
bool reduces_beside_backward(const FrameworkSpec& framework, const ParallelismSpec& parallelism);
/// Whether gradients are reduced after every micro-batch, not after the last alone.
bool reduces_every_micro_batch(const FrameworkSpec& framework, const ParallelismSpec& parallelism);

/// Buckets of a chunk in the order in which backward fills them: head, last layers, ..., first
/// layers, embedding. A bucket holds at least `gradient_bucket` or, where the software states none,
/// max(40e6, 1e6 x data_parallel) parameters, if the chunk has them. Source: Megatron-Core
/// DistributedDataParallelConfig, default bucket size. With ZeRO-3 and HSDP every layer is a
/// bucket. Parameters that are trained count; layers without any are apart from those with some.
std::vector<Bucket> chunk_buckets(const ModelSpec& model,
                                  const TrainingSpec& training,
                                  const ParallelismSpec& parallelism,
                                  const ChunkLayout& chunk,
                                  int data_parallel);

/// Ranks that hold the same parameters: shared ones data x context, experts fewer; twice as many of
/// both where the schedule is bidirectional, because the mirrored stage holds them too.
struct DataRanks {
  int shared = 1;
  int experts = 1;
  int shards = 1;  ///< ranks that divide the shared ones: all of them, or an hsdp shard group
  int expert_shards = 1;  ///< ranks that divide the experts: the same
  /// Whether any parameters are held by several ranks.
  [[nodiscard]] bool several() const { return shared > 1 || experts > 1; }
  /// What one rank has of parameters whose states are divided.
  [[nodiscard]] double shard_of(const RankParameters& all) const {
    return all.shared / shards + all.experts / expert_shards;
  }
};

DataRanks data_ranks(const ParallelismSpec& parallelism, int data_parallel);

/// tensor x context x data ranks of a stage / (expert x expert tensor), times the copies of a
/// layer: ranks with the same experts.
int expert_data_ranks(const ParallelismSpec& parallelism, int data_parallel);

/// tensor x shard group / (expert x expert tensor): ranks that divide the experts of one copy with
/// hsdp. Source: torchtitan's mesh `efsdp`; Megatron-Core's partial expert data-parallel group with
/// several optimizer instances is the same.
int expert_shard_ranks(const ParallelismSpec& parallelism);

}  // namespace headway::workload

// Blocks that reduce gradients, update weights and gather them again.
#pragma once

#include <span>
#include <vector>

#include "sim/workload/blocks/block_input.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Ticket of all gradient reductions of a stage; parameter gathers have the tickets after it.
inline constexpr int kGradientTicket = 0;
inline constexpr int kFirstParameterTicket = 1;

/// Ranks that hold the same parameters: shared ones data x context, experts fewer; twice as many of
/// both where the schedule is bidirectional, because the mirrored stage holds them too.
struct DataRanks {
  int shared = 1;
  int experts = 1;
  int shards = 1;  ///< ranks that divide the shared ones: all of them, or an hsdp shard group
  int expert_shards = 1;  ///< ranks that divide the experts: the same
  /// Whether any parameters are held by several ranks.
  [[nodiscard]] bool several() const { return shared > 1 || experts > 1; }
};

DataRanks data_ranks(const ParallelismSpec& parallelism, int data_parallel);

/// tensor x context x data ranks of a stage / (expert x expert tensor), times the copies of a
/// layer: ranks with the same experts.
int expert_data_ranks(const ParallelismSpec& parallelism, int data_parallel);

/// tensor x shard group / (expert x expert tensor): ranks that divide the experts of one copy with
/// hsdp. Source: torchtitan's mesh `efsdp`; Megatron-Core's partial expert data-parallel group with
/// several optimizer instances is the same.
int expert_shard_ranks(const ParallelismSpec& parallelism);

/// What the optimizer of one stage works on.
struct OptimizerInput {
  RankParameters parameters;  ///< of one rank of the stage
  double replicated = 0;      ///< of the stage's layers, held whole by each tensor rank
  bool embedding = false;     ///< holds a copy of tied embeddings that another stage holds too
  DataRanks ranks;
  std::vector<OwnedMatrices> matrices;  ///< Muon: those that the busiest rank updates
  double matrix_share = 0;              ///< Muon: of the parameters, those in matrices
};

/// Reduces one bucket: beside what follows with `data_overlap`, else before it.
Block reduce_bucket(const BlockInput& input, const RankParameters& parameters);
/// Gathers one bucket of sharded weights under the first parameter ticket; beside what follows with
/// `data_overlap`.
Block gather_weights(const BlockInput& input, const Bucket& bucket);
/// Waits for the gather of bucket `index` and starts those of the buckets from `next` on, of these
/// parameters.
Block await_parameters(const BlockInput& input,
                       int index,
                       int next,
                       std::span<const RankParameters> next_parameters);
/// Starts the gathers of a stage's first buckets.
Block start_parameters(const BlockInput& input, std::span<const RankParameters> parameters);

/// End of the step: reductions, gradient norm, optimizer, gather of parameters, fixed overhead.
Block finish_step(const BlockInput& input, const OptimizerInput& optimizer);

}  // namespace headway::workload

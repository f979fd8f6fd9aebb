// Blocks that reduce gradients, update weights and gather them again.
#pragma once

#include <span>
#include <vector>

#include "sim/core/kernel.h"
#include "sim/workload/blocks/block_input.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/owned_matrices.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Ticket of all gradient reductions of a stage; parameter gathers have the tickets after it.
inline constexpr int kGradientTicket = 0;
inline constexpr int kFirstParameterTicket = 1;

/// What the optimizer of one stage works on.
struct OptimizerInput {
  RankParameters parameters;  ///< of one rank of the stage, those that are trained
  RankParameters gathered;    ///< bytes of these as their ranks send them (`gathered_bytes`)
  double replicated = 0;      ///< of the stage's layers, held whole by each tensor rank
  bool embedding = false;     ///< holds a copy of tied embeddings that another stage holds too
  DataRanks ranks;
  std::vector<core::Kernel> products;     ///< of the blocks that the busiest rank preconditions
  std::vector<OwnedMatrices> orthogonal;  ///< Muon: what the busiest rank updates whole
  double matrix_share = 0;                ///< Muon: of the parameters, those in matrices
  /// Weights of the rank that every data rank updates a piece of; counted where pieces cost time.
  std::int64_t weights = 0;
};

/// Reduces one bucket: beside what follows with `data_overlap`, else before it.
Block reduce_bucket(const BlockInput& input, const Bucket& bucket);
/// Gathers one bucket of sharded weights under the first parameter ticket; beside what follows with
/// `data_overlap`.
Block gather_weights(const BlockInput& input, const Bucket& bucket);
/// Bytes of trained weights that each rank updated a share of, as the shares are sent: those of
/// layers in fp8 where nothing else is held of them (AllocationSpec::narrow_weights). mxfp8 is cast
/// after the gather: its blocks of 32 do not end where shares do.
/// Source: NVIDIA/Megatron-LM, megatron/core/distributed/distributed_data_parallel_config.py
/// (fp8_param_gather; reuse_grad_buf_for_mxfp8_param_ag).
/// @param trained  of all these layers and what stands beside them
RankParameters gathered_bytes(const BlockInput& input,
                              const RankParameters& trained,
                              const LayerRuns& runs);
/// Waits for the gather of bucket `index` and starts those of the buckets from `next` on, of so
/// many bytes.
Block await_parameters(const BlockInput& input,
                       int index,
                       int next,
                       std::span<const RankParameters> next_bytes);
/// Starts the gathers of a stage's first buckets.
Block start_parameters(const BlockInput& input, std::span<const RankParameters> bytes);

/// End of the step: reductions, gradient norm, optimizer, gather of parameters, fixed overhead.
Block finish_step(const BlockInput& input, const OptimizerInput& optimizer);

}  // namespace headway::workload

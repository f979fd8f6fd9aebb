// Blocks that reduce gradients, update weights and gather them again.
#pragma once

#include <vector>

#include "sim/workload/layer_blocks.h"
#include "sim/workload/layout.h"
#include "sim/workload/rank_parameters.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Ticket of all gradient reductions of a stage; parameter gathers have the tickets after it.
inline constexpr int kGradientTicket = 0;
inline constexpr int kFirstParameterTicket = 1;

/// What the optimizer of one stage works on.
struct OptimizerInput {
  double parameters = 0;   ///< of one rank of the stage
  int layers = 0;          ///< decoder layers of the stage
  bool embedding = false;  ///< holds a copy of tied embeddings that another stage holds too
  int data_parallel = 1;   ///< ranks with the same weights: data x context
};

/// Reduces one bucket: beside what follows with `data_overlap`, else before it.
Block reduce_bucket(const BlockInput& input, double parameters);
/// Gathers one bucket of sharded weights under the first parameter ticket; beside what follows with
/// `data_overlap`.
Block gather_weights(const BlockInput& input, double parameters);
/// Waits for the gather of bucket `index` and starts that of the next, of `next_parameters`; none
/// if 0.
Block await_parameters(int index, double next_parameters);
/// Starts the gather of a stage's first bucket.
Block start_parameters(double parameters);

/// End of the step: reductions, gradient norm, optimizer, gather of parameters, fixed overhead.
Block finish_step(const BlockInput& input, const OptimizerInput& optimizer);

}  // namespace headway::workload

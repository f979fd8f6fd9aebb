// From model, recipe and parallelism to the step graph: every kernel, collective and message of one
// step.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"

namespace headway::workload {

/// What these specs ask for that the step graph cannot express yet, one sentence each; empty if
/// nothing.
std::vector<std::string> unsupported(const ModelSpec& model,
                                     const TrainingSpec& training,
                                     const ParallelismSpec& parallelism);

/// What does not divide over the context ranks, or cannot be divided; one sentence each.
std::vector<std::string> context_problems(const ModelSpec& model,
                                          const TrainingSpec& training,
                                          const ParallelismSpec& parallelism);

/// Every rule that the specs break together: `unsupported`, `context_problems`, the layout's, the
/// schedule's, and that heads, MLP and vocabulary divide over the tensor group; one sentence each.
std::vector<std::string> violations(const ModelSpec& model,
                                    const TrainingSpec& training,
                                    const ParallelismSpec& parallelism,
                                    int micro_batches);

/// One training step of all stages.
/// @param data_parallel  replicas of the model
/// @param micro_batches  micro-batches each replica runs in the step
/// @throws core::Error with every sentence of `violations`
StepGraph build_step_graph(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int data_parallel,
                           int micro_batches);

/// Parameters one rank of `stage` holds [count]; sharding over data-parallel ranks not applied.
double parameters_per_rank(const ModelSpec& model, const ParallelismSpec& parallelism, int stage);

}  // namespace headway::workload

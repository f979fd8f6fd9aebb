// From model, recipe and parallelism to the step graph: every kernel, collective and message of one
// step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"
#include "sim/workload/violation.h"

namespace headway::workload {

/// What these specs ask for that the step graph cannot express yet, one sentence each; empty if
/// nothing.
Violations unsupported(const ModelSpec& model,
                       const TrainingSpec& training,
                       const ParallelismSpec& parallelism);

/// What does not divide over the context ranks, or cannot be divided; one sentence each.
Violations context_problems(const ModelSpec& model,
                            const TrainingSpec& training,
                            const ParallelismSpec& parallelism);

/// What experts, their places and the rest of the layout do not agree on; one sentence each.
/// @param data_parallel  replicas of the model; 0: not known yet
Violations expert_problems(const ModelSpec& model,
                           const ParallelismSpec& parallelism,
                           int data_parallel);

/// Why the hsdp shard groups do not divide the ranks with the same weights, or do not hold whole
/// groups of expert ranks; nothing if they do.
/// @param data_parallel  replicas of the model; 0: not known yet
std::optional<Violation> shard_problem(const ParallelismSpec& parallelism, int data_parallel);

/// Every rule that the specs break together: `unsupported`, `context_problems`, `expert_problems`,
/// the layout's, the schedule's, and that heads, MLP and vocabulary divide over the tensor group;
/// one sentence each.
Violations violations(const ModelSpec& model,
                      const TrainingSpec& training,
                      const ParallelismSpec& parallelism,
                      int data_parallel,
                      int micro_batches);

/// What of a step is written down.
enum class GraphDetail : std::uint8_t {
  whole,
  passes,   ///< without the traffic of replicas, and the step's end is empty
  traffic,  ///< only the traffic of replicas: the blocks of layers, embedding, head and of the
            ///< step's end are empty, and stages send nothing
};

/// One training step of all stages.
/// @param data_parallel  replicas of the model
/// @param micro_batches  micro-batches each replica runs in the step
/// @param expert_domains  NVLink domains an expert group lies in, with equally many ranks in each;
/// 1
///                        if the groups are inside one or lie unevenly
/// @throws core::Error with every sentence of `violations`
StepGraph build_step_graph(const ModelSpec& model,
                           const TrainingSpec& training,
                           const ParallelismSpec& parallelism,
                           int data_parallel,
                           int micro_batches,
                           int expert_domains = 1,
                           GraphDetail detail = GraphDetail::whole);

}  // namespace headway::workload

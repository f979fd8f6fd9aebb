// A small step graph with its blocks timed, off which the costs of layouts are read.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/analytic/blocks.h"
#include "sim/workload/spec.h"
#include "sim/workload/step_graph.h"

namespace headway::analytic {

/// What a block is for. Traffic is that of data parallelism: gradients that are reduced, parameters
/// that are gathered, and the waits for them.
enum class BlockRole : std::uint8_t { compute, message, traffic };

/// Whether a call is made by a pass.
/// @param micro_batch  -1: outside the pipeline
inline bool of_pass(const workload::Call& call, workload::CallKind kind, int micro_batch) {
  return call.kind == kind && call.micro_batch == micro_batch;
}

/// A graph, its blocks timed, and how to find the calls of a pass.
struct Probe {
  workload::StepGraph graph;
  std::vector<BlockRole> roles;    ///< of the graph's blocks
  std::vector<TimedBlock> blocks;  ///< as the graph's; empty where they were not asked for

  [[nodiscard]] BlockRole role(const workload::Call& call) const {
    return roles[static_cast<std::size_t>(call.block)];
  }
  [[nodiscard]] const workload::Block& block(const workload::Call& call) const {
    return graph.blocks[static_cast<std::size_t>(call.block)];
  }
  /// Whether it reduces gradients, beside what follows or before it.
  [[nodiscard]] bool launches_reduction(const workload::Call& call) const;
  /// One run of the called block by itself [s].
  [[nodiscard]] double seconds(const workload::Call& call) const;
  [[nodiscard]] const std::vector<workload::Call>& stage_calls(int stage) const {
    return graph.stages[static_cast<std::size_t>(stage)].calls;
  }
  /// Those of a pass.
  [[nodiscard]] std::vector<workload::Call> calls(int stage,
                                                  workload::CallKind kind,
                                                  int micro_batch) const;
  /// The same without messages and traffic, a teacher's forward and an encoder.
  [[nodiscard]] std::vector<workload::Call> compute_calls(int stage,
                                                          workload::CallKind kind,
                                                          int micro_batch) const;
  /// An encoder alone.
  [[nodiscard]] std::vector<workload::Call> encoder_calls(int stage,
                                                          workload::CallKind kind,
                                                          int micro_batch) const;
  /// A teacher's forward alone.
  [[nodiscard]] std::vector<workload::Call> teacher_calls(int stage, int micro_batch) const;
};

/// Which blocks of a probe are written and timed.
enum class ProbedBlocks : std::uint8_t { compute_and_messages, traffic };

/// @param probe   the small layout whose graph is built
/// @param groups  the layout whose groups communicate
/// @throws core::Error if `probe` does not keep the rules of the step graph
Probe make_probe(const workload::ModelSpec& model,
                 const workload::TrainingSpec& training,
                 const workload::ParallelismSpec& probe,
                 const workload::ParallelismSpec& groups,
                 int data_parallel,
                 int micro_batches,
                 BlockTimer& timer,
                 ProbedBlocks wanted);

/// Runs of these calls.
int repeats(const std::vector<workload::Call>& calls);

/// Sum of the runs `begin` .. `end` of a list of calls with repeats.
double seconds_between(const Probe& probe,
                       const std::vector<workload::Call>& calls,
                       int begin,
                       int end);

/// Appends the runs begin .. end to a table of sums.
/// @param layers  each run stands for
void append_layers(const Probe& probe,
                   const std::vector<workload::Call>& calls,
                   int begin,
                   int end,
                   int layers,
                   std::vector<double>& table);

/// Layers that differ from each other need the whole model.
bool layers_alike(const workload::ModelSpec& model);

}  // namespace headway::analytic

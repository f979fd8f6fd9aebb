// What the analytic tier remembers: costs that layouts share, each worked out when it is first
// asked for.
#pragma once

#include <unordered_map>

#include "sim/analytic/blocks.h"
#include "sim/analytic/costs.h"
#include "sim/analytic/layout_key.h"
#include "sim/training/scenario.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::analytic {

/// Costs on one machine. What it returns is there until `bound` is called; joined costs and kinds
/// of chunks until they are asked for again.
class KnownCosts {
 public:
  /// @param scenario  outlives this
  explicit KnownCosts(const training::Scenario& scenario) : scenario_(scenario), timer_(scenario) {}

  [[nodiscard]] BlockTimer& timer() { return timer_; }

  /// Forgets all of a kind of which there is much.
  void bound();

  /// @param splits  the schedule runs the halves of backward apart
  const RankCosts& rank(const workload::ParallelismSpec& layout, int data_parallel, bool splits);
  const DataCosts& data(const workload::ParallelismSpec& layout, int data_parallel);
  /// Only where some layers recompute do chunks of a class differ.
  /// @param data  of the layout
  const ChunkKinds& kinds(const workload::ParallelismSpec& layout, const DataCosts& data);
  const StepEnds& ends(const workload::ParallelismSpec& layout, int data_parallel);
  /// @throws core::Error if the schedule does not exist for these numbers
  const workload::PipelineOrder& order(workload::ScheduleKind schedule,
                                       const workload::ParallelismSpec& layout,
                                       int micro_batches);

 private:
  const RankCosts& alike_rank(const workload::ParallelismSpec& layout,
                              int data_parallel,
                              bool splits);

  const training::Scenario& scenario_;
  BlockTimer timer_;
  // Looked up only, never iterated.
  std::unordered_map<LayoutKey, RankCosts, KeyHash> ranks_;
  std::unordered_map<LayoutKey, DataCosts, KeyHash> data_;
  std::unordered_map<LayoutKey, StepEnds, KeyHash> ends_;
  std::unordered_map<OrderKey, workload::PipelineOrder, KeyHash> orders_;
  // Of the layout at hand.
  RankCosts joined_;
  ChunkKinds kinds_;
};

}  // namespace headway::analytic

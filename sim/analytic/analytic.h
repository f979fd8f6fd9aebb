// The analytic tier: step time of a layout without events, fast enough to look at every layout
// there is.
//
// The blocks of the step graph are timed once for what they depend on (tensor and context degree,
// micro-batch, recompute ...), each transfer alone on the fabric; the schedule of the pipeline is a
// recurrence over its passes (workload/schedule/pipeline_time.h). What it leaves out: transfers of
// different groups that share links, and differences between the ranks of a stage. Where nodes are
// of several kinds, each has times of its own, and replicas are as slow as the slowest.
// docs/models/workload.md, part "analytic tier".
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::analytic {

/// A step as the analytic tier sees it; the parts add up to `time`.
struct AnalyticStep {
  core::Seconds time;
  core::Seconds pipeline;   ///< the first forward to the last backward, of any stage
  core::Seconds reduction;  ///< gradient reductions that the last backward does not hide
  core::Seconds imbalance;  ///< waits for the data rank with the most work
  core::Seconds update;     ///< norm of the gradients, optimizer, gathers after it, fixed overhead
};

/// What a micro-batch takes on a rank, forward and backward, on one kind of GPU.
struct LayerTimes {
  core::Seconds layer;  ///< mean over the model's
  core::Seconds embedding, head;
};

/// A layout to be timed.
struct LayoutAsked {
  const workload::ParallelismSpec* layout = nullptr;
  int data_parallel = 1, micro_batches = 1;
};

struct LayoutTimes;

/// Evaluates layouts of one machine, model and recipe. Remembers what layouts share, so that it is
/// faster the more layouts it sees; not for several threads at a time.
class AnalyticTier {
 public:
  /// Everything but `parallelism` is taken from `scenario`.
  explicit AnalyticTier(const training::Scenario& scenario);
  ~AnalyticTier();
  AnalyticTier(const AnalyticTier&) = delete;
  AnalyticTier& operator=(const AnalyticTier&) = delete;

  /// @param layout  a layout that keeps the rules of `check` on this machine
  /// @throws core::Error if it does not keep the rules of the step graph
  AnalyticStep evaluate(const workload::ParallelismSpec& layout,
                        int data_parallel,
                        int micro_batches);
  /// The same of several layouts, with the same bits and faster: those next to each other that
  /// have the same schedule, stages, chunks and micro-batches are evaluated together.
  /// @param steps  out: as many as are asked for
  void evaluate(std::span<const LayoutAsked> asked, std::span<AnalyticStep> steps);
  /// A time that `evaluate` does not undercut whatever is sharded, offloaded by the optimizer or
  /// gathered: passes and messages alone, data-parallel traffic being free.
  core::Seconds least(const workload::ParallelismSpec& layout,
                      int data_parallel,
                      int micro_batches);
  /// `evaluate` of a layout that was checked; its machine, model and recipe must be the tier's.
  AnalyticStep evaluate(const training::CheckedScenario& checked);

  /// Of every kind of GPU, with the groups and cuts of `layout`, whatever its stages.
  std::vector<LayerTimes> layer_times(const workload::ParallelismSpec& layout, int data_parallel);

 private:
  class Evaluator;
  Evaluator& on_domains_of(int gpus);
  /// Where nodes are of several kinds: times of replicas that differ in who runs which stage.
  /// @param whole  with reductions and ends, not passes and messages alone
  std::vector<LayoutTimes> replicas(const workload::ParallelismSpec& layout,
                                    int data_parallel,
                                    bool whole);
  AnalyticStep evaluate_kinds(const workload::ParallelismSpec& layout,
                              int data_parallel,
                              int micro_batches);
  core::Seconds least_of_kinds(const workload::ParallelismSpec& layout,
                               int data_parallel,
                               int micro_batches);

  training::ClusterSpec cluster_;
  std::unique_ptr<Evaluator> evaluator_;  ///< of the first kind of node
  std::vector<std::unique_ptr<Evaluator>> other_kinds_;
  /// For layouts that fill another part of each NVLink domain (`filled_domain`), by its GPUs.
  std::map<int, std::unique_ptr<Evaluator>> others_;
};

}  // namespace headway::analytic

// Trials of one campaign, some at a time: what processes that share a campaign simulate.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/step_times.h"
#include "sim/campaign/trial.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::campaign {

/// Trials that were simulated before, and how much longer steps take in the states that they met.
struct KnownTrials {
  std::vector<TrialResult> trials;  ///< from number 0 on
  std::vector<StepAnswer> answers;
};

/// Simulates trials by their numbers. One campaign in one process and in many has the same bits:
/// a trial depends on nothing but its number.
class TrialSource {
 public:
  /// @param checked  must have run.until; referenced
  /// @param step     the healthy step; referenced
  TrialSource(const training::CheckedScenario& checked, const training::StepResult& step);

  /// Trials first .. first + count - 1, with the answers of all states that they meet. What was
  /// simulated for others is not simulated again, and changes nothing.
  /// @throws core::Infeasible if the run would hardly end
  KnownTrials run(std::size_t first, std::size_t count, int threads, const Progress& progress = {});

 private:
  double remembered(const ClusterState& state);

  const training::CheckedScenario& checked_;
  StepSource source_;
  ResolvedJob resolved_;
  Slowness slowness_;
  std::mutex mutex_;  // of the map; simulations run outside it
  std::map<ClusterState, double> known_;
};

}  // namespace headway::campaign

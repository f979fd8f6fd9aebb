// The search for a parallelism plan: enumerate, drop what does not fit, simulate the rest, rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/campaign/campaign.h"
#include "sim/plan/candidates.h"
#include "sim/training/step_result.h"

namespace headway::plan {

struct PlanOptions {
  std::size_t keep = 10;  ///< plans returned
  int threads = 0;        ///< 0: all cores; the result does not depend on it
  bool fold = true;
  std::function<void(std::size_t done, std::size_t total)>
      progress;  ///< called from several threads; may be empty
};

/// One plan that fits.
struct Plan {
  workload::ParallelismSpec layout;  ///< with `data` resolved
  int micro_batches = 1;
  training::StepResult step;
  std::optional<campaign::CampaignOutcome> campaign;  ///< where the scenario has run.until
};

struct PlanResult {
  std::vector<Plan> plans;  ///< fastest step first; equal times in the order of enumeration
  std::vector<Rejection> rejected;
  std::int64_t enumerated = 0;  ///< layouts looked at
  std::int64_t simulated = 0;   ///< of these, layouts whose step was simulated
};

/// The `keep` fastest plans. A layout whose `step_bound` is above the time of the last of them is
/// not simulated; it could not be among them. Where a layout does not fit, recompute is raised from
/// the scenario's level to selective and full until it does.
/// @throws core::Error if the scenario itself breaks a rule that no layout mends
PlanResult search(const training::Scenario& scenario, const PlanOptions& options = {});

}  // namespace headway::plan

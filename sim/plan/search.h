// The search for a parallelism plan: enumerate, drop what does not fit, simulate the rest, rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/campaign/campaign.h"
#include "sim/core/fields.h"
#include "sim/plan/candidates.h"
#include "sim/plan/searched.h"
#include "sim/training/step/step_result.h"

namespace headway::plan {

/// What makes one plan better than another.
enum class Objective { step, days, dollars, goodput };
constexpr auto enum_words(Objective) {
  using E = core::EnumWord<Objective>;
  return std::array{E{Objective::step, "step"}, E{Objective::days, "days"},
                    E{Objective::dollars, "dollars"}, E{Objective::goodput, "goodput"}};
}

/// What a plan must not exceed; absent: no limit.
struct Limits {
  std::optional<core::Seconds> deadline;  ///< of the run's wall clock, median
  std::optional<core::Dollars> budget;    ///< of the run, median
  std::optional<std::int64_t> gpus;
};

struct PlanOptions {
  std::size_t keep = 10;  ///< plans returned; members of the Pareto front come on top
  int threads = 0;        ///< 0: all cores; the result does not depend on it
  bool fold = true;
  Objective objective = Objective::step;
  Limits limits;
  std::vector<int> nodes;   ///< cluster sizes to look at; empty: the scenario's
  core::SourceMarks marks;  ///< where the scenario's values were written; may be empty
  std::function<void(std::size_t done, std::size_t total)>
      progress;  ///< called from several threads; may be empty
};

/// One plan that fits.
struct Plan {
  int nodes = 1;
  workload::ParallelismSpec layout;  ///< with `data` resolved
  int micro_batches = 1;
  core::Seconds
      estimate;  ///< of the step, by the analytic tier; zero where it does not know the schedule
  training::StepResult step;
  std::optional<campaign::CampaignOutcome> campaign;  ///< where the scenario has run.until
  bool pareto = false;                                ///< no other plan is both faster and cheaper
};

struct PlanResult {
  std::vector<Plan>
      plans;  ///< best first; equals in the order of cluster sizes, then of enumeration
  std::vector<Rejection> rejected;
  std::int64_t enumerated = 0;  ///< layouts looked at
  std::int64_t simulated = 0;   ///< of these, layouts whose step was simulated
  Searched searched;            ///< what was varied, and what was held
};

/// The `keep` best plans and the Pareto front of time and money. Of each cluster size the layouts
/// are ranked by the analytic tier and simulated event by event, best first, until the tier's time,
/// less the most by which it overestimates layouts of their kind, is above that of the last plan
/// kept: such a layout could not be among them. Each layout takes
/// the least recompute with which it fits, whatever the scenario's; where activations go to the
/// host all levels that fit are looked at. All plans of one cluster size have the same GPUs, so the
/// fastest steps are taken to give the shortest and cheapest runs; what the campaign says decides
/// among those.
/// @throws core::Error if the scenario itself breaks a rule that no layout mends, or lacks what the
/// objective or a limit asks for
PlanResult search(const training::Scenario& scenario, const PlanOptions& options = {});

}  // namespace headway::plan

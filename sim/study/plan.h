// What `headway plan` asks: the plans of a scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/plan/search.h"
#include "sim/study/run_report.h"

namespace headway::study {

/// A layout as a result shows it.
struct PlannedLayout {
  workload::ParallelismSpec spec;
  int micro_batches = 1;

  template <class V>
  void fields(V& v) const {
    v.figure("tensor", spec.tensor, "", "", core::at_least_one);
    v.figure("pipeline", spec.pipeline, "", "", core::at_least_one);
    v.figure("virtual", spec.virtual_stages, "", "", core::at_least_one);
    v.figure("context", spec.context, "", "", core::at_least_one);
    v.figure("expert", spec.expert, "", "", core::at_least_one);
    v.figure("data", spec.data.value.value_or(1), "", "", core::at_least_one);
    v.part("sharding", spec.sharding);
    v.figure("micro_batch", spec.micro_batch, "", "", core::at_least_one);
    v.figure("micro_batches", micro_batches, "", "", core::at_least_one);
    v.part("schedule", spec.schedule);
    v.part("recompute", spec.recompute);
    v.figure("first_stage_layers", spec.first_stage_layers, "", "", core::non_negative);
    v.figure("last_stage_layers", spec.last_stage_layers, "", "", core::non_negative);
  }
};

/// A plan as a result shows it: with the parts of a run.
struct PlannedRun {
  int nodes = 1;
  std::int64_t gpus = 1;
  bool pareto = false;
  std::optional<core::Seconds> estimate;
  PlannedLayout layout;
  training::StepResult step;
  std::optional<campaign::CampaignResult> campaign;
  std::optional<CostReport> cost;

  template <class V>
  void fields(V& v) const {
    v.figure("nodes", nodes, "", "nodes of the job, spares not counted", core::at_least_one);
    v.figure("gpus", gpus, "", "nodes x GPUs of a node", core::at_least_one);
    v.part("pareto", pareto,
           "no other simulated plan is both faster and cheaper (`*` in the column \"front\")");
    v.figure("estimated_step_s", estimate, "s",
             "step of the analytic tier, by which the layouts to simulate were chosen",
             core::positive);
    v.part("layout", layout, "degrees, schedule and recompute as in a scenario's `parallelism`");
    v.part("step", step, "on that layout");
    v.part("memory", step.memory, "on that layout");
    v.part("campaign", campaign, "null without `run.until`");
    v.part("cost", cost, "null without prices");
  }
};

struct PlanReport {
  std::string version;
  training::Scenario scenario;
  std::string digest;
  std::string price_source;
  plan::Objective objective = plan::Objective::step;
  plan::PlanResult result;
  Timing timing;

  /// ok, or infeasible where no plan is left.
  [[nodiscard]] Status status() const {
    return result.plans.empty() ? Status::infeasible : Status::ok;
  }
  /// Why no plan is left; empty where one is.
  [[nodiscard]] std::vector<std::string> reasons() const;
  [[nodiscard]] std::vector<PlannedRun> plans() const;

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("status", status(), "also the exit code: 0, 3");
    v.part("reasons", reasons(), "why the status is not ok");
    v.part("scenario", ScenarioLabel{scenario.name, digest, scenario.run.seed});
    v.part("objective", objective, "what makes one plan better than another");
    v.part("varied", result.searched.varied, "fields of the scenario that the search varied");
    v.part("held", result.searched.held,
           "fields that it held as the scenario has them; what is in neither list is held too");
    v.part("plans", plans(), "best first, members of the Pareto front on top of those asked for");
    v.part("rejected", result.rejected, "layouts left out, by reason");
    v.figure("enumerated", result.enumerated, "", "layouts looked at", core::non_negative);
    v.figure("simulated", result.simulated, "", "of these, layouts whose step was simulated",
             core::non_negative);
    v.part("timing", timing);
  }
};

/// Searches the plans of a scenario.
/// @param load_time  what reading the files took, for `timing`
/// @throws core::Error if the scenario breaks a rule that no layout mends
PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time);

}  // namespace headway::study

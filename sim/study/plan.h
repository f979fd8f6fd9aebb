// What `headway plan` asks: the plans of a scenario.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/plan/search.h"
#include "sim/study/points/machines.h"
#include "sim/study/run_report.h"
#include "sim/study/verdict/choice.h"
#include "sim/study/verdict/own_layout.h"
#include "sim/validation/compared/compared_runs.h"

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
    v.part("context_kind", spec.context_kind);
    v.figure("expert", spec.expert, "", "", core::at_least_one);
    v.figure("expert_tensor", spec.expert_tensor, "", "", core::at_least_one);
    v.figure("data", spec.data.value.value_or(1), "", "", core::at_least_one);
    v.part("sharding", spec.sharding);
    v.figure("shard_group_size", spec.shard_group_size, "", "", core::non_negative);
    v.part("reshard", spec.reshard);
    v.part("sequence", spec.sequence);
    v.figure("micro_batch", spec.micro_batch, "", "", core::at_least_one);
    v.figure("micro_batches", micro_batches, "", "", core::at_least_one);
    v.part("schedule", spec.schedule);
    v.part("recompute", spec.recompute);
    v.part("recompute_parts", spec.recompute_parts);
    v.figure("recompute_period", spec.recompute_period, "", "", core::at_least_one);
    v.figure("recompute_layers", spec.recompute_layers, "", "", core::at_least_one);
    v.part("chunk_recompute", spec.chunk_recompute,
           "layers of every chunk that recompute, from its first on; empty: as the period has it");
    v.part("offload", spec.offload);
    v.part("rank_order", spec.rank_order);
    v.figure("first_stage_layers", spec.first_stage_layers, "", "", core::non_negative);
    v.figure("last_stage_layers", spec.last_stage_layers, "", "", core::non_negative);
    v.part("chunk_layers", spec.chunk_layers,
           "of every chunk, in the order in which a micro-batch meets them; empty: even");
  }
};

/// A plan as a result shows it: with the parts of a run.
struct PlannedRun {
  std::optional<std::string> name;  ///< `plan_words`
  plan::Setting setting;
  std::string machine;  ///< empty where there is one
  std::int64_t gpus = 1;
  int spares = 0;
  core::Watts power;                 ///< of the cluster, boards at their limit
  std::optional<core::Watts> board;  ///< limit of boards where `cluster.power` may lower it
  bool pareto = false, outside = false;
  std::int64_t variants = 0;
  double behind = 0;
  std::optional<core::Seconds> estimate;
  PlannedLayout layout;
  training::StepResult step;
  std::optional<campaign::CampaignResult> campaign;
  std::optional<CostReport> cost;

  template <class V>
  void fields(V& v) const {
    v.on_request("name", name,
                 "what tells it from the others: machine, nodes and boards where they differ, and "
                 "its layout without the degrees that are one and the words that all share");
    v.part("machine", machine, "of several candidates, by its name; empty where there is one");
    v.figure("nodes", setting.nodes, "", "nodes of the job, spares not counted",
             core::at_least_one);
    v.figure("global_batch", setting.global_batch, "", "sequences of a step", core::at_least_one);
    v.figure("sequence_length", setting.sequence_length, "", "tokens of a sequence",
             core::at_least_one);
    v.part("precision", setting.precision, "of the matrix products");
    v.figure("gpus", gpus, "", "nodes x GPUs of a node", core::at_least_one);
    v.figure("spares", spares, "", "spare nodes beside them", core::non_negative);
    v.figure("power_w", power, "W",
             "of the cluster with every GPU at its limit, hosts and switches, times PUE",
             core::non_negative);
    v.figure("board_w", board, "W",
             "limit that boards of `cluster.node` run at; null without `cluster.power`",
             core::positive);
    v.part(
        "pareto", pareto,
        "no other simulated plan is as good in all objectives of the front and better in one (`*` "
        "beside its number)");
    v.part("outside_search", outside,
           "the scenario's own layout, which has a value that `search` does not list");
    v.figure("variants", variants, "",
             "further layouts with the same degrees that were simulated and are slower: other "
             "schedules, micro-batches, sharding, recompute; not listed but with --all",
             core::non_negative);
    v.figure("behind", behind, "",
             "by how much `objective` is worse than that of the first plan, relative; of `step` "
             "the time of a token",
             core::non_negative);
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

/// Any layout that was simulated, in brief: what a chart of days and dollars shows.
struct SimulatedPlan {
  std::optional<std::int64_t> plan;  ///< its place in `plans`, from 1
  std::string machine, layout;
  std::int64_t nodes = 1, gpus = 1;
  core::Seconds step;
  std::optional<double> days, usd;
  bool own_run = false, pareto = false;

  template <class V>
  void fields(V& v) const {
    v.figure("plan", plan, "", "its place in `plans`, from 1; null where it is not in that list",
             core::at_least_one);
    v.part("machine", machine, "of several candidates, by its name; empty where there is one");
    v.figure("nodes", nodes, "", "nodes of the job, spares not counted", core::at_least_one);
    v.figure("gpus", gpus, "", "nodes x GPUs of a node", core::at_least_one);
    v.part("layout", layout, "its degrees, schedule, sharding and recompute");
    v.figure("step_s", step, "s", "its step, simulated", core::positive);
    v.figure("days", days, "d", "median wall clock; null without `run.until`");
    v.figure("usd", usd, "USD", "median cost; null without prices");
    v.part(
        "own_run", own_run,
        "whether its run was simulated; else days and dollars are those of the fastest layout on "
        "the same GPUs in proportion to the step");
    v.part("pareto", pareto, "as in `plans`; no layout but these is judged");
  }
};

/// "180 nodes, tensor 2, pipeline 4, data 8": what tells a plan from others, and its layout without
/// the degrees that are one. Machine, nodes and boards are told where `plans` differ in them.
std::string plan_words(const PlannedRun& plan, const std::vector<PlannedRun>& plans);

struct PlanReport {
  std::string version;
  training::Scenario scenario;
  std::string digest;
  std::string price_source;
  std::string resolved;  ///< the scenario as YAML
  plan::Objective objective = plan::Objective::step;
  std::vector<plan::Objective> beside;
  plan::PlanResult result;
  /// Of the plans, each with the interval that `headway run` has of it; empty: as in `result`, that
  /// of the simulation alone.
  std::vector<training::StepResult> steps;
  std::vector<PlannedMachine> machines;  ///< candidates; empty where there is one
  std::optional<Choice> choice;          ///< where it was asked for and there are two plans
  std::optional<OwnLayout> own;          ///< of the one machine
  Timing timing;

  /// ok, or infeasible where no plan is left.
  [[nodiscard]] Status status() const {
    return result.plans.empty() ? Status::infeasible : Status::ok;
  }
  /// Why no plan is left; empty where one is.
  [[nodiscard]] std::vector<std::string> reasons() const;
  [[nodiscard]] std::vector<PlannedRun> plans() const;
  /// All layouts that were simulated and keep the limits.
  [[nodiscard]] std::vector<SimulatedPlan> simulated_plans() const;
  /// What the best plan rests on and no file says.
  [[nodiscard]] std::vector<training::Assumption> assumptions() const;
  /// Prices of one GPU that bill another, each once.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Whether the 90 % intervals of the first two plans, of a token's time, lie apart: by the error
  /// of the simulation alone, since plans of one software and machine share the rest. Nothing where
  /// that does not decide: with one plan, two machines, or another objective and other GPUs.
  [[nodiscard]] std::optional<bool> apart() const;
  /// Which plan is the best, and how sure that is; nothing where there is none.
  [[nodiscard]] std::optional<std::string> verdict() const;

  template <class V>
  void fields(V& v) const {
    v.part("version", version, "of the program");
    v.part("status", status(), "also the exit code: 0, 3");
    v.part("reasons", reasons(), "why the status is not ok");
    v.on_request(
        "verdict", verdict(),
        "what it comes to: the best plan, how far the second is behind it, and whether their "
        "intervals tell them apart; not there without a plan");
    v.part("scenario", label_of(scenario, digest));
    v.part("objective", objective, "what makes one plan better than another");
    v.part("beside", beside,
           "further objectives: the Pareto front is of `objective` and these; empty: of time and "
           "money");
    v.part("varied", result.searched.varied, "fields of the scenario that the search varied");
    v.part("held", result.searched.held,
           "fields that it held as the scenario has them; what is in neither list is held too");
    v.part("unused", result.searched.unused,
           "values that `search` lists, and degrees that it holds, that no layout has: they divide "
           "neither GPUs, heads, layers nor experts, or go with others that were not asked for");
    v.part("machines", machines,
           "the candidates that `search` names, in their order; empty where there is one");
    v.part("plans", plans(), "best first, members of the Pareto front on top of those asked for");
    v.part("simulated_plans", simulated_plans(),
           "every layout that was simulated and keeps the limits, by cluster, the fastest first");
    v.part("apart", apart(),
           "whether the 90 % intervals of the first two plans, of the time of a token, lie apart, "
           "by the error of the simulation alone: what comparisons with published runs add to "
           "`plans[].step.time_interval_s` is of software and machine, which both share; null "
           "where that does not decide: one plan, two machines, or another objective than the "
           "step and other GPUs");
    v.on_request("choice", choice,
                 "With `--sensitivity`: how much an input must change before another of these "
                 "plans wins.");
    v.part("own", own, "the scenario's own layout; null where several machines were searched");
    v.part("rejected", result.rejected, "layouts left out, by reason");
    v.part("lost", result.classes,
           "classes of layouts that no plan is of, on the cluster of the first plan, with the "
           "nearest of each");
    v.figure("enumerated", result.enumerated, "", "layouts of the space that was searched",
             core::non_negative);
    v.figure("estimated", result.estimated, "",
             "of these, layouts whose step the analytic tier timed whole", core::non_negative);
    v.figure("simulated", result.simulated, "", "of these, layouts whose step was simulated",
             core::non_negative);
    v.part("verification", result.verification,
           "layouts drawn from those that were left out, simulated all the same");
    v.part("warnings", warnings(), "prices of one GPU that bill another");
    v.part("assumptions", assumptions(), "what the best plan rests on and no file says");
    v.part("resolved", resolved, "the scenario as it was read, all defaults written out, in YAML");
    v.part("timing", timing);
  }
};

/// Searches the plans of a scenario on its own machine, whatever others its `search` names.
/// @param load_time  what reading the files took, for `timing`
/// @param known_errors  what widens the intervals of plans beside the simulation, as in `predict`
/// @throws core::Error if the scenario breaks a rule that no layout mends
PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time,
                        const validation::KnownErrors& known_errors = {});

/// The same of a scenario whose `search` names several machines, each of which is read, checked and
/// searched, with the same limits; plans are ranked, and the Pareto front is taken, over all.
/// @param known  the answers of all machines, where they were searched before
PlanReport search_plans(const LoadScenario& load,
                        const plan::PlanOptions& options,
                        const std::vector<MachineAnswer>* known = nullptr,
                        const validation::KnownErrors& known_errors = {});

/// The scenario, of its machine, with one of its plans as its layout.
/// @param place  of the plan, from 0
training::Scenario scenario_of_plan(const PlanReport& report, std::size_t place);

/// The same as a file, without what was searched: all values written out.
/// @param place  of the plan, from 0
std::string plan_file(const PlanReport& report, std::size_t place);

/// A file of `plan --save`.
struct PlanFile {
  std::string name;
  std::string text;
  std::vector<std::string> lost;  ///< what a launch file cannot say of the plan
};

/// Of each plan, the best first: `plan-N.yaml`, and `plan-N.TOOL.EXTENSION`, which starts it, where
/// its software has such a file (`training.framework.launch_file`).
/// @param roots  of the catalogue
std::vector<PlanFile> plan_files(const PlanReport& report,
                                 const std::vector<std::filesystem::path>& roots);

}  // namespace headway::study

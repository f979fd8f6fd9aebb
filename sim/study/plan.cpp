#include "sim/study/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include "sim/config/launch/launch_file.h"
#include "sim/config/spec_type.h"
#include "sim/config/writer.h"
#include "sim/plan/judge.h"
#include "sim/study/predict.h"
#include "sim/study/stopwatch.h"
#include "sim/training/check.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/price_warning.h"

namespace headway::study {

namespace {

/// All but what the search finds.
PlanReport empty_report(const config::LoadedScenario& loaded, const plan::PlanOptions& options) {
  PlanReport report;
  report.version = HEADWAY_VERSION;
  report.scenario = loaded.scenario;
  report.digest = scenario_digest(loaded);
  report.price_source = study::price_source(loaded);
  report.resolved = loaded.canonical_text;
  report.objective = options.objective;
  report.beside = options.beside;
  return report;
}

/// Steps of the plans with the intervals that `headway run` has of them.
std::vector<training::StepResult> steps_with_known(const PlanReport& report,
                                                   const validation::KnownErrors& known) {
  std::vector<training::StepResult> steps;
  for (std::size_t place = 0; place < report.result.plans.size(); ++place) {
    steps.push_back(report.result.plans[place].step);
    const auto checked = training::check(scenario_of_plan(report, place));
    widen_interval(checked.scenario(), known, steps.back());
  }
  return steps;
}

Timing timing(core::Seconds load, core::Seconds search, const plan::PlanOptions& options) {
  Timing timing;
  timing.load = load;
  timing.step = search;
  timing.total = load + search;
  timing.threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  return timing;
}

}  // namespace

std::vector<std::string> PlanReport::reasons() const {
  if (status() == Status::ok) {
    return {};
  }
  return {
      fmt::format("No layout of {} fits, keeps the rules and the limits; the table says what each "
                  "fails on.",
                  machines.empty() ? "this cluster" : "these machines")};
}

std::vector<PlannedRun> PlanReport::plans() const {
  std::vector<PlannedRun> out;
  for (std::size_t place = 0; place < result.plans.size(); ++place) {
    const plan::Plan& plan = result.plans[place];
    PlannedRun& run = out.emplace_back();
    if (const auto fit = training::power_fit(scenario_of_plan(*this, place))) {
      run.board = fit->boards.front().board;
    }
    run.setting = plan.setting;
    const auto machine = static_cast<std::size_t>(plan.setting.machine);
    run.machine = machines.empty() ? "" : machines[machine].name;
    run.gpus = plan.gpus;
    run.spares = plan.spares;
    run.power = plan.power;
    run.variants = plan.variants;
    run.behind = plan::behind(plan, result.plans.front(), objective);
    run.pareto = plan.pareto;
    run.outside = plan.outside;
    run.estimate = core::if_positive(plan.estimate);
    run.layout = {plan.layout, plan.micro_batches};
    run.step = steps.empty() ? plan.step : steps[place];
    if (plan.campaign) {
      run.campaign = plan.campaign->result;
      run.cost =
          cost_of(*plan.campaign, machines.empty() ? price_source : machines[machine].price_source);
    }
  }
  for (PlannedRun& run : out) {
    run.name = plan_words(run, out);
  }
  return out;
}

std::vector<std::string> PlanReport::warnings() const {
  std::vector<std::string> all = training::price_warnings(scenario);
  if (!machines.empty()) {
    all.clear();
  }
  for (const PlannedMachine& machine : machines) {
    for (const std::string& text : training::price_warnings(machine.scenario)) {
      if (std::find(all.begin(), all.end(), text) == all.end()) {
        all.push_back(text);
      }
    }
  }
  return all;
}

std::vector<training::Assumption> PlanReport::assumptions() const {
  if (result.plans.empty()) {
    return {};
  }
  const plan::Plan& best = result.plans.front();
  std::vector<training::Assumption> all =
      steps.empty() ? best.step.assumptions : steps.front().assumptions;
  if (best.campaign) {
    all.insert(all.end(), best.campaign->assumptions.begin(), best.campaign->assumptions.end());
  }
  return all;
}

std::vector<SimulatedPlan> PlanReport::simulated_plans() const {
  std::vector<SimulatedPlan> out;
  for (const plan::SimulatedPoint& point : result.points) {
    SimulatedPlan& one = out.emplace_back();
    one.machine =
        machines.empty() ? "" : machines[static_cast<std::size_t>(point.setting.machine)].name;
    one.layout = plan::layout_text(point.layout);
    one.nodes = point.setting.nodes;
    one.gpus = point.gpus;
    one.step = point.step;
    one.days = point.days;
    one.usd = point.usd;
    one.own_run = point.own_run;
    for (std::size_t place = 0; place < result.plans.size(); ++place) {
      const plan::Plan& plan = result.plans[place];
      if (plan.setting == point.setting && plan.layout == point.layout) {
        one.plan = static_cast<std::int64_t>(place + 1);
        one.pareto = plan.pareto;
      }
    }
  }
  return out;
}

PlanReport search_plans(const config::LoadedScenario& loaded,
                        const plan::PlanOptions& options,
                        core::Seconds load_time,
                        const validation::KnownErrors& known_errors) {
  Stopwatch clock;
  PlanReport report = empty_report(loaded, options);
  training::check_apart_from_layout(loaded.scenario, loaded.marks);  // here, where places are known
  plan::PlanOptions placed = options;
  placed.marks = loaded.marks;
  report.result = plan::search(loaded.scenario, placed);
  report.steps = steps_with_known(report, known_errors);
  report.own = own_layout(report, options);
  if (options.sensitivity) {
    report.choice = find_choice(report, options);
  }
  report.timing = timing(load_time, clock.lap(), options);
  return report;
}

PlanReport search_plans(const LoadScenario& load,
                        const plan::PlanOptions& options,
                        const std::vector<MachineAnswer>* known,
                        const validation::KnownErrors& known_errors) {
  Stopwatch clock;
  const auto base = load({});
  config::LoadedScenario asked = base;  // --nodes stands for search.nodes
  if (!options.nodes.empty()) {
    asked.scenario.search.nodes = options.nodes;
  }
  auto machines = candidate_machines(asked, load);
  if (machines.empty()) {
    const core::Seconds load_time = clock.lap();
    return search_plans(base, options, load_time, known_errors);
  }
  const core::Seconds load_time = clock.lap();
  PlanReport report = empty_report(base, options);
  search_machines(options, machines, known);
  report.result = compare_machines(options, machines);
  if (std::any_of(machines.begin(), machines.end(),
                  [](const PlannedMachine& machine) { return machine.holds_tokens; })) {
    auto& held = report.result.searched.held;
    std::erase(held, plan::held_tokens(base.scenario));  // of a machine that varies batches too
    held.push_back(plan::held_tokens(base.scenario));
  }
  report.machines = std::move(machines);
  report.steps = steps_with_known(report, known_errors);
  if (options.sensitivity) {
    report.choice = find_choice(report, options);
  }
  report.timing = timing(load_time, clock.lap(), options);
  return report;
}

std::optional<bool> PlanReport::apart() const {
  if (result.plans.size() < 2) {
    return std::nullopt;
  }
  const plan::Plan& first = result.plans[0];
  const plan::Plan& second = result.plans[1];
  if (first.setting.machine != second.setting.machine ||
      (objective != plan::Objective::step && first.gpus != second.gpus)) {
    return std::nullopt;
  }
  const auto tokens = [](const plan::Plan& plan) {
    return static_cast<double>(plan.setting.global_batch) * plan.setting.sequence_length;
  };
  return first.step.interval_high / tokens(first) < second.step.interval_low / tokens(second) ||
         second.step.interval_high / tokens(second) < first.step.interval_low / tokens(first);
}

training::Scenario scenario_of_plan(const PlanReport& report, std::size_t place) {
  const plan::Plan& plan = report.result.plans[place];
  training::Scenario s = report.scenario;
  if (!report.machines.empty()) {
    s = report.machines[static_cast<std::size_t>(plan.setting.machine)].scenario;
  }
  s = plan::with_setting(s, plan.setting);
  s.cluster.spares = plan.spares;
  s.parallelism = plan.layout;
  return s;
}

namespace {

/// Says where the prices are from, which a scenario's values do not: "name: source" of a bill.
void add_price_source(const std::string& of_bill, const std::string& name, config::Node& scenario) {
  const std::string before = name + ": ";
  if (!of_bill.starts_with(before)) {
    return;  // without one
  }
  config::Entry* run = scenario.find("run");
  if (config::Entry* prices = run == nullptr ? nullptr : run->value.find("prices")) {
    config::Node source;
    source.kind = config::Node::Kind::scalar;
    source.text = of_bill.substr(before.size());
    source.quoted = true;
    prices->value.entries.push_back({"source", {}, std::move(source)});
  }
}

}  // namespace

std::string plan_file(const PlanReport& report, std::size_t place) {
  training::Scenario s = scenario_of_plan(report, place);
  s.name = fmt::format("{}, plan {}", s.name, place + 1);
  s.search = {};
  config::Node tree = config::to_tree(*config::find_kind("scenarios")->type, &s, {});
  if (s.run.prices) {
    const auto machine = static_cast<std::size_t>(report.result.plans[place].setting.machine);
    add_price_source(
        report.machines.empty() ? report.price_source : report.machines[machine].price_source,
        s.run.prices->name, tree);
  }
  return config::to_yaml(tree);
}

std::vector<PlanFile> plan_files(const PlanReport& report,
                                 const std::vector<std::filesystem::path>& roots) {
  std::vector<PlanFile> files;
  for (std::size_t i = 0; i < report.result.plans.size(); ++i) {
    const std::string stem = fmt::format("plan-{}", i + 1);
    files.push_back({stem + ".yaml", plan_file(report, i), {}});
    training::Scenario s = scenario_of_plan(report, i);
    const auto* table = config::launch_table_named(core::to_word(s.training.framework.launch_file));
    if (table == nullptr) {
      continue;
    }
    const std::string head =
        fmt::format("Written by headway plan: {}, plan {}, as {}.yaml", s.name, i + 1, stem);
    auto launch = config::launch_file(*table, training::check(std::move(s)), head, roots);
    files.push_back(
        {fmt::format("{}.{}{}", stem, table->name, config::launch_extension(table->syntax)),
         std::move(launch.text), std::move(launch.lost)});
  }
  return files;
}

}  // namespace headway::study

#include "sim/drill/drill.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>

#include "sim/core/error.h"
#include "sim/drill/constants.h"
#include "sim/training/degraded/degraded_step.h"
#include "sim/training/sites/slow_ways.h"
#include "sim/training/step/step.h"

namespace headway::drill {

using namespace core::literals;
using core::Seconds;

namespace {

/// Slowdowns cost a step simulation each; every distinct one is asked for once.
class Slowdowns {
 public:
  Slowdowns(const training::CheckedScenario& checked, const DrillOptions& options)
      : checked_(checked), count_(options.count) {}

  double operator()(const training::Degradation& part) {
    const auto key = std::make_tuple(part.rank.index(), part.kind, part.keeps);
    const auto known = known_.find(key);
    return known != known_.end() ? known->second
                                 : known_.emplace(key, simulate(part)).first->second;
  }

 private:
  /// The same step with slower ways; what waits beside its flows is part of both.
  double with_slow_ways(double keeps) {
    const training::StepOptions options{.trace = false, .hash_draws = 0};
    if (!healthy_) {
      healthy_ = training::simulate_step(checked_, options).time;
    }
    const auto slow =
        training::check(training::with_slow_ways(checked_.scenario(), keeps), checked_.marks());
    return std::max(1.0, training::simulate_step(slow, options).time / *healthy_);
  }

  double simulate(const training::Degradation& part) {
    if (part.kind == training::Degradation::Kind::ways) {
      return with_slow_ways(part.keeps);
    }
    if (!prepared_) {
      prepared_.emplace(training::prepare_step(checked_));
    }
    const training::DegradedSteps steps(*prepared_, {part.rank});
    // One slow part can let others start in a luckier order; a gain of that kind is no effect of
    // it.
    return std::max(1.0, steps.time({part}, count_) / steps.time({}, count_));
  }

  const training::CheckedScenario& checked_;
  std::function<void(std::size_t done, std::size_t total)> count_;
  std::optional<training::PreparedStep> prepared_;
  std::optional<core::Seconds> healthy_;
  std::map<std::tuple<std::uint32_t, training::Degradation::Kind, double>, double> known_;
};

/// A way is a site's, and a site's number, or that of one of its nodes, says which.
void place_way(const DrillSetup& setup, Fault& fault) {
  if (setup.sites == 1) {
    throw core::Error(
        fmt::format("--fault: {} needs several sites, and the job is on one; write "
                    "cluster.sites, or try nic-down or leaf-down",
                    core::to_word(fault.kind)));
  }
  const std::int64_t of_site = setup.nodes / setup.sites;
  if (!fault.site && (fault.node < 0 || fault.node >= setup.nodes)) {
    return;  // check_place says so
  }
  fault.site = fault.site.value_or(fault.node / of_site);
  if (*fault.site >= setup.sites) {
    throw core::Error(fmt::format("--fault: there is no site {}; the job has sites 0 to {}",
                                  *fault.site, setup.sites - 1));
  }
  fault.node = *fault.site * of_site;
}

/// A leaf, a rack or a site stands for its first node.
Fault placed(const Fault& given, const DrillSetup& setup) {
  Fault fault = given;
  if (is_of_ways(fault.kind)) {
    place_way(setup, fault);
  }
  if (fault.rack) {
    const std::int64_t racks = (setup.nodes + setup.nodes_per_rack - 1) / setup.nodes_per_rack;
    if (*fault.rack >= racks) {
      throw core::Error(fmt::format("--fault: there is no rack {}; the job has racks 0 to {}",
                                    *fault.rack, racks - 1));
    }
    fault.node = *fault.rack * setup.nodes_per_rack;
  }
  if (fault.leaf) {
    const auto leaves = static_cast<std::int64_t>(setup.first_of_leaf.size());
    if (*fault.leaf >= leaves) {
      throw core::Error(fmt::format("--fault: there is no leaf {}; the machine has leaves 0 to {}",
                                    *fault.leaf, leaves - 1));
    }
    const LeafPlace& first = setup.first_of_leaf[static_cast<std::size_t>(*fault.leaf)];
    if (first.node < 0) {
      throw core::Error(fmt::format("--fault: no node of the job is at leaf {}", *fault.leaf));
    }
    fault.node = first.node;
    fault.gpu = first.gpu;
  }
  return fault;
}

void check_place(const training::ClusterSpec& cluster, const Fault& fault) {
  if (fault.node < 0 || fault.node >= cluster.nodes) {
    throw core::Error(fmt::format(
        "--fault: there is no node {}; the job has nodes 0 to {}, and GPUs 0 to {}", fault.node,
        cluster.nodes - 1, std::int64_t{cluster.nodes} * cluster.node.gpus - 1));
  }
  if (fault.gpu < 0 || fault.gpu >= cluster.node.gpus) {
    throw core::Error(fmt::format("--fault: there is no GPU {}; a node has GPUs 0 to {}", fault.gpu,
                                  cluster.node.gpus - 1));
  }
  if (fault.nodes && *fault.nodes > cluster.nodes) {
    throw core::Error(fmt::format("--fault: nodes={} are more than the {} of the job", *fault.nodes,
                                  cluster.nodes));
  }
}

void check_figures(const Fault& fault, const DrillSetup& setup) {
  const Seconds interval = setup.saves.interval;
  if (fault.since_save && interval.si() > 0 && *fault.since_save >= interval) {
    throw core::Error(fmt::format(
        "--fault: since_save must be below the interval between saves, {:.6g} s", interval.si()));
  }
  if (fault.behind && setup.saves.in_run > 0 &&
      static_cast<double>(*fault.behind) > setup.saves.in_run) {
    throw core::Error(fmt::format("--fault: behind={} is older than the run, which makes {} saves",
                                  *fault.behind, setup.saves.in_run));
  }
}

void apply(const Fault& fault, const DrillOptions& options, DrillSetup& setup) {
  for (const auto& [monitor, time] : options.monitors) {
    auto& setting = setup[monitor];
    setting.on = time.has_value();
    if (time && time->si() > 0) {
      setting.time = *time;
      setting.why = "given";
    }
  }
  setup.horizon = options.horizon.value_or(setup.horizon);
  setup.since_save = fault.since_save.value_or(usual_since_save(setup));
}

/// Differences below a second are rounding of the rhythm, not help.
bool matters(const Remedy& remedy) { return std::abs(remedy.saved.si()) >= 1; }

/// What a remedy is measured with: the same drill of a changed job.
class Again {
 public:
  Again(const training::CheckedScenario& checked,
        const training::StepResult& step,
        const Fault& fault,
        const DrillOptions& options,
        const SlowdownOf& slowdown)
      : checked_(checked),
        step_(step),
        fault_(fault),
        options_(options),
        slowdown_(slowdown),
        plain_(drill_setup(checked, step)) {}

  [[nodiscard]] DrillSetup setup() const { return with(plain_, options_); }

  /// @returns nothing if the scenario does not allow the change
  [[nodiscard]] std::optional<Seconds> lost_with(const Change& change) const {
    if (change.watch) {
      DrillOptions options = options_;
      change.watch(options.monitors);
      return lost(with(plain_, options));
    }
    try {
      training::Scenario scenario = checked_.scenario();
      change.design(scenario);
      return lost(with(drill_setup(training::check(scenario, checked_.marks()), step_), options_));
    } catch (const core::Error&) {
      return std::nullopt;
    }
  }

 private:
  [[nodiscard]] DrillSetup with(DrillSetup setup, const DrillOptions& options) const {
    apply(fault_, options, setup);
    return setup;
  }
  [[nodiscard]] Seconds lost(const DrillSetup& setup) const {
    return time_lost(setup, drill_once(setup, fault_, slowdown_));
  }

  const training::CheckedScenario& checked_;
  const training::StepResult& step_;
  const Fault& fault_;
  const DrillOptions& options_;
  const SlowdownOf& slowdown_;
  DrillSetup plain_;
};

std::vector<Remedy> try_remedies(const Again& again,
                                 const std::vector<Change>& changes,
                                 Seconds lost) {
  std::vector<Remedy> remedies;
  for (const auto& change : changes) {
    if (const auto with = again.lost_with(change)) {
      remedies.push_back({change.name, change.how, *with, lost - *with});
    }
  }
  remedies.erase(
      std::remove_if(remedies.begin(), remedies.end(), [](const auto& r) { return !matters(r); }),
      remedies.end());
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const auto& x, const auto& y) { return x.saved > y.saved; });
  return remedies;
}

/// What of the scenario's recovery a drill, which is one story, does not draw.
std::vector<std::string> not_drawn(const training::Scenario& scenario) {
  const auto& recovery = scenario.run.recovery;
  std::vector<std::string> names;
  const auto add = [&](bool there, const char* name) {
    if (there) {
      names.emplace_back(name);
    }
  };
  add(recovery.wrong_blame > 0, "run.recovery.wrong_blame (the posterior decides)");
  add(recovery.repair_sigma > 0, "run.recovery.repair_sigma (mean repair times)");
  add(recovery.repair_crews > 0, "run.recovery.repair_crews (all repaired at once)");
  add(scenario.run.checkpoint.unreadable > 0, "run.checkpoint.unreadable (saves are good)");
  add(scenario.run.data && scenario.run.data->restart_moves > 0,
      "run.data.restart_moves (the job stays on its island)");
  if (recovery.detectors) {
    add(recovery.detectors->health_check.has_value(), "recall of the health check (finds all)");
    add(recovery.detectors->straggler_monitor.has_value(),
        "recall and false alarms of the straggler monitor");
  }
  return names;
}

void assume(const training::Scenario& scenario, DrillResult& result) {
  const auto& setup = result.setup;
  result.assumptions.push_back(
      {"drill.since_save", fmt::format("{:.4g} s", setup.since_save.si()),
       "useful work since the last save when the fault strikes; half an interval unless given"});
  result.assumptions.push_back(
      {"drill.archive", fmt::format("{:.4g} h", setup.saves.archive / 1_h),
       scenario.run.checkpoint.archive
           ? "run.checkpoint.archive: the newest save that is kept for good is half as old"
           : "run.checkpoint.archive is absent: a save a day is taken to be kept for good, the "
             "newest of them half a day old"});
  if (result.fault.kind == FaultKind::nvme_slow || result.fault.kind == FaultKind::nvme_stalled) {
    const bool near = std::any_of(setup.saves.near.begin(), setup.saves.near.end(),
                                  [](const auto& level) { return level.name == "nvme"; });
    result.assumptions.push_back(
        {"drill.drives",
         setup.saves.via_drives
             ? "in the path of saves to storage"
             : (near ? "in the path of the near level nvme" : "in no save's path"),
         "as run.checkpoint.via_drives and run.checkpoint.levels say"});
  }
  for (const auto& [monitor, word] : enum_words(Monitor{})) {
    if (setup[monitor].on) {
      result.assumptions.push_back({fmt::format("drill.monitor.{}", word),
                                    fmt::format("{:.4g} s", setup[monitor].time.si()),
                                    std::string(setup[monitor].why)});
    }
  }
  result.assumptions.push_back(
      {"drill.belief",
       fmt::format("{} shown, {} stray, {} of hardware", kShown, kStray, kStrayHardware),
       "chance that a symptom shows when its cause is there, and when it "
       "is not"});
  const auto names = not_drawn(scenario);
  if (!names.empty()) {
    result.assumptions.push_back({"drill.not_drawn", fmt::format("{}", fmt::join(names, "; ")),
                                  "chances of a campaign; a drill tells one story"});
  }
  if (setup.evicted > 1 || setup.recovery.elastic) {
    result.assumptions.push_back({"drill.neighbours", "fill whole units",
                                  "the nodes of a leaf or a rack are taken to belong to as few "
                                  "racks, groups and replicas as they can"});
  }
}

void warn(DrillResult& result) {
  const auto& trace = result.trace;
  const auto seconds = [](core::Tick t) { return core::Clock::campaign().to_seconds(t).si(); };
  if (trace.last_durable && trace.at_risk > 0) {
    const double since = seconds(*trace.last_durable);
    result.warnings.push_back(fmt::format(
        "no save has become durable since {}: {:.0f} s of work are at risk when the drill "
        "ends, and booked as lost",
        since > 0 ? fmt::format("+{:.0f} s", since) : "the fault", seconds(trace.at_risk)));
  } else if (trace.at_risk > 0) {
    result.warnings.push_back(fmt::format(
        "{:.0f} s of work are not durable or not sound when the drill ends, and booked as lost",
        seconds(trace.at_risk)));
  }
  if (!trace.running_again && (!trace.responses.empty() || trace.cured)) {
    result.warnings.emplace_back("the job is not back at healthy speed when the drill ends");
  }
  if (trace.responses.empty() && !trace.cured) {
    result.warnings.emplace_back("nobody notices the fault before the drill ends");
  }
  if (result.setup.saves.interval.si() == 0) {
    result.warnings.push_back(fmt::format(
        "the job saves at its end only; faults of drives and of storage cannot show before, and "
        "the work before the fault is taken as half the drill, {:.4g} h",
        result.setup.since_save / 1_h));
  }
}

}  // namespace

Seconds time_lost(const DrillSetup& setup, const DrillTrace& trace) {
  DrillInput healthy;
  healthy.setup = &setup;
  const DrillTrace twin = run_drill(healthy);
  const auto done = [](const DrillTrace& t) { return t[Account::useful] - t.owed; };
  return core::Clock::campaign().to_seconds(std::max<core::Tick>(0, done(twin) - done(trace)));
}

DrillTrace drill_once(const DrillSetup& setup, const Fault& fault, const SlowdownOf& slowdown) {
  const auto signatures = signatures_of(setup, slowdown);
  DrillInput input;
  input.setup = &setup;
  input.fault = with_defaults(fault, setup);
  input.effect = effect_of(*input.fault, setup, slowdown);
  input.suspicion = [&](const Evidence& evidence) {
    return posterior(setup.rate, signatures, evidence);
  };
  return run_drill(input);
}

DrillResult drill(const training::CheckedScenario& checked,
                  const training::StepResult& step,
                  const Fault& given,
                  const DrillOptions& options) {
  if (checked.scenario().cluster.occupancy) {
    training::refuse(checked, "cluster.occupancy",
                     "faults on a partly occupied fabric are not modelled; leave 'occupancy' out");
  }
  const auto& elastic = checked.scenario().run.recovery.elastic;
  if (elastic && elastic->broken_replica != failures::BrokenReplica::leaves) {
    training::refuse(checked, "run.recovery.elastic.broken_replica",
                     "a drill knows no replicas that go on with a part missing (broken_replica: "
                     "reroutes, narrows); write 'broken_replica: leaves', or ask 'headway run' "
                     "for weeks of it");
  }
  if (is_of_ways(given.kind) && checked.scenario().training.local_steps) {
    training::refuse(checked, "training.local_steps",
                     "a drill knows no sites that train apart and miss an exchange; leave "
                     "'local_steps' out, or ask 'headway run' for weeks of it (effects cut_site "
                     "and slow_site of run.failures)");
  }
  if (given.kind == FaultKind::site_cut && elastic) {
    training::refuse(checked, "run.recovery.elastic",
                     "a drill knows no elastic job that goes on without a site; leave 'elastic' "
                     "out, or ask 'headway run' for weeks of it (effect cut_site of run.failures)");
  }
  Slowdowns known(checked, options);
  const SlowdownOf slowdown = std::ref(known);
  const Fault fault = placed(given, drill_setup(checked, step));
  check_place(checked.scenario().cluster, fault);
  const Again again(checked, step, fault, options, slowdown);
  DrillResult result;
  result.setup = again.setup();
  check_figures(fault, result.setup);
  result.fault = with_defaults(fault, result.setup);
  result.trace = drill_once(result.setup, fault, slowdown);
  const Effect effect = effect_of(result.fault, result.setup, slowdown);
  result.slowdown = effect.slowdown;
  result.lost = time_lost(result.setup, result.trace);
  if (result.setup.usd_per_second) {
    result.cost = core::Dollars(*result.setup.usd_per_second * result.lost.si());
  }
  result.tried_remedies = options.remedies;
  if (options.remedies) {
    const auto nodes = std::max<std::int64_t>(1, effect.nodes_lost);
    result.remedies = try_remedies(
        again, changes_for(checked.scenario(), result.setup, result.fault, nodes), result.lost);
  }
  assume(checked.scenario(), result);
  warn(result);
  return result;
}

}  // namespace headway::drill

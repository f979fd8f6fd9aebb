#include "sim/campaign/drill.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>

#include "sim/core/error.h"
#include "sim/training/degraded_step.h"

namespace headway::campaign {

using core::Seconds;

namespace {

/// Slowdowns cost a step simulation each; every distinct one is asked for once.
class Slowdowns {
 public:
  explicit Slowdowns(const training::CheckedScenario& checked) : checked_(checked) {}

  double operator()(const training::Degradation& part) {
    const auto key = std::make_tuple(part.rank.index(), part.kind, part.keeps);
    const auto known = known_.find(key);
    return known != known_.end() ? known->second
                                 : known_.emplace(key, simulate(part)).first->second;
  }

 private:
  double simulate(const training::Degradation& part) {
    if (!prepared_) {
      prepared_.emplace(training::prepare_step(checked_));
    }
    const training::DegradedSteps steps(*prepared_, {part.rank});
    // One slow part can let others start in a luckier order; a gain of that kind is no effect of
    // it.
    return std::max(1.0, steps.time({part}) / steps.time({}));
  }

  const training::CheckedScenario& checked_;
  std::optional<training::PreparedStep> prepared_;
  std::map<std::tuple<std::uint32_t, training::Degradation::Kind, double>, double> known_;
};

void check_place(const training::CheckedScenario& checked, const Fault& fault) {
  const auto& cluster = checked.scenario().cluster;
  if (fault.node < 0 || fault.node >= cluster.nodes) {
    throw core::Error(fmt::format("--fault: there is no node {}; the job has nodes 0 to {}",
                                  fault.node, cluster.nodes - 1));
  }
  if (fault.gpu < 0 || fault.gpu >= cluster.node.gpus) {
    throw core::Error(fmt::format("--fault: there is no GPU {}; a node has GPUs 0 to {}", fault.gpu,
                                  cluster.node.gpus - 1));
  }
}

void apply(const DrillOptions& options, DrillSetup& setup) {
  for (const auto& [monitor, time] : options.monitors) {
    auto& setting = setup[monitor];
    setting.on = time.has_value();
    if (time && time->si() > 0) {
      setting.time = *time;
      setting.why = "given";
    }
  }
  if (options.horizon) {
    setup.horizon = *options.horizon;
  }
  if (options.since_save) {
    setup.since_save = *options.since_save;
  }
}

struct Change {
  std::string name, how;
  std::function<bool(DrillSetup&)> make;  ///< false: it is so already
};

bool switch_on(MonitorSetting& setting, Seconds time) {
  if (setting.on && setting.time <= time) {
    return false;
  }
  setting.on = true;
  setting.time = std::min(time, setting.time);
  return true;
}

Change watch(Monitor monitor, Seconds time, const char* name) {
  return {name, fmt::format("--monitor {}={:g}s", core::to_word(monitor), time.si()),
          [monitor, time](DrillSetup& s) { return switch_on(s[monitor], time); }};
}

std::vector<Change> monitor_changes(const DrillSetup& setup) {
  return {
      watch(Monitor::process_exit, Seconds(10), "launcher notices a dead process in 10 s"),
      watch(Monitor::watchdog, Seconds(60), "collective watchdog of 60 s"),
      watch(Monitor::health_check, Seconds(30), "GPU and NIC health read every 30 s"),
      watch(Monitor::link_monitor, Seconds(30), "port counters read every 30 s"),
      watch(Monitor::drive_monitor, Seconds(30), "drive latency read every 30 s"),
      watch(Monitor::straggler_monitor, Seconds(60), "straggler monitor"),
      watch(Monitor::flight_recorder, Seconds(0), "flight recorder that names the missing rank"),
      watch(Monitor::save_monitor, Seconds(10), "saves watched writer by writer"),
      watch(Monitor::capacity_monitor, Seconds(300), "free space watched"),
      watch(Monitor::loss_monitor, Seconds(60), "loss watched by a program"),
      watch(Monitor::replay, 800 * setup.step, "one step in 400 computed twice"),
      watch(Monitor::restart_check, Seconds(0), "step number checked at each restart")};
}

bool halve(Seconds& time) {
  time = time / 2;
  return time.si() > 0;
}

bool at_most(Seconds& time, Seconds limit) {
  const bool changes = time > limit;
  time = std::min(time, limit);
  return changes;
}

int saves_a_day(const DrillSetup& setup) {
  const double interval = setup.saves.interval.si();
  return interval > 0 ? static_cast<int>(std::ceil(86400 / interval)) : 1;
}

std::vector<Change> design_changes(const DrillSetup& setup, std::int64_t nodes_lost) {
  return {
      {"asynchronous saves", "--set run.checkpoint.mode=async",
       [](DrillSetup& s) {
         const bool changes = s.saves.synchronous;
         s.saves.synchronous = false;
         return changes;
       }},
      {"saves twice as often",
       fmt::format("--set run.checkpoint.interval='{:.4g} s'", setup.saves.interval.si() / 2),
       [](DrillSetup& s) {
         s.since_save = s.since_save / 2;
         return halve(s.saves.interval);
       }},
      {"the checkpoints of a whole day kept",
       fmt::format("--set run.checkpoint.keep={}", saves_a_day(setup)),
       [](DrillSetup& s) {
         const bool changes = s.saves.keep < saves_a_day(s);
         s.saves.keep = std::max(s.saves.keep, saves_a_day(s));
         return changes;
       }},
      {fmt::format("{} more spare nodes", nodes_lost),
       fmt::format("--set cluster.spares={}", setup.spares + nodes_lost),
       [nodes_lost](DrillSetup& s) {
         s.spares += nodes_lost;
         return true;
       }},
      {"diagnosis in 10 s", "--set run.recovery.diagnosis='10 s'",
       [](DrillSetup& s) { return at_most(s.recovery.diagnosis, Seconds(10)); }},
      {"restart inside the running processes, 10 s", "--set run.recovery.container_start='10 s'",
       [](DrillSetup& s) { return at_most(s.recovery.start, Seconds(10)); }}};
}

/// Differences below a second are rounding of the rhythm, not help.
bool matters(const Remedy& remedy) { return std::abs(remedy.saved.si()) >= 1; }

std::vector<Remedy> try_remedies(const DrillResult& result,
                                 const SlowdownOf& slowdown,
                                 std::int64_t nodes_lost) {
  std::vector<Change> changes = monitor_changes(result.setup);
  const auto more = design_changes(result.setup, nodes_lost);
  changes.insert(changes.end(), more.begin(), more.end());
  std::vector<Remedy> remedies;
  for (const auto& change : changes) {
    DrillSetup setup = result.setup;
    if (change.make(setup)) {
      const Seconds lost = time_lost(setup, drill_once(setup, result.fault, slowdown));
      remedies.push_back({change.name, change.how, lost, result.lost - lost});
    }
  }
  remedies.erase(
      std::remove_if(remedies.begin(), remedies.end(), [](const auto& r) { return !matters(r); }),
      remedies.end());
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const auto& x, const auto& y) { return x.saved > y.saved; });
  return remedies;
}

void explain(DrillResult& result) {
  const auto& setup = result.setup;
  result.assumptions.push_back(
      {"drill.since_save", fmt::format("{:.4g} s", setup.since_save.si()),
       "useful work since the last save when the fault strikes; half an interval unless given"});
  for (const auto& [monitor, word] : enum_words(Monitor{})) {
    if (setup[monitor].on) {
      result.assumptions.push_back({fmt::format("drill.monitor.{}", word),
                                    fmt::format("{:.4g} s", setup[monitor].time.si()),
                                    std::string(setup[monitor].why)});
    }
  }
  result.assumptions.push_back({"drill.belief", fmt::format("{} shown, {} stray", kShown, kStray),
                                "chance that a symptom shows when its cause is there, and when it "
                                "is not"});
  if (!result.trace.running_again && !result.trace.responses.empty()) {
    result.warnings.emplace_back("the job is not back at healthy speed when the drill ends");
  }
  if (result.trace.responses.empty() && !result.trace.cured) {
    result.warnings.emplace_back("nobody notices the fault before the drill ends");
  }
  if (setup.saves.interval.si() == 0) {
    result.warnings.emplace_back(
        "the job saves at its end only; faults of drives cannot show before");
  }
}

}  // namespace

Seconds time_lost(const DrillSetup& setup, const DrillTrace& trace) {
  DrillInput healthy;
  healthy.setup = &setup;
  const auto clock = core::Clock::campaign();
  return clock.to_seconds(run_drill(healthy)[Account::useful] - trace[Account::useful]);
}

DrillTrace drill_once(const DrillSetup& setup, const Fault& fault, const SlowdownOf& slowdown) {
  const auto signatures = signatures_of(setup, slowdown);
  DrillInput input;
  input.setup = &setup;
  input.fault = with_defaults(fault, setup);
  input.effect = effect_of(*input.fault, setup, slowdown);
  input.suspicion = [&](const Sightings& visible, core::Tick now,
                        const std::set<FaultKind>& ruled_out) {
    return posterior(setup.rate, signatures, visible, now, ruled_out);
  };
  return run_drill(input);
}

DrillResult drill(const training::CheckedScenario& checked,
                  const training::StepResult& step,
                  const Fault& fault,
                  const DrillOptions& options) {
  check_place(checked, fault);
  DrillResult result;
  result.setup = drill_setup(checked, step);
  apply(options, result.setup);
  result.fault = with_defaults(fault, result.setup);
  Slowdowns known(checked);
  const SlowdownOf slowdown = std::ref(known);
  result.trace = drill_once(result.setup, result.fault, slowdown);
  const Effect effect = effect_of(result.fault, result.setup, slowdown);
  result.slowdown = effect.slowdown;
  result.lost = time_lost(result.setup, result.trace);
  if (result.setup.usd_per_second) {
    result.cost = core::Dollars(*result.setup.usd_per_second * result.lost.si());
  }
  if (options.remedies) {
    result.remedies = try_remedies(result, slowdown, std::max<std::int64_t>(1, effect.nodes_lost));
  }
  explain(result);
  return result;
}

}  // namespace headway::campaign

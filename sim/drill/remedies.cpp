#include "sim/drill/remedies.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace headway::drill {

using namespace core::literals;
using core::Seconds;
using training::Scenario;

namespace {

/// As text that is read back to the same bits.
std::string quoted(Seconds time) { return fmt::format("'{:.6g} s'", time.si()); }

/// @param time  zero: the monitor's own
void watch(std::vector<Change>& changes,
           const DrillSetup& setup,
           Monitor monitor,
           Seconds time,
           const char* name) {
  const MonitorSetting& now = setup[monitor];
  if (now.on && (now.time <= time || time.si() == 0)) {
    return;
  }
  const bool own = time.si() == 0 || (!now.on && now.time <= time);
  const std::string value = own ? "on" : quoted(time);
  const Seconds used = own ? Seconds(0) : time;
  changes.push_back({name,
                     fmt::format("--monitor {}={}", core::to_word(monitor), value),
                     [monitor, used](MonitorChanges& m) { m[monitor] = used; },
                     {}});
}

void add_monitors(std::vector<Change>& changes, const DrillSetup& setup) {
  const auto add = [&](Monitor monitor, double seconds, const char* name) {
    watch(changes, setup, monitor, Seconds(seconds), name);
  };
  add(Monitor::process_exit, 10, "launcher notices a dead process in 10 s");
  add(Monitor::watchdog, 60, "collective watchdog of 60 s");
  add(Monitor::health_check, 30, "GPU and NIC health read every 30 s");
  add(Monitor::link_monitor, 30, "port counters read every 30 s");
  add(Monitor::drive_monitor, 30, "drive latency read every 30 s");
  add(Monitor::straggler_monitor, 60, "straggler monitor");
  add(Monitor::flight_recorder, 0, "flight recorder that names the missing rank");
  add(Monitor::save_monitor, 10, "saves watched writer by writer");
  add(Monitor::capacity_monitor, 300, "free space watched");
  add(Monitor::loss_monitor, 60, "loss watched by a program");
  add(Monitor::replay, 0, "one step in 400 computed twice");
  add(Monitor::restart_check, 0, "step number checked at each restart");
}

void design(std::vector<Change>& changes,
            const std::string& name,
            const std::string& setting,
            std::function<void(Scenario&)> make) {
  changes.push_back({name, "--set " + setting, {}, std::move(make)});
}

void add_saves(std::vector<Change>& changes, const Scenario& scenario, const DrillSetup& setup) {
  const auto& spec = scenario.run.checkpoint;
  if (spec.mode == storage::CheckpointMode::synchronous) {
    design(changes, "asynchronous saves", "run.checkpoint.mode=async",
           [](Scenario& s) { s.run.checkpoint.mode = storage::CheckpointMode::asynchronous; });
  }
  const Seconds interval = setup.saves.interval;
  if (spec.interval_steps && *spec.interval_steps > 1) {
    const std::int64_t steps = *spec.interval_steps / 2;
    design(changes, "saves twice as often", fmt::format("run.checkpoint.interval_steps={}", steps),
           [steps](Scenario& s) { s.run.checkpoint.interval_steps = steps; });
  } else if (!spec.interval_steps && interval.si() > 0) {
    const Seconds half = interval / 2;
    design(changes, "saves twice as often", "run.checkpoint.interval=" + quoted(half),
           [half](Scenario& s) { s.run.checkpoint.interval.value = half; });
  }
  // What is kept is what goes to storage, between which saves may go to nearer places.
  const auto to_storage = static_cast<double>(setup.saves.storage_every) * interval;
  const double a_day = interval.si() > 0 ? std::ceil(1_days / to_storage) : 0;
  if (spec.keep < a_day) {
    const int keep = static_cast<int>(a_day);
    design(changes, "the checkpoints of a whole day kept",
           fmt::format("run.checkpoint.keep={}", keep),
           [keep](Scenario& s) { s.run.checkpoint.keep = keep; });
  }
}

void add_recovery(std::vector<Change>& changes,
                  const Scenario& scenario,
                  const DrillSetup& setup,
                  const Fault& fault,
                  std::int64_t nodes_lost) {
  const auto& recovery = scenario.run.recovery;
  constexpr double kQuick = 10;  // Source: chosen
  // The first of them hang on the broken leaf, too, if it has ports left.
  const auto behind = static_cast<int>(places_behind(setup, fault));
  const int spares = std::max(scenario.cluster.spares, behind) + static_cast<int>(nodes_lost);
  const int more = spares - scenario.cluster.spares;
  design(changes, fmt::format("{} more spare node{}", more, more == 1 ? "" : "s"),
         fmt::format("cluster.spares={}", spares),
         [spares](Scenario& s) { s.cluster.spares = spares; });
  if (recovery.diagnosis.si() > kQuick) {
    design(changes, "diagnosis in 10 s", "run.recovery.diagnosis='10 s'",
           [](Scenario& s) { s.run.recovery.diagnosis = Seconds(kQuick); });
  }
  if (recovery.in_process_start.value_or(recovery.container_start).si() > kQuick) {
    design(changes, "processes start again in place in 10 s",
           "run.recovery.in_process_start='10 s'",
           [](Scenario& s) { s.run.recovery.in_process_start = Seconds(kQuick); });
  }
  if (recovery.state_from == failures::StateSource::checkpoint && setup.replicas > 1) {
    design(changes, "state from peers instead of the last save", "run.recovery.state_from=peers",
           [](Scenario& s) { s.run.recovery.state_from = failures::StateSource::peers; });
  }
}

}  // namespace

std::vector<Change> changes_for(const Scenario& scenario,
                                const DrillSetup& setup,
                                const Fault& fault,
                                std::int64_t nodes_lost) {
  std::vector<Change> changes;
  add_monitors(changes, setup);
  add_saves(changes, scenario, setup);
  add_recovery(changes, scenario, setup, fault, nodes_lost);
  return changes;
}

}  // namespace headway::drill

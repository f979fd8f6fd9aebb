// The job of a fire drill: its rhythm, its machine, who watches it, and how often which part
// breaks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/campaign/drill_fault.h"
#include "sim/campaign/drill_symptom.h"
#include "sim/core/units.h"
#include "sim/training/check.h"
#include "sim/training/step_result.h"

namespace headway::campaign {

/// One watcher.
struct MonitorSetting {
  bool on = false;
  core::Seconds time;    ///< timeout, or period of looking; polled ones see after half of it
  std::string_view why;  ///< source of the default time
};

/// How the job saves.
struct DrillSaves {
  bool synchronous = false;
  core::Seconds interval;          ///< useful work between saves
  core::Seconds snapshot;          ///< standing still for an asynchronous save
  core::Seconds write;             ///< from there until durable; a synchronous save stands for both
  core::Bytes node_bytes;          ///< of one node
  core::BytesPerSecond node_rate;  ///< what one node can write
  core::BytesPerSecond server_share;  ///< of one node, when all write
  int keep = 3;
};

/// From the name of the bad part to running again.
struct DrillRecovery {
  core::Seconds diagnosis, replacement, start, load, warm_up, repair;
  core::Seconds refill;  ///< a spare fills its cache of the data set
};

/// Everything a drill needs to know of the job; plain figures.
struct DrillSetup {
  std::int64_t gpus = 1, nodes = 1, spares = 0;
  int nodes_per_leaf = 1;  ///< that lose at least a NIC with one leaf
  int nodes_per_rack = 2;
  std::int64_t leaves = 1;
  core::Seconds step;  ///< healthy
  DrillSaves saves;
  DrillRecovery recovery;
  std::array<MonitorSetting, kMonitors> monitors{};
  std::array<double, kFaultKinds> rate{};  ///< of each kind, in this job [1/s]
  std::array<std::string_view, kFaultKinds> rate_source{};
  std::optional<double> usd_per_second;  ///< of the whole machine
  core::Seconds since_save;              ///< work done since the last save when the fault strikes
  core::Seconds horizon{86400};          ///< simulated from the fault on

  MonitorSetting& operator[](Monitor m) { return monitors[static_cast<std::size_t>(m)]; }
  const MonitorSetting& operator[](Monitor m) const {
    return monitors[static_cast<std::size_t>(m)];
  }
};

/// The setup of a scenario. Without `run.until` the defaults of the run hold.
/// @param step  the healthy step
DrillSetup drill_setup(const training::CheckedScenario& checked, const training::StepResult& step);

}  // namespace headway::campaign

// The job of a fire drill: its rhythm, its machine, who watches it, and how often which part
// breaks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/core/units.h"
#include "sim/drill/fault.h"
#include "sim/drill/symptom.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::drill {

using campaign::JobModel;
using campaign::JobRecovery;
using campaign::NearLevel;
using campaign::Reach;

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
  core::Seconds archive{86400};    ///< work between saves that are kept for good
  std::int64_t storage_every = 1;  ///< each how many-th save goes to storage
  std::vector<NearLevel> near;     ///< the others stay in these
  double in_run = 0;               ///< saves to storage of the whole run; 0: unknown

  bool via_drives = false;  ///< those to storage pass a drive of each node
};

/// The first of the job's NICs that is plugged into a leaf.
struct LeafPlace {
  std::int64_t node = -1;  ///< -1: the leaf has none of the job's
  int gpu = 0;             ///< that its rail belongs to
};

/// Everything a drill needs to know of the job; plain figures.
struct DrillSetup {
  std::int64_t gpus = 1, nodes = 1, spares = 0;
  std::int64_t replicas = 1;  ///< data-parallel copies that can go on without one another
  int nodes_per_leaf = 1;     ///< that lose at least a NIC with one leaf
  int room_of_leaf = 0;       ///< nodes that it has ports for; 0: spares hang on other leaves
  int nodes_per_rack = 2;
  std::int64_t leaves = 1;
  std::int64_t sites = 1;                ///< equally many nodes on each, in their order
  std::vector<LeafPlace> first_of_leaf;  ///< empty: leaves have no numbers
  core::Seconds step;                    ///< healthy
  DrillSaves saves;
  JobRecovery recovery;
  std::int64_t evicted = 1;  ///< nodes of a rack or a parallel group, for eviction by these
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

/// Who watches, by default and by what the scenario says of its detectors.
void set_monitors(const failures::RecoverySpec& recovery, DrillSetup& setup);

/// Places for further nodes, spares the first of them, that hang on the leaf that is down: they
/// cannot take the place of what hangs on it. 0 for other faults.
std::int64_t places_behind(const DrillSetup& setup, const Fault& fault);

/// Half an interval; without saves, half the drill.
core::Seconds usual_since_save(const DrillSetup& setup);

/// The setup of a scenario. Without `run.until` the defaults of the run hold.
/// @param step  the healthy step
DrillSetup drill_setup(const training::CheckedScenario& checked, const training::StepResult& step);

}  // namespace headway::drill

// What a cluster draws over a step: for people who feed it.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/result_fields.h"
#include "sim/core/units.h"
#include "sim/training/check.h"
#include "sim/training/power/power_fit.h"

namespace headway::study {

/// One save of the run. In the stall nothing runs: boards idle (`PowerReport::standing`). What is
/// written beside steps draws nothing of its own in the model.
struct SavePower {
  core::Seconds stall;   ///< training stands still: all of a synchronous save, or its snapshot
  core::Seconds beside;  ///< from there until durable, beside steps; 0: a synchronous save
};

/// Power of a cluster over one step; hosts, switches and spares draw the same all the time.
struct PowerReport {
  core::Watts mean, peak, least;  ///< of GPUs, hosts and switches
  core::Watts standing;
  double ramp = 0;  ///< [W/s]
  core::Seconds window;
  double pue = 1;
  int sites = 1;             ///< that all figures are of together
  core::Watts rack_of_node;  ///< one node with its GPUs at their limit
  double joules_per_token = 0;
  std::optional<training::PowerFit> limits;
  std::vector<core::Watts> gpus;       ///< per window, GPUs alone
  std::vector<core::Watts> rack;       ///< likewise, all of the rack that swings most; or empty
  core::Watts beside;                  ///< hosts, switches, spares
  core::Watts rack_standing;           ///< of the rack in `rack`, while nothing runs
  std::optional<SavePower> save = {};  ///< of a run that saves

  template <class V>
  void fields(V& v) const {
    v.figure("mean_w", mean, "W", "GPUs, hosts and switches, mean over the step",
             core::non_negative);
    v.figure("peak_w", peak, "W", "largest of all windows", core::non_negative);
    v.figure("least_w", least, "W", "smallest of all windows", core::non_negative);
    v.figure("swing_w", peak - least, "W",
             "between them: what the feed sees of every step, all GPUs being in step",
             core::non_negative);
    v.figure("ramp_w_per_s", ramp, "W/s",
             "largest change from a window to the next, the step's last and first included",
             core::non_negative);
    v.figure("window_s", window, "s", "over which power is averaged", core::positive);
    v.figure("standing_w", standing, "W",
             "while no step runs, as in a save that training waits for, a failure, a restart",
             core::non_negative);
    v.figure("save_swing_w", mean - standing, "W",
             "from the step's mean to `standing_w`: what a save that training waits for takes off",
             core::non_negative);
    v.figure("node_w", rack_of_node, "W",
             "one node with its GPUs at their limit; a rack draws this times its nodes",
             core::non_negative);
    v.figure("pue", pue, "1", "of `cluster.power`, or of `run.prices`; 1 where neither says it",
             core::positive);
    v.figure("facility_mean_w", mean * pue, "W", "`mean_w` x PUE", core::non_negative);
    v.figure("facility_peak_w", peak * pue, "W", "`peak_w` x PUE", core::non_negative);
    v.figure("joules_per_token", joules_per_token, "J", "facility_mean_w / tokens per second",
             core::non_negative);
    v.part("limits", limits, "What `cluster.power` comes to; null without.");
  }
};

/// @param step  with what is spread over steps: while it is longer than its simulation, everybody
///              waits
PowerReport power_report(const training::CheckedScenario& checked, core::Seconds step, bool fold);

}  // namespace headway::study

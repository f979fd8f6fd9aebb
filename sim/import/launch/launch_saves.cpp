#include "sim/import/launch/launch_saves.h"

namespace headway::import {

void read_saves(LaunchReader& reader,
                LaunchRun& run,
                std::string_view interval_key,
                std::string_view mode_key,
                bool asynchronous,
                std::string_view weights_key,
                bool weights_only) {
  constexpr std::string_view kWeightsAlone =
      "saves without the optimizer; set run.checkpoint.bytes_per_parameter";
  reader.place("run.checkpoint.interval_steps", interval_key);
  reader.place("run.checkpoint.mode", mode_key);
  const auto every = reader.count(interval_key, 0);
  if (weights_only && (!every || *every == 0 || !run.steps)) {
    reader.not_modelled(weights_key, std::string(kWeightsAlone));
  }
  if (!every || *every == 0) {
    return;
  }
  if (!run.steps) {
    reader.not_modelled(interval_key,
                        "the file says no steps, so the scenario has no run; set run.until and "
                        "run.checkpoint.interval_steps");
    return;
  }
  run.saves = LaunchSaves{*every, asynchronous, weights_only};
  if (weights_only) {
    reader.place("run.checkpoint.bytes_per_parameter", weights_key);
  }
}

}  // namespace headway::import

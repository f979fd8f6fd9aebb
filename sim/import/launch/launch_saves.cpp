#include "sim/import/launch/launch_saves.h"

namespace headway::import {

void read_saves(LaunchReader& reader,
                LaunchRun& run,
                std::string_view interval_key,
                std::string_view mode_key,
                bool asynchronous) {
  reader.place("run.checkpoint.interval_steps", interval_key);
  reader.place("run.checkpoint.mode", mode_key);
  const auto every = reader.count(interval_key, 0);
  if (!every || *every == 0) {
    return;
  }
  if (!run.steps) {
    reader.not_modelled(interval_key,
                        "the file says no steps, so the scenario has no run; set run.until and "
                        "run.checkpoint.interval_steps");
    return;
  }
  run.saves = LaunchSaves{*every, asynchronous};
}

}  // namespace headway::import

// How often a run saves, which every framework spells its own way.
#pragma once

#include <string_view>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// Steps between saves; zero and a key that is not set mean none. Comes behind the row of steps:
/// where a file says none, its scenario has no run and the setting is said not to be taken.
/// @param asynchronous  training waits for the snapshot alone, not for the last byte
/// @param weights_only  without the optimizer's state, as `weights_key` says
void read_saves(LaunchReader& reader,
                LaunchRun& run,
                std::string_view interval_key,
                std::string_view mode_key,
                bool asynchronous,
                std::string_view weights_key = "",
                bool weights_only = false);

}  // namespace headway::import

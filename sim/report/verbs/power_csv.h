// Power over a step as a table for other programs.
#pragma once

#include <string>

#include "sim/study/power.h"

namespace headway::report {

/// A line a window: its begin [s], then mean power of the GPUs, of these with hosts and switches,
/// and of the building [kW]; where racks have a limit, of the rack that swings most, too; at last
/// what goes on: `step`; then, of a run that saves, a save that follows the step: `save`, in which
/// boards wait (its first and its last window, all between being alike), and, where it is written
/// beside compute, `save_beside`: the windows of the next step, as many as the save takes.
std::string power_csv(const study::PowerReport& power);

}  // namespace headway::report

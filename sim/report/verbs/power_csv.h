// Power over a step as a table for other programs.
#pragma once

#include <string>

#include "sim/study/power.h"

namespace headway::report {

/// A line a window: its begin [s], then mean power of the GPUs, of these with hosts and switches,
/// and of the building [kW]; where racks have a limit, of the rack that swings most, too.
std::string power_csv(const study::PowerReport& power);

}  // namespace headway::report

// The clock of a step counts to 2^63 ps, 106 days: a longer step is refused, and the part that
// makes it long is named.
#pragma once

#include <string_view>

#include "sim/core/tick.h"
#include "sim/network/flow/problem.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// Ticks of one part of a step.
/// @throws core::Infeasible, naming `part`, if it is longer than the clock counts
core::Tick step_ticks(core::Seconds time, std::string_view part);

/// The step's simulation.
/// @throws core::Infeasible if it is longer than the clock counts; names the part of a stage that
/// takes longest
network::RunResult run_step(const LoweredStep& lowered, const network::RunOptions& options);

}  // namespace headway::training

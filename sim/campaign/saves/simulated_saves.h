// Saves and input that go over the training fabric: to and from storage servers that hang on it,
// and to peers.
#pragma once

#include <vector>

#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/slow/degraded_states.h"
#include "sim/storage/closed_form.h"

namespace headway::campaign {

/// Replaces the closed forms of such saves and loads by times simulated as flows beside training,
/// where the scenario gives no measured ones, and adds what the steps beside a save lose to its
/// stall.
/// @param healthy  the healthy step
void simulate_saves(StepSource& source,
                    const storage::ShardLayout& layout,
                    core::Seconds healthy,
                    ResolvedJob& resolved);

/// How long a step takes whose input comes over the training fabric, as flows beside its
/// collectives.
///     max(1 + what the collectives lose, time to read one step's input / step)
/// @param step_bytes  read for one step by the whole job
/// @param shares      of each node; empty: equal
/// @returns in units of the healthy step
double simulated_feed(StepSource& source,
                      core::Bytes step_bytes,
                      const std::vector<double>& shares,
                      core::Seconds healthy);

}  // namespace headway::campaign

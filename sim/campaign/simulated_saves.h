// Saves that go over the training fabric: to storage servers that hang on it, and to peers.
#pragma once

#include "sim/campaign/degraded_states.h"
#include "sim/campaign/resolve.h"
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

}  // namespace headway::campaign

// Saves and loads on the training fabric: storage transfers as flows, alone or beside training.
#pragma once

#include <functional>
#include <vector>

#include "sim/core/units.h"
#include "sim/storage/closed_form.h"
#include "sim/training/degraded/degraded_step.h"

namespace headway::training {

/// What is written or read at once: every node's part, in lockstep over the rails of the node.
struct SideTransfers {
  std::vector<storage::Transfer> transfers;  ///< host to storage, storage to host, or host to host
  core::Seconds latency;                     ///< before the first byte: opening files
};

/// Time until the last of the transfers has ended, the fabric being otherwise idle.
core::Seconds alone(const PreparedStep& step, const SideTransfers& side);

/// Steps that are simulated beside a transfer, at most.
inline constexpr int kMostSteps = 32;

/// A transfer that begins with a step and goes on beside it and the next ones.
struct SideTraffic {
  core::Seconds lasts;  ///< opening files and all bytes, beside training
  core::Seconds takes;  ///< what the steps beside it take longer, all together
  int steps = 0;        ///< simulated with it
  bool scaled = false;  ///< a part of the bytes was simulated, and what they take scaled up
};

/// Simulates as many steps as the transfers last, with and without them; flows of both share every
/// link max-min fairly. At most `kMostSteps` steps: of longer transfers a part is simulated.
/// @param healthy   one step without them
/// @param progress  told now and then how many parts of a simulation are done; may be empty
SideTraffic beside_training(const PreparedStep& step,
                            const SideTransfers& side,
                            core::Seconds healthy,
                            const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace headway::training

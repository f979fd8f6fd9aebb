// Which calls of a step leave NVLink domains, and in messages of which size: what a model of the
// network can be wrong about.
#pragma once

#include <vector>

#include "sim/core/activity.h"
#include "sim/core/collective.h"
#include "sim/core/units.h"

namespace headway::training {

struct LoweredStep;

/// Calls of one kind and size between NVLink domains.
struct NetworkCall {
  core::Activity activity = core::Activity::other;  ///< what a rank that waits for one is booked to
  core::CollectiveKind kind = core::CollectiveKind::all_reduce;
  core::Bytes message;  ///< from one rank to another: of a collective its array / its ranks
  bool operator==(const NetworkCall&) const = default;
};

/// Each distinct one once, in order of first use.
std::vector<NetworkCall> network_calls(const LoweredStep& lowered);

}  // namespace headway::training

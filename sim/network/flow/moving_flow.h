// What the engine keeps of a flow while it moves bytes: only then is there anything to keep.
#pragma once

#include <cstdint>

#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/network/flow/integer.h"
#include "sim/network/flow/tick_queue.h"

namespace headway::network {

/// A flow that has a share of its links, in its seat of the solver.
struct alignas(64) MovingFlow {
  Int128 left = 0;  ///< volume not yet moved at `anchor`
  std::int64_t rate = 0;
  core::Tick anchor = 0;      ///< when the rate last changed
  std::uint64_t started = 0;  ///< digest key, times the power of its start
  std::uint32_t flow = TickQueue::kNone;
  std::uint32_t group = 0;
  std::uint32_t weight = 1, multiplicity = 1;
  TickQueue::Place end;  ///< of its event, while the rate is positive
};
/// What flows of one size have in common; they come in crowds.
struct FlowSize {
  core::Bytes size{0};
  Int128 volume = 0;
  std::uint64_t key = 0;  ///< for digests
};

}  // namespace headway::network

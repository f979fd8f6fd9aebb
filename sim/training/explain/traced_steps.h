// The instructions that one entry of a trace covers, each with its time.
#pragma once

#include <cstdint>

#include "sim/network/flow/problem.h"

namespace headway::training {

/// Calls `tell(index, begin, end)` for every instruction of the entry, in order: its place in the
/// program of `actor` and the ticks between which it ran.
template <class Tell>
void for_each_step(const network::Problem& problem,
                   const network::Actor& actor,
                   const network::TraceEntry& entry,
                   Tell tell) {
  if (entry.steps == 1) {
    tell(entry.step, entry.begin, entry.end);
    return;
  }
  core::Tick now = entry.begin;
  for (std::uint32_t i = entry.step; i < entry.step + entry.steps; ++i) {
    const network::ProgramStep& step = problem.programs[actor.program][i];
    const core::Tick ticks =
        step.code == network::StepCode::compute ? network::slowed(step.ticks, actor.slowdown_ppm)
        : step.code == network::StepCode::wait  ? problem.groups[actor.groups[step.slot]].delay
                                                : 0;
    tell(i, now, now + ticks);
    now += ticks;
  }
}

}  // namespace headway::training

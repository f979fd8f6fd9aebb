// Why the step took as long as it did: the chain of causes from its end back to its start.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/flow/problem.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// Per program and step: of the ticks of a computation, what the CPU's launches add to the GPU's.
using LaunchTicks = std::vector<std::vector<core::Tick>>;

/// One link of the chain of causes, seen from the rank that computed or waited.
struct PathSegment {
  std::uint32_t actor = 0;  ///< a member of the class
  std::uint32_t step = 0;   ///< of its program: a computation, or the wait for a transfer
  core::Tick ticks = 0;
  core::Tick waited = 0;  ///< of a transfer's: what the rank waited; it worked beside the others
};

/// The chain, from the end of the step to its start.
std::vector<PathSegment> critical_segments(const network::Problem& problem,
                                           const network::RunResult& result);

/// The causes on that chain, from paths that the run kept as it went: without a trace, and the
/// same. Every instant of the step has one cause, so the values add up to `result.end`.
/// @param result  with paths
core::ByActivity<core::Tick> critical_path(const network::RunResult& result);

/// The same from a trace: a computation leads back to what the rank did before it, a transfer to
/// the rank whose arrival launched it.
/// @param problem  the problem that was run
/// @param result   with a trace
/// @param launch   booked to `launch`; empty: nothing is
core::ByActivity<core::Tick> critical_path(const network::Problem& problem,
                                           const network::RunResult& result,
                                           const LaunchTicks& launch = {});

}  // namespace headway::training

// Unfolding in mid-run: a link changes, and only the classes it touches split.
#pragma once

#include "sim/network/flow/problem.h"

namespace headway::network {

/// Runs a problem folded as if no link ever changed; at each tick of a change, refines the classes
/// by it, copies the state of each class to its parts, and goes on. Gives the ticks of the unfolded
/// run. After 16 such ticks the remaining changes are known from the start of the last part.
/// @param problem  checked (compiled.h), with link changes; not traced
RunResult run_unfolding(const Problem& problem, const RunOptions& options);

}  // namespace headway::network

// Folding: actors, groups, flows and links that must behave alike become one each.
//
// Colour refinement finds a stable partition of the problem's four kinds of nodes: two actors of a
// class run the same program on groups of the same classes slot by slot, two groups have the same
// members and flows by class, two flows the same links, two links the same flows. Everything in a
// class then happens at the same ticks, so the quotient, which is again a Problem, gives the same
// ticks as the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/flow/compiled.h"
#include "sim/network/flow/problem.h"

namespace headway::network {

/// A problem and what each node of the original became in it.
struct Folding {
  bool folded = false;  ///< false: little or nothing folds; the rest is empty, run the original
  Problem problem;      ///< the quotient, with multiplicities
  std::vector<std::uint32_t> actor_class, group_class, flow_class, link_class;
};

/// @param problem  checked (compiled.h)
/// @param before   classes that the new ones refine: nodes of different ones stay apart
/// Exact: hashes only propose the partition, a last pass without hashes accepts it.
Folding fold(const Problem& problem, const Folding* before = nullptr);

/// Every node its own class: the problem itself, as a folding that a finer run can start from.
Folding discrete(const Problem& problem);

/// The same with the problem's programs as they were compiled for the check; the quotient comes
/// without programs, for an engine that is given the compiled ones.
Folding fold(const Problem& problem,
             const CompiledPrograms& programs,
             const Folding* before = nullptr);

/// Carries a run of `folding.problem` back to the original's links and actors.
RunResult unfold_result(const Folding& folding, RunResult result);

}  // namespace headway::network

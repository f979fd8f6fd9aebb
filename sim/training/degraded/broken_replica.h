// What is left of a replica that lost a part: how fast it goes on, and whether it fits.
#pragma once

#include "sim/core/units.h"
#include "sim/training/check.h"
#include "sim/training/complaints.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// The rules of jobs whose broken replicas reroute or narrow (`run.recovery.elastic`).
/// @param data  data-parallel degree; 0: unknown
void check_broken_replica(const Scenario& scenario, int data, Complaints& complaints);

/// A replica whose tensor groups have fewer ranks than those of the others, each with whole heads,
/// columns of the MLP and rows of the vocabulary: on the fullest rank
///     ceil(heads / left), ceil(ffn / left), ceil(vocabulary / left),  the last two in pieces of 8
struct NarrowReplica {
  int left = 0;           ///< ranks of a tensor group
  int micro_batches = 0;  ///< it does so many of those of a whole replica; 0: none
  int of = 0;             ///< micro-batches of a whole replica
  double stretch = 1;     ///< step in which it does them / healthy step; at least 1
  bool fits = false;
  core::Bytes peak, capacity;  ///< of its fullest GPU
  [[nodiscard]] double share() const {
    return of > 0 ? static_cast<double>(micro_batches) / static_cast<double>(of) : 0;
  }
};

/// The scenario of a job all of whose replicas are such, with `micro_batches` in a step: every rank
/// does what the fullest rank of a narrow group does. Boards draw `elastic.boost` times their
/// limit.
Scenario narrowed(const CheckedScenario& checked, int lost, int micro_batches);

/// The replica that lost `lost` ranks of a tensor group. Of its micro-batches it does the most with
/// which its step is no longer than the healthy one; or, if all of them lose less in the whole (a
/// job of few replicas), the next more, and all wait for it:
///     the least of  step(k) / healthy x R / (R - 1 + k / m)  over these two, R replicas, m
///     micro-batches
/// Simulates a step for each number that it tries.
/// @param healthy  the healthy step
NarrowReplica narrow_replica(const CheckedScenario& checked, core::Seconds healthy, int lost);

/// Whether the ranks of every stage have room for what `gone` of their data-parallel peers leave
/// them to do: the activations of ceil(n gone / (d - gone)) more micro-batches in flight beside
/// their own n, of d peers.
bool rerouting_fits(const CheckedScenario& checked, int gone);

}  // namespace headway::training

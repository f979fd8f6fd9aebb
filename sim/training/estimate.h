// What a simulation will need of this machine, before anything is allocated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/training/check.h"

namespace headway::training {

/// Memory of one part of the simulator.
struct MemoryPart {
  std::string what;   ///< "131,072 ranks with 24 transfers each"
  std::string field;  ///< what to look at first, dotted as in a scenario
  core::Bytes bytes;
};

/// Memory that a simulation takes at its peak; the program itself (about 15 MiB) not counted.
struct MemoryEstimate {
  std::vector<MemoryPart> parts;
  [[nodiscard]] core::Bytes total() const;
  /// The part that takes most.
  [[nodiscard]] const MemoryPart& largest() const;
};

/// Of one step. A function of the scenario alone; never smaller for more nodes, planes, layers or
/// micro-batches. Equations: README.md of this room.
/// @param fold    as StepOptions::fold
/// @param beside  how many further hashes of the switches are simulated at the same time
/// @param loops   micro-batches that a single stage repeats are one loop of its program
MemoryEstimate estimate_step(const CheckedScenario& checked,
                             bool fold = true,
                             int beside = 0,
                             bool loops = false);

/// Operations that a simulation of the step runs through, about: those of every stage, and of each
/// context rank of it, as those are seldom alike. Times of simulations relate as these.
double estimate_operations(const CheckedScenario& checked);

/// Of a fabric and of what is told of it, without a step.
MemoryEstimate estimate_fabric(const ClusterSpec& cluster);

/// Of the run's trials, beside the step.
/// @param threads  trials at a time
MemoryEstimate estimate_campaign(const CheckedScenario& checked, int threads);

/// Memory that this process may still take: what the machine has available, less if the process or
/// its control group is limited.
core::Bytes machine_memory();

/// @param fold  as in `estimate_step`: what is advised depends on it
/// @throws core::Infeasible if the estimate is above `available`; says what takes most and what to
/// do
void require_memory(const MemoryEstimate& estimate, core::Bytes available, bool fold = true);

/// For a program that turns out longer than was foreseen.
/// @param more  steps that it may still get
/// @throws core::Infeasible as `require_memory`
void require_room_for_steps(std::size_t more);

}  // namespace headway::training

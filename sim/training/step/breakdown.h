// What every second of a step was spent on: the causes of waiting told apart.
#pragma once

#include <vector>

#include "sim/core/activity.h"
#include "sim/core/tick.h"
#include "sim/training/step/lower.h"

namespace headway::training {

/// Where the step went, in ticks.
struct StepBreakdown {
  std::vector<core::ByActivity<core::Tick>> classes;  ///< per actor class; each adds up to the step
  std::vector<core::Tick> kernels;     ///< per actor class: time in which kernels run, see below
  std::vector<core::Tick> stage_work;  ///< per stage, mean of its ranks: see below
};

/// Books the run's times to their causes:
/// - a rank that has finished waits for the others: `pipeline_bubble`, as every wait for another
///   stage;
/// - of computations, what the CPU's launches add goes to `launch`;
/// - of the waits for other stages of a rank of stage s, up to max_i W_i - W_s go to
///   `stage_imbalance`. W_i is the work of stage i, mean of its ranks: all but waits for other
///   stages, transfers between stages and data-parallel communication. Were all stages equal, the
///   slowest would have max_i W_i - mean W_i less to do, which is the mean of these waits.
/// Kernels run in computations as long as these take, what transfers beside them add to them
/// included, and neither while the CPU launches too slowly nor in delays of the software.
/// @param run  of `lowered.problem`, whose programs are those of `lowered.owners`
StepBreakdown break_down(const LoweredStep& lowered, const network::RunResult& run);

}  // namespace headway::training

// The step simulation: CheckedScenario -> Cluster + StepGraph -> StepResult.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sim/training/check.h"
#include "sim/training/step/degrade.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

struct StepOptions {
  bool fold = true;        ///< simulate one rank a class of equals; the ticks are the same
  bool trace = true;       ///< record what every rank did: needed for critical_path
  bool contention = true;  ///< false: every transfer takes its time alone, whatever runs beside it
  std::vector<Degradation> degradations{};  ///< slow parts; empty: the healthy step
  int hash_draws = 8;  ///< under ecmp, further hashes of the switches that the interval covers
  /// Told how much of all simulations of the step is done, from several threads; may be empty.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// Relative error of a step that a GPU adds about which no table or measurement says how its
/// kernels depend on their shapes: 0.1, or 0 where there is one (errors of published runs,
/// docs/validation.md).
double kernel_error(const Scenario& scenario);

/// Relative error of a step: that of its calibration and of its kernels, and of experts. The
/// interval of a step is exp(+-1.645 x this) wide.
double relative_error(const Scenario& scenario);

/// Memory of every stage, without simulating.
MemoryResult predict_memory(const CheckedScenario& checked);

/// Simulates one step, event by event. A plan that does not fit is simulated all the same
/// (`memory.fits` says so).
StepResult simulate_step(const CheckedScenario& checked, const StepOptions& options = {});

}  // namespace headway::training

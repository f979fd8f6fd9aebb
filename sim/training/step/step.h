// The step simulation: CheckedScenario -> Cluster + StepGraph -> StepResult.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/training/check.h"
#include "sim/training/degraded/degrade.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

struct StepOptions {
  bool fold = true;        ///< simulate one rank a class of equals; the ticks are the same
  bool trace = true;       ///< record what every rank did: needed for critical_path
  bool contention = true;  ///< false: every transfer takes its time alone, whatever runs beside it
  std::vector<Degradation> degradations{};  ///< slow parts; empty: the healthy step
  std::optional<PacketsOfStep> packets{};   ///< time the traffic by packets: no interval of hashes
  int hash_draws = 8;  ///< under ecmp, further hashes of the switches that the interval covers
  /// Told how much of all simulations of the step is done, from several threads; may be empty.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

/// Relative error of a step that a GPU adds about which no table or measurement says how its
/// kernels depend on their shapes: 0.1, or 0 where there is one (errors of published runs,
/// docs/validation.md).
double kernel_error(const Scenario& scenario);

/// Standard deviations from the middle to either end of a 90 % interval: 5 % of a normal
/// distribution lie above. Source: mathematics.
inline constexpr double kOneSidedFivePercent = 1.6448536269514722;

/// Relative error of a step: that of its calibration and of its kernels, and of experts. The
/// interval of a step is exp(+-1.645 x this) wide.
double relative_error(const Scenario& scenario);

/// Fills the rates that follow from `result.time`: tokens, MFU, FLOPs of a second. A time below
/// what physics allows is our own fault.
void set_rates(const CheckedScenario& checked, StepResult& result);

/// Memory of the fullest GPU of every stage, by kind.
std::vector<MemoryByKind> memory_of_stages(const CheckedScenario& checked);

/// Memory of every stage, without simulating.
MemoryResult predict_memory(const CheckedScenario& checked);

/// Share of a GPU's memory that a plan leaves free, and below which results warn. A caching
/// allocator that finds no room gives back what it holds, waits for the GPU and allocates again:
/// of 676 layouts of nanotron on GPUs of 80 GB (Ultra-Scale Playbook, 2025) all 9 whose allocated
/// bytes at the peak were above 0.9 of the memory, which with what no tensor holds is all of it,
/// took 3 to 8 times as long as their like; below 0.87 none did for that reason.
inline constexpr double kMemoryHeadroom = 0.05;

/// Whether a peak that fits leaves less than that free.
bool near_memory_limit(const MemoryResult& memory);

/// What to say of it.
std::string memory_limit_warning(const MemoryResult& memory);

/// What to say of a step's memory: of the retries of an allocator that finds no room, of the limit.
std::vector<std::string> memory_warnings(const Scenario& scenario, const MemoryResult& memory);

/// What to say of recomputation that the software is not known to have, and of layouts that it does
/// not start: simulated as if it did.
std::vector<std::string> software_warnings(const Scenario& scenario);

/// Simulates one step, event by event. A plan that does not fit is simulated all the same
/// (`memory.fits` says so).
StepResult simulate_step(const CheckedScenario& checked, const StepOptions& options = {});

}  // namespace headway::training

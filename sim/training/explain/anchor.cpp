#include "sim/training/explain/anchor.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/gpu/kernel_time.h"
#include "sim/training/step/step.h"

namespace headway::training {

namespace {

/// A machine five times slower than its profile has another problem. Source: chosen.
constexpr double kLowest = 0.2;
/// Relative distance at which the search for the factor ends. Source: chosen.
constexpr double kClose = 0.001;

/// The shares with the power limit at which they hold: their own, or the GPU's.
gpu::SustainedShares shares_of(const Scenario& s) {
  gpu::SustainedShares shares = s.calibration.kernels.value_or(s.cluster.node.gpu.sustained);
  if (shares.power <= core::Watts(0)) {
    shares.power = s.cluster.node.gpu.power;
  }
  // From here on each format has a share of its own.
  shares.gemm_tf32 = gpu::gemm_share(shares, core::Precision::tf32);
  shares.gemm_fp32 = gpu::gemm_share(shares, core::Precision::fp32);
  return shares;
}

CalibrationSpec scaled(const Scenario& s, double factor) {
  CalibrationSpec calibration = s.calibration;
  gpu::SustainedShares shares = shares_of(s);
  for (double* share : {&shares.gemm_16bit, &shares.gemm_8bit, &shares.gemm_4bit, &shares.gemm_tf32,
                        &shares.gemm_fp32}) {
    *share = std::min(*share * factor, 1.0);
  }
  calibration.kernels = shares;
  return calibration;
}

/// Up to where matrix products of the step's own format reach the peak.
double highest_factor(const Scenario& s) {
  return 1 / gpu::gemm_share(shares_of(s), s.training.precision);
}

core::Seconds step_with(const CheckedScenario& checked, double factor) {
  const auto changed = recalibrated(checked, scaled(checked.scenario(), factor));
  return simulate_step(changed, {.trace = false, .hash_draws = 0}).time;
}

[[noreturn]] void refuse(core::Seconds measured, core::Seconds slowest, core::Seconds fastest) {
  throw core::Error(fmt::format(
      "no rate of the matrix products makes a step of {:.4g} s: at a fifth of the profile's it "
      "takes {:.4g} s, at the peak {:.4g} s. Look first at what else differs: layout, recompute, "
      "precision, overlap, the network's curves.",
      measured.si(), slowest.si(), fastest.si()));
}

}  // namespace

CheckedScenario recalibrated(const CheckedScenario& checked, const CalibrationSpec& calibration) {
  Scenario scenario = checked.scenario();
  scenario.calibration = calibration;
  return check(std::move(scenario));
}

StepAnchor anchor_step(const CheckedScenario& checked, core::Seconds measured) {
  double low = kLowest;
  double high = highest_factor(checked.scenario());
  StepAnchor anchor;
  anchor.predicted = step_with(checked, 1);
  const core::Seconds slowest = step_with(checked, low);
  const core::Seconds fastest = step_with(checked, high);
  if (measured > slowest * (1 + kClose) || measured < fastest * (1 - kClose)) {
    refuse(measured, slowest, fastest);
  }
  anchor.matched = anchor.predicted;
  // Faster products never make a slower step, so bisection in the logarithm of the factor finds it.
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings && std::abs(anchor.matched / measured - 1) >= kClose; ++i) {
    anchor.factor = std::sqrt(low * high);
    anchor.matched = step_with(checked, anchor.factor);
    (anchor.matched > measured ? low : high) = anchor.factor;
  }
  anchor.calibration = scaled(checked.scenario(), anchor.factor);
  // The anchored shares count as measured, so what the kernels of an unknown GPU add is kept here.
  anchor.calibration.relative_error =
      std::hypot(anchor.calibration.relative_error, kernel_error(checked.scenario()));
  anchor.calibration.name = checked.scenario().calibration.name + ", anchored";
  anchor.calibration.circumstances.push_back(
      fmt::format("matrix products x {:.4f}, so that a step of '{}' takes the measured {:.6g} s",
                  anchor.factor, checked.scenario().name, measured.si()));
  FittedFigure figure;
  figure.name = "anchor.gemm";
  figure.value = anchor.factor;
  figure.samples = 1;
  anchor.calibration.figures.push_back(std::move(figure));
  return anchor;
}

}  // namespace headway::training

// A calibration profile rescaled by one measured step.
#pragma once

#include "sim/training/calibration_spec.h"
#include "sim/training/check.h"

namespace headway::training {

/// What one measured step says of a machine's matrix products.
struct StepAnchor {
  double factor = 1;            ///< on the shares of peak that matrix products reach
  core::Seconds predicted;      ///< before
  core::Seconds matched;        ///< after; within 0.1 % of what was measured
  CalibrationSpec calibration;  ///< the scenario's own, with the shares scaled
};

/// Scales the shares of peak of matrix products, in every format alike, until the scenario's step
/// takes `measured`. Everything else (attention, memory kernels, transfers, launch gaps) stays: one
/// step cannot tell several figures apart, and matrix products are most of a step. A profile keeps
/// its `relative_error`: one step on one machine does not say how far other layouts are off.
/// @param measured  mean time of an undisturbed optimizer step [s]
/// @throws core::Error if no factor from 0.2 up matches it, short of rates above the peak
StepAnchor anchor_step(const CheckedScenario& checked, core::Seconds measured);

/// The scenario with another calibration, checked again.
CheckedScenario recalibrated(const CheckedScenario& checked, const CalibrationSpec& calibration);

}  // namespace headway::training

// From samples to a calibration profile that any scenario can `use:`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/gpu/spec.h"
#include "sim/training/calibration_spec.h"

#include "calibrate/fit/samples.h"

namespace headway::fit {

struct ProfileOptions {
  std::string name = "measured";    ///< printed in reports
  std::optional<gpu::GpuSpec> gpu;  ///< its peaks turn kernel rates into shares
  double tolerance = 0.02;          ///< of thinned curves
};

struct Profile {
  training::CalibrationSpec spec;
  SampleSet samples;                 ///< with the flags that the fits added
  std::vector<std::string> remarks;  ///< what was not measured, not used, or looks odd
};

/// Fits everything the samples tell. Samples taken beside other work are for interference and are
/// left out.
/// @throws core::Error if no sample can be used
Profile fit_profile(SampleSet samples, const ProfileOptions& options);

/// Standard error of a predicted step with this profile: the machine's part (root mean square of
/// the kernels' leave-one-out errors; 8 % where no kernel was measured) and 12 % between software
/// releases, which no microbenchmark sees.
double step_error(const training::CalibrationSpec& spec);

}  // namespace headway::fit

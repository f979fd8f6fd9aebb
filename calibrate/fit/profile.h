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

/// Fits everything the samples tell. Samples taken beside other work give figures of interference
/// and nothing else.
/// @throws core::Error if no sample can be used
Profile fit_profile(SampleSet samples, const ProfileOptions& options);

/// Standard error of a predicted step with this profile: the machine's part, 6 % between software
/// releases and 3 % between repeats, which no microbenchmark sees. The machine's part is that of
/// the worst kernel figure: sqrt(se^2 + loo^2 / 12), se its standard error, loo the scatter of
/// single shapes, of which a layer averages 12 (four products in three passes); at least 4 %, the
/// catalogue's, unless a lasting load was measured (`power`), since bursts say nothing of clocks
/// under training.
double step_error(const training::CalibrationSpec& spec);

}  // namespace headway::fit

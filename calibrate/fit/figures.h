// One fitted figure with its errors, as profiles list them.
#pragma once

#include <string>
#include <vector>

#include "sim/training/calibration_spec.h"

#include "calibrate/fit/least_squares.h"

namespace headway::fit {

inline training::FittedFigure figure(std::string name,
                                     const Estimate& estimate,
                                     std::string unit,
                                     double leave_one_out,
                                     int samples,
                                     int flagged = 0) {
  return {std::move(name), estimate.value, std::move(unit), estimate.standard_error,
          leave_one_out,   samples,        flagged};
}

/// A value that stands for all samples of its kind: their median.
struct Typical {
  Estimate estimate;
  double leave_one_out = 0;  ///< root mean square of (median of the others / value - 1)
  int samples = 0;
  int flagged = 0;
};

}  // namespace headway::fit

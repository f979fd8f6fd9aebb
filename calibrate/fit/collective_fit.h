// From timings of one collective over one group to a curve for a calibration profile.
#pragma once

#include <vector>

#include "sim/network/spec.h"

#include "calibrate/fit/samples.h"

namespace headway::fit {

/// A fitted curve, and what the fit thought of the samples.
struct FittedCurve {
  network::CollectiveCurve curve;
  int samples = 0;  ///< that the curve was made of
  std::vector<std::size_t>
      flagged;  ///< indices of samples left out: flagged before or outliers now
};

/// Where a sample is an outlier: it lies further than this from the line through its neighbours
/// (relative, the larger of a fixed part and of 4 robust standard deviations of all such
/// distances).
inline constexpr double kOutlierDistance = 0.25;

/// Fits T^q = alpha^q + (S / beta)^q to the median times of each size, flags outliers (repeats that
/// took twice the fastest of their size; sizes far from their neighbours' line), and thins the
/// points to what log-log interpolation needs within `tolerance`. With fewer than 4 sizes there is
/// no fit, only the points.
/// @param samples  of one collective, ranks and ranks a node; sizes may repeat; outliers found get
///                 their flag; throttled, wrong and outlying samples are left out where others
///                 remain
/// @throws core::Error if nothing usable is left
FittedCurve fit_collective(std::vector<Sample>& samples, double tolerance = 0.02);

/// The message at which a group reaches half of beta: alpha beta / (2^q - 1)^(1/q).
core::Bytes half_bandwidth_message(const network::CurveFit& fit);

/// |interpolated / measured - 1| of every inner point of a curve, read from the curve without it.
std::vector<double> reading_errors(const network::CollectiveCurve& curve);

}  // namespace headway::fit

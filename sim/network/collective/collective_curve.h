// Measured curves: finding the one that applies and reading it between its points.
#pragma once

#include <span>

#include "sim/core/collective.h"
#include "sim/core/units.h"
#include "sim/network/collective/collective_call.h"
#include "sim/network/spec.h"

namespace headway::network {

/// The curve of exactly this collective, ranks and ranks per node; null if there is none.
const CollectiveCurve* find_curve(std::span<const CollectiveCurve> curves,
                                  core::CollectiveKind kind,
                                  const GroupShape& group);

/// The curve of this collective whose rank count is nearest (as a ratio), among those that like the
/// group lie within one node or over several; null if there is none.
const CollectiveCurve* nearest_curve(std::span<const CollectiveCurve> curves,
                                     core::CollectiveKind kind,
                                     const GroupShape& group);

/// T of a fitted line: (alpha^q + (S / beta)^q)^(1/q), q = saturation.
core::Seconds fitted_time(const CurveFit& fit, core::Bytes message);

/// Time of one call. Between two points: a straight line in log-log. Beyond an end: the end's time
/// x what the fitted line says of the ratio. Without a fit, below the first point: its time; beyond
/// the last: the last time plus the further bytes at the slope of the last two points.
/// @throws core::Error if the curve has no points or its sizes do not rise
core::Seconds interpolate(const CollectiveCurve& curve, core::Bytes message);

}  // namespace headway::network

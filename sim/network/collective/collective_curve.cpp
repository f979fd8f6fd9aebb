#include "sim/network/collective/collective_curve.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"

namespace headway::network {
namespace {

void check_curve(const CollectiveCurve& curve) {
  const auto falls = [](const CurvePoint& a, const CurvePoint& b) {
    return a.message >= b.message;
  };
  const auto wrong = std::adjacent_find(curve.points.begin(), curve.points.end(), falls);
  if (curve.points.empty() || wrong != curve.points.end()) {
    throw core::Error(fmt::format(
        "the measured curve of {} over {} ranks {}", core::to_word(curve.collective), curve.ranks,
        curve.points.empty() ? "has no points" : "has sizes that do not rise"));
  }
}

/// Beyond the last point without a fitted line: by the slope of the last two, or in proportion
/// where that falls.
core::Seconds extrapolate(const CollectiveCurve& curve, core::Bytes message) {
  const auto& last = curve.points.back();
  if (curve.fit) {
    return last.time * (fitted_time(*curve.fit, message) / fitted_time(*curve.fit, last.message));
  }
  if (curve.points.size() == 1) {
    return last.time * (message / last.message);
  }
  const auto& before = curve.points[curve.points.size() - 2];
  const auto rise = last.time - before.time;
  if (rise.si() <= 0) {
    return last.time * (message / last.message);
  }
  return last.time + rise * ((message - last.message) / (last.message - before.message));
}

}  // namespace

const CollectiveCurve* find_curve(std::span<const CollectiveCurve> curves,
                                  core::CollectiveKind kind,
                                  const GroupShape& group) {
  for (const auto& curve : curves) {
    if (curve.collective == kind && curve.ranks == group.ranks &&
        curve.ranks_per_node == group.ranks_per_node) {
      return &curve;
    }
  }
  return nullptr;
}

const CollectiveCurve* nearest_curve(std::span<const CollectiveCurve> curves,
                                     core::CollectiveKind kind,
                                     const GroupShape& group) {
  const CollectiveCurve* best = nullptr;
  double best_distance = 0;
  for (const auto& curve : curves) {
    const bool one_node = curve.ranks_per_node >= curve.ranks;
    if (curve.collective != kind || one_node != (group.nodes == 1) || curve.ranks < 2) {
      continue;
    }
    const double distance = std::abs(std::log(static_cast<double>(curve.ranks) / group.ranks));
    if (best == nullptr || distance < best_distance) {
      best = &curve;
      best_distance = distance;
    }
  }
  return best;
}

core::Seconds fitted_time(const CurveFit& fit, core::Bytes message) {
  const double transfer = (message / fit.beta).si();
  return core::Seconds{
      std::pow(std::pow(fit.alpha.si(), fit.saturation) + std::pow(transfer, fit.saturation),
               1 / fit.saturation)};
}

core::Seconds interpolate(const CollectiveCurve& curve, core::Bytes message) {
  check_curve(curve);
  const auto& points = curve.points;
  const auto above =
      std::lower_bound(points.begin(), points.end(), message,
                       [](const CurvePoint& p, core::Bytes m) { return p.message < m; });
  if (above == points.begin()) {
    return curve.fit ? above->time * (fitted_time(*curve.fit, message) /
                                      fitted_time(*curve.fit, above->message))
                     : above->time;
  }
  if (above == points.end()) {
    return extrapolate(curve, message);
  }
  const auto below = above - 1;
  const double share =
      std::log(message / below->message) / std::log(above->message / below->message);
  return below->time * std::exp(share * std::log(above->time / below->time));
}

}  // namespace headway::network

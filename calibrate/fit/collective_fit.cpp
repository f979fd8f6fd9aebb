#include "calibrate/fit/collective_fit.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "sim/core/error.h"
#include "sim/network/collective/collective_curve.h"

#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/thinning.h"

namespace headway::fit {

namespace {

constexpr double kUsualTimeError = 0.1;  // collectives within 10 % of the line are usual
constexpr std::size_t kFewestForFit = 4;

/// Samples of one message size.
struct Size {
  double bytes = 0;
  double seconds = 0;                ///< median
  std::vector<std::size_t> samples;  ///< indices
};

/// A repeat that took twice as long as the fastest of its size met something else on the machine.
constexpr double kOutlierAmongRepeats = 2;

void flag_slow_repeats(std::vector<Sample>& samples) {
  std::map<double, double> fastest;
  for (const auto& s : samples) {
    if (!s.has(SampleFlag::wrong)) {
      const auto [at, is_new] = fastest.emplace(s.bytes, s.seconds);
      at->second = std::min(at->second, s.seconds);
    }
  }
  for (auto& s : samples) {
    const auto found = fastest.find(s.bytes);
    if (found != fastest.end() && s.seconds > kOutlierAmongRepeats * found->second) {
      s.add(SampleFlag::outlier);
    }
  }
}

std::vector<Size> sizes_of(const std::vector<Sample>& samples) {
  std::map<double, std::vector<std::size_t>> by_bytes;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].flags.empty() ||
        (samples[i].flags.size() == 1 && samples[i].has(SampleFlag::unstable))) {
      by_bytes[samples[i].bytes].push_back(i);
    }
  }
  std::vector<Size> sizes;
  for (const auto& [bytes, indices] : by_bytes) {
    std::vector<double> times;
    for (const std::size_t i : indices) {
      times.push_back(samples[i].seconds);
    }
    sizes.push_back({bytes, median(times), indices});
  }
  return sizes;
}

/// log(measured / line through both neighbours) of every inner size.
std::vector<double> distances(const std::vector<Size>& sizes) {
  std::vector<double> out;
  for (std::size_t i = 1; i + 1 < sizes.size(); ++i) {
    const auto& a = sizes[i - 1];
    const auto& b = sizes[i + 1];
    const double share = std::log(sizes[i].bytes / a.bytes) / std::log(b.bytes / a.bytes);
    out.push_back(
        std::log(sizes[i].seconds / (a.seconds * std::pow(b.seconds / a.seconds, share))));
  }
  return out;
}

/// The size that stands out most above its neighbours' line, if it stands out at all. Only times
/// that are too long: nothing makes a transfer faster than it can be, and the neighbour of a spike
/// looks too fast.
std::size_t worst_outlier(const std::vector<Size>& sizes) {
  const auto off = distances(sizes);
  const double limit = std::max(std::log(1 + kOutlierDistance), 4 * robust_deviation(off));
  std::size_t worst = sizes.size();
  double most = limit;
  for (std::size_t i = 0; i < off.size(); ++i) {
    if (off[i] > most) {
      most = off[i];
      worst = i + 1;
    }
  }
  return worst;
}

void flag_outliers(std::vector<Sample>& samples, std::vector<Size>& sizes) {
  // At most a tenth of the sizes: more is the shape of the curve, not bad luck.
  for (std::size_t left = sizes.size() / 10 + 1; left > 0 && sizes.size() > kFewestForFit; --left) {
    const std::size_t worst = worst_outlier(sizes);
    if (worst == sizes.size()) {
      return;
    }
    for (const std::size_t i : sizes[worst].samples) {
      samples[i].add(SampleFlag::outlier);
    }
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

std::optional<network::CurveFit> fit_line(const std::vector<Size>& sizes) {
  if (sizes.size() < kFewestForFit) {
    return std::nullopt;
  }
  std::vector<double> seconds;
  for (const auto& size : sizes) {
    seconds.push_back(size.seconds);
  }
  const Model model = [&](std::span<const double> unknowns, std::size_t i) {
    const double q = unknowns[2];
    return std::pow(std::pow(unknowns[0], q) + std::pow(sizes[i].bytes / unknowns[1], q), 1 / q);
  };
  const double first = seconds.front();
  const double rate = sizes.back().bytes / seconds.back();
  const std::vector<Unknown> unknowns{{"alpha", first, first * 1e-3, first * 1e3},
                                      {"beta", rate, rate * 1e-3, rate * 1e3},
                                      {"saturation", 1, 0.2, 5}};
  const Solution solution = fit_in_log(model, seconds, unknowns, kUsualTimeError);
  network::CurveFit fit;
  fit.alpha = core::Seconds(solution.values[0]);
  fit.beta = core::BytesPerSecond(solution.values[1]);
  fit.saturation = solution.values[2];
  fit.alpha_error = core::Seconds(solution.standard_errors[0]);
  fit.beta_error = core::BytesPerSecond(solution.standard_errors[1]);
  fit.saturation_error = solution.standard_errors[2];
  fit.leave_one_out = root_mean_square(leave_one_out(model, seconds, unknowns, kUsualTimeError));
  return fit;
}

/// Indices of the sizes worth keeping.
std::vector<std::size_t> thin(const std::vector<Size>& sizes, double tolerance) {
  std::vector<CurveSample> curve;
  for (const auto& size : sizes) {
    curve.push_back({size.bytes, size.seconds});
  }
  return thin_curve(curve, tolerance);
}

}  // namespace

FittedCurve fit_collective(std::vector<Sample>& samples, double tolerance) {
  HEADWAY_CHECK(!samples.empty(), "no samples");
  const Sample& head = samples.front();
  flag_slow_repeats(samples);
  std::vector<Size> sizes = sizes_of(samples);
  if (sizes.empty()) {
    throw core::Error(fmt::format("all samples of {} over {} ranks are flagged: nothing to fit",
                                  head.op, head.ranks));
  }
  flag_outliers(samples, sizes);
  const auto kind = core::from_word<core::CollectiveKind>(head.op);
  if (!kind) {
    throw core::Error(fmt::format("there is no collective '{}'", head.op));
  }
  FittedCurve out;
  out.curve.collective = *kind;
  out.curve.ranks = head.ranks;
  out.curve.ranks_per_node = head.ranks_per_node;
  for (const auto& size : sizes) {
    out.curve.points.push_back({core::Bytes(size.bytes), core::Seconds(size.seconds)});
    out.samples += static_cast<int>(size.samples.size());
  }
  out.curve.relative_error = root_mean_square(reading_errors(out.curve));
  out.curve.fit = fit_line(sizes);
  std::vector<network::CurvePoint> kept;
  for (const std::size_t i : thin(sizes, tolerance)) {
    kept.push_back(out.curve.points[i]);
  }
  out.curve.points = std::move(kept);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].has(SampleFlag::outlier) || samples[i].has(SampleFlag::throttled) ||
        samples[i].has(SampleFlag::wrong)) {
      out.flagged.push_back(i);
    }
  }
  return out;
}

core::Bytes half_bandwidth_message(const network::CurveFit& fit) {
  const double q = fit.saturation;
  return fit.alpha * fit.beta / std::pow(std::exp2(q) - 1, 1 / q);
}

std::vector<double> reading_errors(const network::CollectiveCurve& curve) {
  std::vector<double> errors;
  for (std::size_t i = 1; i + 1 < curve.points.size(); ++i) {
    network::CollectiveCurve rest = curve;
    rest.fit.reset();
    rest.points.erase(rest.points.begin() + static_cast<std::ptrdiff_t>(i));
    const auto& point = curve.points[i];
    errors.push_back(network::interpolate(rest, point.message) / point.time - 1);
  }
  return errors;
}

}  // namespace headway::fit

#include "calibrate/fit/power_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "calibrate/fit/figures.h"

namespace headway::fit {

namespace {

constexpr std::size_t kFewest = 5;
constexpr double kUsualPowerError = 0.01;  // clocks and powers repeat within a percent

Estimate of(const Solution& solution, std::size_t unknown) {
  return {solution.values[unknown], solution.standard_errors[unknown]};
}

}  // namespace

std::optional<Settling> fit_settling(std::span<const double> elapsed_s,
                                     std::span<const double> values,
                                     double most) {
  if (values.size() < kFewest || elapsed_s.size() != values.size()) {
    return std::nullopt;
  }
  const double begin = values.front();
  const double end = median(values.subspan(values.size() * 3 / 4));
  if (end > 0.99 * begin) {
    const Estimate flat = median_estimate(values);
    std::vector<double> errors;
    for (const double value : values) {
      errors.push_back(flat.value / value - 1);
    }
    return Settling{flat, flat, {}, root_mean_square(errors)};
  }
  const Model model = [&](std::span<const double> u, std::size_t i) {
    return u[1] + (u[0] - u[1]) * std::exp(-elapsed_s[i] / u[2]);
  };
  const double span = elapsed_s.back() - elapsed_s.front();
  const std::vector<Unknown> unknowns{
      {"first", begin, 0.5 * begin, most > begin ? most : 3 * begin},
      {"last", end, 0.2 * end, begin},
      {"settling", span / 5, span / 1000, span * 10}};
  const Solution solution = fit_in_log(model, values, unknowns, kUsualPowerError);
  return Settling{of(solution, 0), of(solution, 1), of(solution, 2),
                  root_mean_square(leave_one_out(model, values, unknowns, kUsualPowerError))};
}

std::optional<PowerLine> fit_power_line(std::span<const double> clocks_hz,
                                        std::span<const double> powers_w,
                                        double reference_hz) {
  if (clocks_hz.size() < kFewest || powers_w.size() != clocks_hz.size()) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax_element(clocks_hz.begin(), clocks_hz.end());
  if (*high < 1.05 * *low) {
    return std::nullopt;
  }
  const Model model = [&](std::span<const double> u, std::size_t i) {
    return u[0] + u[1] * std::pow(clocks_hz[i] / reference_hz, u[2]);
  };
  const double most = *std::max_element(powers_w.begin(), powers_w.end());
  const std::vector<Unknown> unknowns{{"static", 0.3 * most, 1e-3 * most, most},
                                      {"dynamic", 0.7 * most, 1e-3 * most, 3 * most},
                                      {"exponent", 2, 1, 4}};
  const Solution solution = fit_in_log(model, powers_w, unknowns, kUsualPowerError);
  return PowerLine{of(solution, 0), of(solution, 1), of(solution, 2),
                   root_mean_square(leave_one_out(model, powers_w, unknowns, kUsualPowerError))};
}

namespace {

/// One lasting load: the product that was sustained longest, 16 bits before others, with nothing
/// beside it. Clocks of different formats settle at different levels.
std::vector<const Sample*> lasting_product(std::span<const Sample> samples) {
  std::map<core::Precision, std::vector<const Sample*>> by_precision;
  for (const auto& sample : samples) {
    if (sample.kind == SampleKind::gemm && sample.elapsed_s > 0 && sample.clock_hz > 0 &&
        sample.beside.empty() && !sample.has(SampleFlag::wrong)) {
      by_precision[sample.precision].push_back(&sample);
    }
  }
  if (const auto usual = by_precision.find(core::Precision::bf16); usual != by_precision.end()) {
    return usual->second;
  }
  std::vector<const Sample*> longest;
  for (auto& [precision, series] : by_precision) {
    longest = series.size() > longest.size() ? std::move(series) : std::move(longest);
  }
  return longest;
}

}  // namespace

std::optional<PowerFit> fit_power(std::span<const Sample> samples) {
  std::vector<const Sample*> series = lasting_product(samples);
  std::stable_sort(series.begin(), series.end(),
                   [](const Sample* a, const Sample* b) { return a->elapsed_s < b->elapsed_s; });
  std::vector<double> elapsed;
  std::vector<double> clocks;
  std::vector<double> powers;
  for (const Sample* sample : series) {
    elapsed.push_back(sample->elapsed_s);
    clocks.push_back(sample->clock_hz);
    powers.push_back(sample->power_w);
  }
  double most = 0;
  for (const auto& sample : samples) {
    most = std::max(most, sample.clock_hz);
  }
  const auto settling = fit_settling(elapsed, clocks, most);
  if (!settling) {
    return std::nullopt;
  }
  const int count = static_cast<int>(series.size());
  PowerFit out;
  out.power.burst_clock = settling->first.value;
  out.power.sustained_clock = settling->last.value;
  out.power.settling = core::Seconds(settling->settling.value);
  const auto loo = settling->leave_one_out;
  out.figures = {figure("power.burst_clock", settling->first, "Hz", loo, count),
                 figure("power.sustained_clock", settling->last, "Hz", loo, count),
                 figure("power.settling", settling->settling, "s", loo, count)};
  const bool recorded = std::all_of(powers.begin(), powers.end(), [](double w) { return w > 0; });
  const auto line = recorded ? fit_power_line(clocks, powers, settling->first.value) : std::nullopt;
  if (line) {
    out.power.static_power = core::Watts(line->static_w.value);
    out.power.dynamic_power = core::Watts(line->dynamic_w.value);
    out.power.exponent = line->exponent.value;
    out.figures.push_back(
        figure("power.static_power", line->static_w, "W", line->leave_one_out, count));
    out.figures.push_back(
        figure("power.dynamic_power", line->dynamic_w, "W", line->leave_one_out, count));
    out.figures.push_back(figure("power.exponent", line->exponent, "", line->leave_one_out, count));
  }
  return out;
}

}  // namespace headway::fit

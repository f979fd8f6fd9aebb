#include "sim/study/diagnose/step_series.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headway::study {

namespace {

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// Median absolute deviation as a standard deviation of a normal distribution.
double robust_deviation(const std::vector<double>& values, double median) {
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  return 1.4826 * middle(std::move(distances));
}

void find_period(const std::vector<std::int64_t>& pauses, SeriesSummary& summary) {
  if (pauses.size() < 3) {
    return;
  }
  std::map<std::int64_t, int> gaps;
  for (std::size_t i = 1; i < pauses.size(); ++i) {
    ++gaps[pauses[i] - pauses[i - 1]];
  }
  const auto commonest = std::max_element(
      gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  summary.regularity =
      static_cast<double>(commonest->second) / static_cast<double>(pauses.size() - 1);
  if (summary.regularity > 0.5) {
    summary.period = commonest->first;
  }
}

/// Share of the time that the long lines add. Of regular ones over whole periods, from the first
/// long line on to the last: what is left of a log without its first lines has one too many or too
/// few else.
double share_of_pauses(const std::vector<SeriesStep>& lines,
                       const std::vector<std::int64_t>& pauses,
                       double limit,
                       const SeriesSummary& summary) {
  double lost = 0, all = 0;
  for (const SeriesStep& line : lines) {
    if (summary.period && (line.step <= pauses.front() || line.step > pauses.back())) {
      continue;
    }
    const double seconds = line.seconds * static_cast<double>(line.steps);
    all += seconds;
    lost += line.seconds > limit ? seconds - summary.median * static_cast<double>(line.steps) : 0;
  }
  return all > 0 ? lost / all : 0;
}

}  // namespace

SeriesSummary summarize_series(const std::vector<SeriesStep>& series) {
  const std::size_t warm = series.size() < 10 ? std::min<std::size_t>(1, series.size() / 2)
                                              : std::max<std::size_t>(2, series.size() / 10);
  const std::vector<SeriesStep> kept(series.begin() + static_cast<std::ptrdiff_t>(warm),
                                     series.end());
  SeriesSummary summary;
  summary.lines = kept.size();
  std::vector<double> times;
  std::vector<double> together;
  for (const SeriesStep& step : kept) {
    times.push_back(step.seconds);
    together.push_back(static_cast<double>(step.steps));
  }
  summary.median = middle(times);
  const double scatter = robust_deviation(times, summary.median);
  const double limit = summary.median + std::max(0.25 * summary.median, 6 * scatter);
  std::vector<std::int64_t> pauses;
  std::vector<double> usual;
  for (const SeriesStep& step : kept) {
    if (step.seconds > limit) {
      pauses.push_back(step.step);
    } else {
      usual.push_back(step.seconds);
    }
  }
  summary.together = together.empty() ? 1 : middle(std::move(together));
  summary.spread =
      robust_deviation(usual, middle(usual)) / summary.median * std::sqrt(summary.together);
  find_period(pauses, summary);
  summary.pauses = share_of_pauses(kept, pauses, limit, summary);
  return summary;
}

}  // namespace headway::study

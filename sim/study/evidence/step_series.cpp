#include "sim/study/evidence/step_series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "sim/study/evidence/step_states.h"

#include "calibrate/fit/least_squares.h"

namespace headway::study {

namespace {

/// Median absolute deviation as a standard deviation of a normal distribution.
double robust_deviation(const std::vector<double>& values, double median) {
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::abs(value - median));
  }
  return 1.4826 * fit::median(distances);
}

/// Lines to both sides of one that tell what is usual there.
constexpr std::size_t kAround = 10;

/// What each is above the median of those around it.
std::vector<double> beside_neighbours(const std::vector<double>& values) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t from = i - std::min(i, kAround);
    const std::size_t to = std::min(values.size(), i + kAround + 1);
    out.push_back(values[i] - fit::median(std::span(values).subspan(from, to - from)));
  }
  return out;
}

/// What the states before the last were beside it.
void compare_with_before(const std::vector<SeriesState>& states,
                         const std::vector<SeriesStep>& lines,
                         SeriesSummary& summary) {
  const double last = states.back().last;
  double lost = 0, all = 0;
  for (const SeriesState& state : states) {
    summary.slowed = summary.slowed || last > (1 + kLeastChange) * state.first;
    for (std::size_t i = state.begin; i < state.end; ++i) {
      const auto steps = static_cast<double>(lines[i].steps);
      all += steps * lines[i].seconds;
      lost += steps * std::max(0.0, state.first == state.last ? state.first - last : 0);
    }
  }
  summary.lost_before = lost / all;
}

/// The lines of the last state; those of a trend as they would be at its end.
std::vector<SeriesStep> as_they_are_last(const std::vector<SeriesStep>& lines,
                                         SeriesSummary& summary) {
  const std::vector<SeriesState> states = states_of(lines);
  const SeriesState& last = states.back();
  summary.change = words_of(states, lines);
  std::vector<SeriesStep> out(lines.begin() + static_cast<std::ptrdiff_t>(last.begin),
                              lines.begin() + static_cast<std::ptrdiff_t>(last.end));
  if (summary.change.empty()) {
    return out;
  }
  summary.since = out.front().step;
  compare_with_before(states, lines, summary);
  if (last.first != last.last) {
    const double n = static_cast<double>(out.size() - 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].seconds *= last.last / std::lerp(last.first, last.last, static_cast<double>(i) / n);
    }
    summary.since = out[out.size() - out.size() / 4].step;
  }
  return out;
}

void find_period(SeriesSummary& summary) {
  const std::vector<std::int64_t>& pauses = summary.paused;
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
                       double limit,
                       const SeriesSummary& summary) {
  double lost = 0, all = 0;
  for (const SeriesStep& line : lines) {
    if (summary.period &&
        (line.step <= summary.paused.front() || line.step > summary.paused.back())) {
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
  SeriesSummary summary;
  const std::vector<SeriesStep> kept =
      as_they_are_last({series.begin() + static_cast<std::ptrdiff_t>(warm), series.end()}, summary);
  summary.lines = kept.size();
  std::vector<double> times;
  std::vector<double> together;
  for (const SeriesStep& step : kept) {
    times.push_back(step.seconds);
    together.push_back(static_cast<double>(step.steps));
  }
  summary.median = fit::median(times);
  const double scatter = robust_deviation(times, summary.median);
  const double limit = summary.median + std::max(0.25 * summary.median, 6 * scatter);
  std::vector<double> usual;
  bool paused = false;
  for (const SeriesStep& step : kept) {
    if (step.seconds <= limit) {
      usual.push_back(step.seconds);
    } else if (!paused) {
      summary.paused.push_back(step.step);
    }
    paused = step.seconds > limit;
  }
  summary.together = together.empty() ? 1 : fit::median(together);
  summary.spread =
      robust_deviation(beside_neighbours(usual), 0) / summary.median * std::sqrt(summary.together);
  find_period(summary);
  summary.pauses = share_of_pauses(kept, limit, summary);
  return summary;
}

}  // namespace headway::study

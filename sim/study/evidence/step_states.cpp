#include "sim/study/evidence/step_states.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "sim/core/statistics.h"
#include "sim/core/text.h"

#include "calibrate/fit/least_squares.h"

namespace headway::study {

namespace {

/// Of so many lines and more levels are told apart; a shorter stretch is a pause.
constexpr std::size_t kLinesOfALevel = 8;
/// Blocks of lines that are looked at.
constexpr std::size_t kBlocks = 192;
/// Less scatter is as good as none: a thousandth of a step. Judged.
constexpr double kLeastNoise = 1e-3;

double distance_from(double level, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += std::abs(value - level);
  }
  return sum;
}

/// A line y = first + slope x over blocks.
struct Trend {
  double first = 0, slope = 0, cost = 0;
};

class StateFinder {
 public:
  explicit StateFinder(const std::vector<SeriesStep>& lines)
      : lines_(lines), block_((lines.size() + kBlocks - 1) / kBlocks) {
    for (std::size_t at = 0; at < lines.size(); at += block_) {
      blocks_.push_back(level_of(at, std::min(at + block_, lines.size())));
    }
    std::vector<double> differences;
    for (std::size_t i = 1; i < blocks_.size(); ++i) {
      differences.push_back(std::abs(blocks_[i] - blocks_[i - 1]));
    }
    // Of normal noise s differences of neighbours have the median 0.6745 sqrt(2) s, and the mean
    // distance from the middle is sqrt(2 / pi) s.
    const double noise = fit::median(differences) / (0.6745 * std::sqrt(2.0));
    scale_ = std::sqrt(2 / M_PI) * std::max(noise, kLeastNoise * fit::median(blocks_));
  }

  std::vector<SeriesState> find() {
    const double evidence = std::log(static_cast<double>(blocks_.size()));
    const double one = distance_from(fit::median(blocks_), blocks_) / scale_;
    const Trend trend = likeliest_trend();
    const double by_trend = trend.cost / scale_ + 1.5 * evidence;
    const double by_levels = divide(3 * evidence);
    const double change = trend.slope * static_cast<double>(blocks_.size() - 1);
    const std::vector<SeriesState> all{whole(fit::median(blocks_), 0)};
    if (by_trend < std::min(one, by_levels)) {
      return std::abs(change) < kLeastChange * trend.first
                 ? all
                 : std::vector{whole(trend.first, change)};
    }
    return by_levels < one ? levels() : all;
  }

 private:
  [[nodiscard]] SeriesState whole(double first, double change) const {
    return {0, lines_.size(), first, first + change};
  }

  [[nodiscard]] double level_of(std::size_t begin, std::size_t end) const {
    std::vector<double> values;
    for (std::size_t i = begin; i < end; ++i) {
      values.push_back(lines_[i].seconds);
    }
    return fit::median(values);
  }

  /// By the median of all slopes (Theil and Sen), which pauses do not move.
  [[nodiscard]] Trend likeliest_trend() const {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (std::size_t j = i + 1; j < blocks_.size(); ++j) {
        slopes.push_back((blocks_[j] - blocks_[i]) / static_cast<double>(j - i));
      }
    }
    Trend trend;
    trend.slope = fit::median(slopes);
    std::vector<double> flat;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      flat.push_back(blocks_[i] - trend.slope * static_cast<double>(i));
    }
    trend.cost = distance_from(trend.first = fit::median(flat), flat);
    return trend;
  }

  /// Divides the blocks where that is likeliest, by dynamic programming.
  /// @returns the cost with what changes pay
  double divide(double pays) {
    const std::size_t n = blocks_.size();
    const std::size_t least = std::max<std::size_t>(1, (kLinesOfALevel + block_ - 1) / block_);
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    from_.assign(n + 1, 0);
    best[0] = -pays;
    for (std::size_t begin = 0; begin < n; ++begin) {
      std::vector<double> sorted;
      for (std::size_t end = begin + 1; end <= n; ++end) {
        const double value = blocks_[end - 1];
        sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
        if (end - begin < least) {
          continue;
        }
        const double cost = best[begin] + pays +
                            distance_from(core::quantile_of_sorted(sorted, 0.5), sorted) / scale_;
        if (cost < best[end]) {
          best[end] = cost;
          from_[end] = begin;
        }
      }
    }
    return best[n];
  }

  [[nodiscard]] std::vector<SeriesState> levels() const {
    std::vector<SeriesState> states;
    for (std::size_t end = blocks_.size(); end > 0; end = from_[end]) {
      const std::size_t first = from_[end] * block_;
      const std::size_t last = std::min(end * block_, lines_.size());
      const double level = level_of(first, last);
      states.insert(states.begin(), {first, last, level, level});
    }
    while (join_the_nearest(states)) {
    }
    for (std::size_t i = 1; i < states.size(); ++i) {
      settle_border(states[i - 1], states[i]);
    }
    return states;
  }

  /// Joins the two neighbours that differ least, where that is no change.
  bool join_the_nearest(std::vector<SeriesState>& states) const {
    std::size_t nearest = 0;
    double least = kLeastChange;
    for (std::size_t i = 1; i < states.size(); ++i) {
      const double change = std::abs(std::log(states[i].first / states[i - 1].first));
      if (change < least) {
        least = change;
        nearest = i;
      }
    }
    if (nearest == 0) {
      return false;
    }
    SeriesState& joined = states[nearest - 1];
    joined.end = states[nearest].end;
    joined.first = joined.last = level_of(joined.begin, joined.end);
    states.erase(states.begin() + static_cast<std::ptrdiff_t>(nearest));
    return true;
  }

  /// A change need not be at the border of a block.
  void settle_border(SeriesState& before, SeriesState& after) const {
    const std::size_t from = std::max(before.begin + 1, before.end - std::min(before.end, block_));
    const std::size_t to = std::min(after.end - 1, after.begin + block_);
    double cost = 0, least = 0;
    std::size_t border = from;
    for (std::size_t i = from; i < to; ++i) {
      cost +=
          std::abs(lines_[i].seconds - before.first) - std::abs(lines_[i].seconds - after.first);
      if (cost < least) {
        least = cost;
        border = i + 1;
      }
    }
    before.end = after.begin = border;
  }

  const std::vector<SeriesStep>& lines_;
  std::size_t block_;           ///< lines
  std::vector<double> blocks_;  ///< medians of steps [s]
  double scale_ = 1;            ///< mean distance from the level [s]
  std::vector<std::size_t> from_;
};

}  // namespace

std::vector<SeriesState> states_of(const std::vector<SeriesStep>& lines) {
  if (lines.size() < 2 * kLinesOfALevel) {
    std::vector<double> values;
    for (const SeriesStep& line : lines) {
      values.push_back(line.seconds);
    }
    const double level = values.empty() ? 0 : fit::median(values);
    return {{0, lines.size(), level, level}};
  }
  return StateFinder(lines).find();
}

std::string words_of(const std::vector<SeriesState>& states, const std::vector<SeriesStep>& lines) {
  if (states.size() == 1 && states[0].first == states[0].last) {
    return "";
  }
  if (states.size() == 1) {
    const double change = states[0].last / states[0].first - 1;
    return fmt::format(
        "{} steadily from {} s at step {} to {} s at step {} ({:+.0f} %): a trend, no scatter",
        change > 0 ? "grew" : "fell", core::number(states[0].first), lines.front().step,
        core::number(states[0].last), lines.back().step, 100 * change);
  }
  constexpr std::size_t kTold = 4;
  std::string out;
  for (std::size_t i = states.size() - std::min(states.size() - 1, kTold); i < states.size(); ++i) {
    out += fmt::format("{} at step {} from {} s to {} s", out.empty() ? "changed" : ",",
                       lines[states[i].begin].step, core::number(states[i - 1].last),
                       core::number(states[i].first));
  }
  return states.size() > kTold + 1
             ? fmt::format("{}, after {} other changes", out, states.size() - 1 - kTold)
             : out;
}

}  // namespace headway::study

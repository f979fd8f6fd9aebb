// How long counted work will go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace headway::core {

/// Seconds until the rest of counted work is done, at the pace of the later half of what is done:
///     left = (total - done) (t - t') / (done - done'),  done' the last count of at most done / 2
/// The earlier half holds what only the beginning takes: a first trial that simulates the steps
/// which all others look up. Whoever counts makes parts of equal cost, or takes them in an order
/// whose beginning is like the rest (`spread_order`), and leaves out of `total` what will cost
/// nothing. Then it is right within 20 % once a tenth of the work is done
/// (tests/core/progress/time_left_test.cpp: counts of real calls).
class TimeLeft {
 public:
  /// @param elapsed  since the work began [s]
  /// @returns        nothing before a thirtieth of the work is done
  std::optional<double> told(std::size_t done, std::size_t total, double elapsed) {
    constexpr std::size_t kPartsBefore = 30;
    while (counts_.size() > 1 && 2 * counts_[1].done <= done) {
      counts_.pop_front();
    }
    const Count before = counts_.front();
    if (done > counts_.back().done) {
      counts_.push_back({elapsed, done});
    }
    if (done <= before.done || elapsed <= before.elapsed || done * kPartsBefore < total) {
      return std::nullopt;
    }
    return (elapsed - before.elapsed) * static_cast<double>(total - std::min(done, total)) /
           static_cast<double>(done - before.done);
  }

 private:
  struct Count {
    double elapsed;
    std::size_t done;
  };
  std::deque<Count> counts_{{0, 0}};
};

}  // namespace headway::core

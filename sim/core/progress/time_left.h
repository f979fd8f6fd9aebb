// How long counted work will go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace headway::core {

/// Seconds until the rest of counted work is done, at the mean rate of what is done:
///     left = elapsed (total - done) / done
/// Whoever counts makes parts of equal cost, or takes them in an order whose beginning is like the
/// rest (`spread_order`), and leaves out of `total` what will cost nothing. Then it is right within
/// 20 % once a tenth of the work is done (tests/core/progress/time_left_test.cpp: counts of real
/// calls).
/// @returns  nothing before the first part is done
inline std::optional<double> time_left(std::size_t done, std::size_t total, double elapsed) {
  if (done == 0 || elapsed <= 0) {
    return std::nullopt;
  }
  return elapsed * static_cast<double>(total - std::min(done, total)) / static_cast<double>(done);
}

}  // namespace headway::core

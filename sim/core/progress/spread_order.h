// In which order pieces of work are taken, so that the first of them are like the rest.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace headway::core {

/// Numbers below `count` in an order whose beginning comes from all over them: neighbours are often
/// alike, as points of a grid or runs of one source, and time that is left is told from the first.
/// i -> i step mod count, the step near the golden section of count and without a common divisor.
inline std::vector<std::size_t> spread_order(std::size_t count) {
  constexpr double kGoldenSection = 0.6180339887498949;  // Source: (sqrt(5) - 1) / 2
  auto step = static_cast<std::size_t>(kGoldenSection * static_cast<double>(count));
  while (std::gcd(step, count) != 1) {
    ++step;
  }
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    order[i] = i * step % count;
  }
  return order;
}

}  // namespace headway::core

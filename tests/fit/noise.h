// Noise for planted parameters: a test's own normal values, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace headway::fit {

/// `count` nearly normal values of mean 0 and deviation 1: sums of 12 uniform values, less 6.
inline std::vector<double> normal_noise(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 bits(seed);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = -6;
    for (int k = 0; k < 12; ++k) {
      sum += static_cast<double>(bits() >> 11U) * 0x1.0p-53;
    }
    out.push_back(sum);
  }
  return out;
}

}  // namespace headway::fit

// Counts what the program allocates, for tests of memory estimates. The operators are defined in
// estimate_test.cpp, for the whole test program.
#pragma once

#include <atomic>
#include <cstddef>

namespace headway::training {

/// Bytes that are allocated now, and the most that were since `begin`.
struct Allocations {
  static inline std::atomic<std::ptrdiff_t> now{0}, most{0};
  static void add(std::ptrdiff_t bytes) {
    const std::ptrdiff_t sum = now += bytes;
    std::ptrdiff_t seen = most;
    while (sum > seen && !most.compare_exchange_weak(seen, sum)) {
    }
  }
  /// @returns what is allocated now
  static std::ptrdiff_t begin() {
    most = now.load();
    return most;
  }
};

}  // namespace headway::training

// How long the program itself takes for the parts of a question.
#pragma once

#include <chrono>

#include "sim/core/units.h"

namespace headway::study {

/// Wall clock of the parts of a question; never part of a simulated result.
class Stopwatch {
 public:
  /// Since the last lap, or since it was made.
  [[nodiscard]] core::Seconds lap() {
    const auto now = std::chrono::steady_clock::now();
    const core::Seconds elapsed(std::chrono::duration<double>(now - last_).count());
    last_ = now;
    return elapsed;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace headway::study

// What a GPU's time went to, measured or predicted alike: the sums of HolisticTraceAnalysis.
#pragma once

#include <array>
#include <vector>

#include "sim/core/profile/gpu_work.h"

namespace headway::study {

/// A window of a GPU's time. Compute, non-compute and idle add up to the whole.
struct GpuTime {
  core::Seconds whole;
  core::Seconds compute;                              ///< a computation runs
  core::Seconds non_compute;                          ///< only communication or copies run
  core::Seconds idle;                                 ///< nothing runs
  core::Seconds communication;                        ///< a transfer runs, whatever runs beside it
  core::Seconds overlapped;                           ///< of that, a computation runs beside it
  std::array<core::Seconds, core::kGpuWorks> sums{};  ///< of all kernels of a kind, by GpuWork
  std::array<double, core::kGpuWorks> launches{};     ///< that begin in the window

  /// Overlapped / communication; nothing where there is none.
  [[nodiscard]] double overlap() const {
    return communication > core::Seconds(0) ? overlapped / communication : 0;
  }
  GpuTime& operator+=(const GpuTime& other);
  GpuTime& operator/=(double count);
};

/// The time from `begin` to `end`; spans that reach beyond are cut.
///     compute = integral of c(t),  non-compute = integral of (1 - c) n,  idle = of (1 - c)(1 - n)
/// where c is the share of its span that a computation is busy, at most 1 over all that run, and n
/// the same of transfers and copies. Source: the definitions of HolisticTraceAnalysis, temporal
/// breakdown, communication computation overlap and kernel breakdown, hta.readthedocs.io, 2024.
GpuTime gpu_time(const std::vector<core::GpuSpan>& spans, core::Seconds begin, core::Seconds end);

}  // namespace headway::study

// The score by which a node is retired: what is remembered of its failures.
#pragma once

#include <vector>

#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/failures/spare_spec.h"

namespace headway::failures {

/// A score in the ticks of a trial.
class RetireScore {
 public:
  RetireScore(const RetireScoreSpec& spec, core::Clock clock);

  /// One more failure at `now`; what counts no longer is dropped.
  void note(std::vector<core::Tick>& failures, core::Tick now) const;
  /// Sum over failures at t_i of
  ///     window w:     1 if now - t_i <= w, else 0
  ///     half-life h:  2^(-(now - t_i) / h)
  [[nodiscard]] double of(const std::vector<core::Tick>& failures, core::Tick now) const;
  [[nodiscard]] bool reached(const std::vector<core::Tick>& failures, core::Tick now) const {
    return of(failures, now) >= limit_;
  }

 private:
  double limit_;
  bool halves_;
  core::Tick memory_;  ///< window or half-life
};

/// Running time until a node that fails at `rate` (exponential) and is out for `repair` each time
/// is retired by two failures within `window`. A gap is short enough with the chance
///     p = 1 - e^(-rate (window - repair)),  0 where repairs outlast the window,
/// so it takes 1 + 1/p failures in the mean, each 1/rate of running after the last.
/// @returns infinity where p is 0
core::Seconds mean_time_to_second_in_window(core::PerSecond rate,
                                            core::Seconds window,
                                            core::Seconds repair);

/// Mean score of a node just after a failure, in the long run and if nobody retires it (Campbell's
/// theorem for shot noise): 1 + rate x half_life / ln 2, or 1 + rate x window.
double mean_score(core::PerSecond rate, const RetireScoreSpec& spec);

}  // namespace headway::failures

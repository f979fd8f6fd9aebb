// The steps of a log one after the other: what is usual, how far they scatter, when they pause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::study {

/// One line of a log: `steps` steps up to number `step` took `seconds` each.
struct SeriesStep {
  std::int64_t step = 0;
  std::int64_t steps = 1;
  double seconds = 0;
};

/// Of the last state of the steps, of a trend as if all steps were as long as the last.
struct SeriesSummary {
  double median = 0;      ///< of a step [s]
  double spread = 0;      ///< robust standard deviation of one step from those around it / median,
                          ///< pauses left out
  double pauses = 0;      ///< share of the time that pauses add, of regular ones over whole periods
  double regularity = 0;  ///< of the gaps between pauses, how many are the commonest one
  std::optional<std::int64_t> period;  ///< that gap in steps, where most are
  std::size_t lines = 0;               ///< that count: the first ones are left out
  double together = 1;                 ///< steps that a line is the mean of, median
  std::vector<std::int64_t> paused;    ///< steps of the lines that pause
  std::string change;      ///< "changed at step 85 from 1.72 s to 2.40 s"; empty: they stay alike
  std::int64_t since = 0;  ///< the step from which on they are as they are last
  bool slowed = false;     ///< on the way: they are slower than they once were
  double lost_before =
      0;  ///< share of the time of all lines that slower states before the last took
};

/// The first tenth (at least two lines where there are ten) warms up and is left out. A pause is a
/// line above the median by a quarter of it, and by six times the scatter; lines of which the one
/// before is one too are the same pause.
SeriesSummary summarize_series(const std::vector<SeriesStep>& series);

}  // namespace headway::study

// The steps of a log one after the other: what is usual, how far they scatter, when they pause.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace headway::study {

/// One line of a log: `steps` steps up to number `step` took `seconds` each.
struct SeriesStep {
  std::int64_t step = 0;
  std::int64_t steps = 1;
  double seconds = 0;
};

struct SeriesSummary {
  double median = 0;      ///< of a step [s]
  double spread = 0;      ///< robust standard deviation of one step / median, pauses left out
  double pauses = 0;      ///< share of the time that pauses add, of regular ones over whole periods
  double regularity = 0;  ///< of the gaps between pauses, how many are the commonest one
  std::optional<std::int64_t> period;  ///< that gap in steps, where most are
  std::size_t lines = 0;               ///< that count: the first ones are left out
  double together = 1;                 ///< steps that a line is the mean of, median
};

/// The first tenth (at least two lines where there are ten) warms up and is left out. A pause is a
/// line above the median by a quarter of it, and by six times the scatter.
SeriesSummary summarize_series(const std::vector<SeriesStep>& series);

}  // namespace headway::study

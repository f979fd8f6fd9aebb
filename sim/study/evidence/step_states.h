// Whether the steps of a log stayed as they were: states one after the other, or a trend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/study/evidence/step_series.h"

namespace headway::study {

/// A smaller change, relative, is no other state. Judged.
inline constexpr double kLeastChange = 0.03;

/// Lines in which steps stay as they are, or change steadily.
struct SeriesState {
  std::size_t begin = 0, end = 0;  ///< of the lines, the end is none of them
  double first = 0, last = 0;      ///< a step at both ends [s]: alike but of a trend
};

/// The likeliest of: one level, a steady trend, levels one after the other. Of a level or a line
/// the likelihood is that of Laplace's distribution, sum |x - level| / b with b from the
/// differences of neighbours, so pauses between steps, however long, are no change; a trend pays
/// 3/2 log n, a change, which has a place and a level, 3 log n (twice that of BIC: steps next to
/// each other are alike). Less than 3 % is no change. Of a long series blocks of lines are looked
/// at, by their medians.
/// @param lines  without those of the warm-up
/// @returns one state or more, rising; one of no lines where there are none
std::vector<SeriesState> states_of(const std::vector<SeriesStep>& lines);

/// "changed at step 85 from 1.72 s to 2.40 s a step", "grew steadily from ..."; empty: one level.
std::string words_of(const std::vector<SeriesState>& states, const std::vector<SeriesStep>& lines);

}  // namespace headway::study

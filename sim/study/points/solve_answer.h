// What `headway solve` found, in words.
#pragma once

#include "sim/study/points/solve.h"
#include "sim/study/verdict/assert.h"

namespace headway::study {

/// Which end of the figure's range a condition wants: -1 the low one, 1 the high one.
int wanted(const Assertion& condition);

/// Finds the answer among the points of a report, and says it: fills all that follows from them.
/// @param report  with its points, by value
void give_answer(const Assertion& condition, SolveReport& report);

}  // namespace headway::study

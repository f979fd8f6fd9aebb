// How long counted work will go on, told from counts of real calls.
#include "sim/core/progress/time_left.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace headway::core {
namespace {

/// At a moment, in seconds of processor time since the phase began, so many parts were done.
struct Told {
  double seconds;
  std::size_t done, total;
};
using Trace = std::vector<Told>;

// `--progress json`, thinned, from a tenth of the phase on; the last is its end. `run` of 20,000
// trials of Llama 3.1 405B; `sweep` of 256 points of 64 H100; `plan` of GPT-3 175B on 1,024 A100
// while it estimates layouts; `validate --quick --only m`.
const Trace kRun{{1.27, 2204, 20000},   {2.10, 3314, 20000},   {2.93, 4795, 20000},
                 {3.75, 6226, 20000},   {4.57, 7653, 20000},   {5.42, 8705, 20000},
                 {6.25, 10063, 20000},  {7.08, 11364, 20000},  {7.90, 12561, 20000},
                 {8.72, 13739, 20000},  {9.55, 15197, 20000},  {10.37, 16632, 20000},
                 {11.21, 17734, 20000}, {12.03, 18991, 20000}, {12.65, 20000, 20000}};
const Trace kSweep{{0.29, 31, 256},  {0.47, 53, 256},  {0.65, 72, 256},  {0.88, 90, 256},
                   {1.07, 105, 256}, {1.26, 127, 256}, {1.45, 142, 256}, {1.65, 156, 256},
                   {1.85, 172, 256}, {2.03, 191, 256}, {2.23, 205, 256}, {2.43, 229, 256},
                   {2.61, 247, 256}, {2.69, 256, 256}};
const Trace kPlan{{0.61, 27, 203},  {1.03, 35, 203},  {1.43, 50, 203},  {1.82, 62, 203},
                  {2.22, 72, 199},  {2.61, 82, 194},  {3.02, 93, 194},  {3.42, 104, 187},
                  {4.08, 111, 187}, {4.47, 120, 186}, {4.94, 129, 178}, {5.32, 141, 178},
                  {5.73, 154, 166}, {5.90, 164, 164}};
const Trace kValidate{{2.80, 26, 228},   {4.43, 53, 228},   {5.79, 58, 228},   {7.20, 63, 228},
                      {8.60, 103, 228},  {9.86, 117, 228},  {11.42, 131, 228}, {12.71, 163, 228},
                      {14.84, 189, 228}, {16.43, 198, 228}, {18.07, 224, 228}, {18.72, 228, 228}};

/// How far the end that is foretold is from the real one, as a share of the phase, at its worst.
double worst(const Trace& trace) {
  const double end = trace.back().seconds;
  double most = 0;
  for (const Told& told : trace) {
    const auto left = time_left(told.done, told.total, told.seconds);
    most = std::max(most, std::abs(told.seconds + left.value() - end) / end);
  }
  return most;
}

TEST(TimeLeft, IsRightWithinAFifthAfterATenthOfTheWork) {
  EXPECT_LT(worst(kRun), 0.2);
  EXPECT_LT(worst(kSweep), 0.2);
}

// The first shapes that a plan opens, and single rows of a table, cost several times the mean.
TEST(TimeLeft, IsNearWherePartsDifferMore) {
  EXPECT_LT(worst(kPlan), 0.25);
  EXPECT_LT(worst(kValidate), 0.4);
}

TEST(TimeLeft, IsNotKnownBeforeTheFirstPart) {
  EXPECT_FALSE(time_left(0, 10, 1));
  EXPECT_FALSE(time_left(1, 10, 0));
  EXPECT_EQ(time_left(1, 10, 2), 18);
  EXPECT_EQ(time_left(12, 10, 2), 0) << "more than was announced";
}

}  // namespace
}  // namespace headway::core

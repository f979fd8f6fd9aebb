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
// trials of Llama 3.1 405B; `sweep` of 256 points of 64 H100; `plan` of the 15 machines of
// configs/scenarios/choose-llama-8b.yaml; `validate` of all published runs.
const Trace kRun{{1.27, 2204, 20000},   {2.10, 3314, 20000},   {2.93, 4795, 20000},
                 {3.75, 6226, 20000},   {4.57, 7653, 20000},   {5.42, 8705, 20000},
                 {6.25, 10063, 20000},  {7.08, 11364, 20000},  {7.90, 12561, 20000},
                 {8.72, 13739, 20000},  {9.55, 15197, 20000},  {10.37, 16632, 20000},
                 {11.21, 17734, 20000}, {12.03, 18991, 20000}, {12.65, 20000, 20000}};
const Trace kSweep{{0.29, 31, 256},  {0.47, 53, 256},  {0.65, 72, 256},  {0.88, 90, 256},
                   {1.07, 105, 256}, {1.26, 127, 256}, {1.45, 142, 256}, {1.65, 156, 256},
                   {1.85, 172, 256}, {2.03, 191, 256}, {2.23, 205, 256}, {2.43, 229, 256},
                   {2.61, 247, 256}, {2.69, 256, 256}};
const Trace kPlan{{0.41, 547, 5000},  {0.62, 933, 5000},  {0.82, 1181, 5000}, {1.04, 1345, 5000},
                  {1.30, 1672, 5000}, {1.51, 2038, 5000}, {1.74, 2302, 5000}, {1.99, 2599, 5000},
                  {2.20, 2885, 5000}, {2.43, 3134, 5000}, {2.71, 3342, 5000}, {2.90, 3579, 5000},
                  {3.12, 3908, 5000}, {3.31, 4172, 5000}, {3.52, 4444, 5000}, {3.76, 4763, 5000},
                  {3.88, 5000, 5000}};
const Trace kValidate{{5.62, 127, 1471},   {7.96, 208, 1471},   {10.86, 286, 1471},
                      {14.30, 351, 1471},  {16.23, 418, 1471},  {20.56, 508, 1471},
                      {22.96, 570, 1471},  {25.42, 635, 1471},  {27.49, 705, 1471},
                      {30.52, 792, 1471},  {34.14, 898, 1471},  {37.66, 998, 1471},
                      {40.88, 1093, 1471}, {44.74, 1178, 1471}, {47.48, 1259, 1471},
                      {50.66, 1330, 1471}, {54.20, 1431, 1471}, {55.66, 1471, 1471}};

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
  EXPECT_LT(worst(kPlan), 0.2);
  EXPECT_LT(worst(kValidate), 0.2);
}

TEST(TimeLeft, IsNotKnownBeforeTheFirstPart) {
  EXPECT_FALSE(time_left(0, 10, 1));
  EXPECT_FALSE(time_left(1, 10, 0));
  EXPECT_EQ(time_left(1, 10, 2), 18);
  EXPECT_EQ(time_left(12, 10, 2), 0) << "more than was announced";
}

}  // namespace
}  // namespace headway::core

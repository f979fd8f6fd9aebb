// How long counted work will go on, told from counts of real calls.
#include "sim/core/progress/time_left.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace headway::core {
namespace {

/// At a moment, in seconds of processor time since the phase began, so many parts were done.
struct Moment {
  double seconds;
  std::size_t done, total;
};
using Trace = std::vector<Moment>;

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
// 1,000 trials of configs/scenarios/degraded-90-days-100k-h100.yaml on a busy machine: the first
// ones simulate the steps that the others look up, a quarter of the phase.
const Trace kDegraded{
    {8.05, 1, 1000},    {15.38, 10, 1000},  {18.15, 25, 1000},  {20.23, 43, 1000},
    {21.74, 61, 1000},  {23.27, 83, 1000},  {24.39, 107, 1000}, {25.58, 135, 1000},
    {26.69, 167, 1000}, {27.69, 200, 1000}, {28.95, 232, 1000}, {30.02, 268, 1000},
    {31.39, 303, 1000}, {32.49, 333, 1000}, {33.50, 368, 1000}, {34.87, 400, 1000},
    {36.33, 425, 1000}, {37.56, 452, 1000}, {38.88, 478, 1000}, {40.22, 511, 1000},
    {41.45, 539, 1000}, {42.71, 567, 1000}, {44.09, 593, 1000}, {45.41, 621, 1000},
    {46.56, 643, 1000}, {47.90, 667, 1000}, {49.31, 696, 1000}, {50.42, 732, 1000},
    {51.59, 765, 1000}, {52.69, 801, 1000}, {53.79, 829, 1000}, {54.89, 860, 1000},
    {56.00, 896, 1000}, {57.12, 932, 1000}, {58.21, 968, 1000}, {59.36, 1000, 1000}};

/// How far the end that is foretold is from the real one, as a share of the phase, at its worst.
double worst(const Trace& trace) {
  const double end = trace.back().seconds;
  double most = 0;
  TimeLeft time_left;
  for (const Moment& told : trace) {
    const auto left = time_left.told(told.done, told.total, told.seconds);
    if (10 * told.done >= told.total) {
      most = std::max(most, std::abs(told.seconds + left.value() - end) / end);
    }
  }
  return most;
}

TEST(TimeLeft, IsRightWithinAFifthAfterATenthOfTheWork) {
  EXPECT_LT(worst(kRun), 0.2);
  EXPECT_LT(worst(kSweep), 0.2);
  EXPECT_LT(worst(kPlan), 0.2);
  EXPECT_LT(worst(kValidate), 0.2);
}

// The mean pace of all that is done would be off by 2.7 times the phase.
TEST(TimeLeft, ForgetsWhatOnlyTheBeginningTakes) { EXPECT_LT(worst(kDegraded), 0.4); }

// Of 90 parts the first 30 take a second each, the others a third: at 60 the later half is all that
// counts.
TEST(TimeLeft, IsAtThePaceOfTheLaterHalf) {
  TimeLeft time_left;
  for (std::size_t done = 1; done <= 30; ++done) {
    const auto left = time_left.told(done, 90, static_cast<double>(done));
    ASSERT_EQ(left.has_value(), done >= 3) << "a thirtieth is done";
    EXPECT_DOUBLE_EQ(left.value_or(90.0 - static_cast<double>(done)),
                     90.0 - static_cast<double>(done));
  }
  EXPECT_DOUBLE_EQ(time_left.told(60, 90, 40).value(), 10);
}

TEST(TimeLeft, IsNotKnownBeforeAnythingIsDone) {
  TimeLeft time_left;
  EXPECT_FALSE(time_left.told(0, 10, 1));
  EXPECT_FALSE(time_left.told(1, 10, 0));
  EXPECT_EQ(time_left.told(1, 10, 2), 18);
  EXPECT_EQ(time_left.told(12, 10, 3), 0) << "more than was announced";
}

}  // namespace
}  // namespace headway::core

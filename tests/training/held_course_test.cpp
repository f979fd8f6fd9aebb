// Memory over a step in few moments.
#include "sim/training/explain/held_course.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/training/explain/timeline.h"
#include "sim/training/memory.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

HeldChange holds(std::int64_t from, double activations) {
  MemoryByKind held;
  held.weights = core::Bytes(100);
  held.activations = core::Bytes(activations);
  return {from, held};
}

TEST(HeldCourse, HasEveryMomentWhereTheyAreFew) {
  const HeldCourse course = held_course({holds(0, 1), holds(7, 3), holds(9, 2)}, 20);
  EXPECT_FALSE(course.fullest);
  EXPECT_EQ(course.from, (std::vector<std::int64_t>{0, 7, 9}));
  EXPECT_EQ(course.activations, (std::vector<std::int64_t>{1, 3, 2}));
  EXPECT_EQ(course.weights, (std::vector<std::int64_t>{100, 100, 100}));
}

// 600 moments of 1 us, windows of 10: the spike at 255 is in the window from 250 to 260 alone; what
// a window begins with is the last of the one before it.
TEST(HeldCourse, OfManyMomentsHasTheFullestOfEachWindow) {
  std::vector<HeldChange> changes;
  for (std::int64_t i = 0; i < 600; ++i) {
    changes.push_back(holds(i, i == 255 ? 7000 : i == 299 ? 50 : 1 + static_cast<double>(i % 2)));
  }
  const HeldCourse course = held_course(changes, 600);
  EXPECT_TRUE(course.fullest);
  ASSERT_EQ(course.from.size(), kMostMoments);
  EXPECT_EQ(course.from[25], 250);
  EXPECT_EQ(course.activations[24], 2);
  EXPECT_EQ(course.activations[25], 7000);
  EXPECT_EQ(course.activations[26], 2);
  EXPECT_EQ(course.activations[29], 50);
  EXPECT_EQ(course.activations[30], 50) << "carried in";
  EXPECT_EQ(course.activations[31], 2);
}

// The peak of a stage by kind is among the moments, to the byte.
TEST(HeldCourse, HoldsThePeakByKind) {
  Scenario scenario = eight_nodes();
  scenario.parallelism.pipeline = 4;
  const auto checked = check(scenario);
  const auto peaks = memory_of_stages(checked);
  const Timeline timeline = draw_step(checked).timeline;
  for (std::size_t s = 0; s < peaks.size(); ++s) {
    const HeldCourse& held = timeline.stages[s].held;
    const auto fullest = static_cast<std::size_t>(
        std::max_element(held.activations.begin(), held.activations.end()) -
        held.activations.begin());
    EXPECT_EQ(held.from.front(), 0);
    EXPECT_EQ(held.weights[fullest], std::llround(peaks[s].weights.si()));
    EXPECT_EQ(held.gradients[fullest], std::llround(peaks[s].gradients.si()));
    EXPECT_EQ(held.optimizer[fullest], std::llround(peaks[s].optimizer.si()));
    EXPECT_EQ(held.activations[fullest], std::llround(peaks[s].activations.si()));
    EXPECT_LT(held.activations.front(), held.activations[fullest]);
  }
}

}  // namespace
}  // namespace headway::training

// What GPUs hold pass by pass.
#include "sim/training/explain/held_memory.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/training/explain/timeline.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

CheckedScenario of(workload::ScheduleKind schedule, int virtual_stages = 1) {
  Scenario scenario = eight_nodes();
  scenario.parallelism.pipeline = 4;
  scenario.parallelism.schedule = schedule;
  scenario.parallelism.virtual_stages = virtual_stages;
  return check(scenario);
}

// The peak of a stage is what `memory` says: one mechanism, two readers.
TEST(HeldMemory, TheFullestPassOfAStageHoldsItsPeak) {
  using workload::ScheduleKind;
  for (const auto& checked : {of(ScheduleKind::one_f_one_b), of(ScheduleKind::gpipe),
                              of(ScheduleKind::interleaved, 2), of(ScheduleKind::zero_bubble_h1)}) {
    const auto peaks = memory_of_stages(checked);
    const Timeline timeline = draw_step(checked).timeline;
    ASSERT_EQ(timeline.stages.size(), peaks.size());
    for (std::size_t s = 0; s < peaks.size(); ++s) {
      const auto& held = timeline.stages[s].memory;
      EXPECT_EQ(*std::max_element(held.begin(), held.end()), std::llround(peaks[s].total().si()));
    }
  }
}

// 1F1B with m micro-batches on p stages: stage s holds at most min(m, p - s) of them, so the
// first stage gains with each of its first p - 1 passes and is back where it began in the end.
TEST(HeldMemory, GrowsWithEveryForwardPassAndGoesBack) {
  const auto checked = of(workload::ScheduleKind::one_f_one_b);
  HeldMemory first = held_memory(checked).front();
  const core::Bytes empty = first.now().total();
  const core::Bytes one = first.during({workload::WorkKind::forward, 0, 0}).total();
  EXPECT_GT(one, empty);
  const core::Bytes after_one = first.now().total();
  const core::Bytes two = first.during({workload::WorkKind::forward, 1, 0}).total();
  EXPECT_NEAR((two - one).si(), (after_one - empty).si(), 1e-6 * two.si());
  HeldMemory last = held_memory(checked).back();
  const core::Bytes before = last.now().total();
  (void)last.during({workload::WorkKind::forward, 0, 0});
  EXPECT_GT(last.now().total(), before);
  EXPECT_GE(last.during({workload::WorkKind::backward, 0, 0}).total(), last.now().total());
  EXPECT_EQ(last.now().total(), before) << "1F1B keeps nothing on the last stage";
}

TEST(HeldMemory, APassThatIsInNoScheduleIsOurFault) {
  HeldMemory first = held_memory(of(workload::ScheduleKind::one_f_one_b)).front();
  EXPECT_THROW((void)first.during({workload::WorkKind::forward, 999, 0}), core::InternalError);
}

}  // namespace
}  // namespace headway::training

#include "sim/training/explain/timeline.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;

std::size_t place(const Timeline& timeline, const std::string& name) {
  const auto found = std::find(timeline.names.begin(), timeline.names.end(), name);
  EXPECT_NE(found, timeline.names.end()) << name;
  return static_cast<std::size_t>(found - timeline.names.begin());
}

TEST(Timeline, SpansFollowOneAnotherWithoutAGap) {
  const auto checked = check(eight_nodes());
  const auto timeline = step_timeline(checked);
  const double end = simulate_step(checked).time.si() * 1e6;
  ASSERT_EQ(timeline.stages.size(), 4U);
  for (const auto& stage : timeline.stages) {
    std::int64_t now = 0;
    for (std::size_t i = 0; i < stage.begin.size(); ++i) {
      EXPECT_EQ(stage.begin[i], now);
      EXPECT_LE(stage.exposed[i], stage.length[i] + 1);
      now += stage.length[i];
    }
    EXPECT_LE(static_cast<double>(now), end + 1);
  }
}

// Every micro-batch goes forward and backward once through the one chunk of each stage.
TEST(Timeline, EveryMicroBatchPassesEveryStageBothWays) {
  const auto checked = check(eight_nodes());
  const auto timeline = step_timeline(checked);
  for (const auto& stage : timeline.stages) {
    for (const char* way : {"forward", "backward"}) {
      std::map<int, int> passes;
      for (std::size_t i = 0; i < stage.begin.size(); ++i) {
        if (stage.what[i] == static_cast<int>(place(timeline, way))) {
          ++passes[stage.micro_batch[i]];
          EXPECT_EQ(stage.chunk[i], 0);
        }
      }
      EXPECT_EQ(passes.size(), static_cast<std::size_t>(checked.micro_batches()))
          << way << " of stage " << stage.stage;
    }
  }
}

// What a stage waits for others, to the end of the step, is what the breakdown books as waits.
TEST(Timeline, WaitsAreThoseOfTheBreakdown) {
  const auto checked = check(eight_nodes());
  const auto timeline = step_timeline(checked);
  const auto step = simulate_step(checked);
  double waits = 0;
  for (const auto& stage : timeline.stages) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i < stage.begin.size(); ++i) {
      const bool waiting =
          stage.what[i] == static_cast<int>(place(timeline, "waiting for another stage"));
      waits += waiting ? static_cast<double>(stage.length[i]) * 1e-6 : 0;
      end = stage.begin[i] + stage.length[i];
    }
    waits += step.time.si() - static_cast<double>(end) * 1e-6;
  }
  const double booked = step.breakdown[Activity::pipeline_bubble].si() +
                        step.breakdown[Activity::stage_imbalance].si() +
                        step.breakdown[Activity::pipeline_p2p].si();
  EXPECT_NEAR(waits / 4, booked, 0.01 * step.time.si());
}

TEST(Timeline, ManySpansAreThinnedByWholeStages) {
  Scenario s = eight_nodes();
  s.training.global_batch =
      32768;  // 16,384 micro-batches of each replica: 2 x 16,384 spans a stage
  const auto timeline = step_timeline(check(s));
  EXPECT_GT(timeline.stages_left_out, 0);
  EXPECT_EQ(timeline.stages.size() + static_cast<std::size_t>(timeline.stages_left_out), 4U);
}

TEST(Timeline, MemoryOfStagesAddsUpToTheirPeaks) {
  const auto checked = check(eight_nodes());
  const auto stages = memory_of_stages(checked);
  const auto memory = predict_memory(checked);
  ASSERT_EQ(stages.size(), memory.stage_peak.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    EXPECT_DOUBLE_EQ(stages[s].total().si(), memory.stage_peak[s].si());
  }
  EXPECT_EQ(stages[static_cast<std::size_t>(memory.peak_stage)], memory.by_kind);
}

}  // namespace
}  // namespace headway::training

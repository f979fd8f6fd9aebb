// What pictures of a step leave out so that they stay small.
#include "sim/training/explain/timeline.h"

#include <gtest/gtest.h>
#include <map>

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// So many stages with so many spans each, of which each begins at its own number.
Timeline timeline_of(std::size_t stages, std::size_t spans) {
  Timeline timeline;
  for (std::size_t s = 0; s < stages; ++s) {
    StageTimeline stage;
    stage.stage = static_cast<int>(s);
    for (std::size_t i = 0; i < spans; ++i) {
      stage.begin.push_back(static_cast<std::int64_t>(i));
      for (auto* list : {&stage.length, &stage.exposed, &stage.memory}) {
        list->push_back(1);
      }
      for (auto* list : {&stage.what, &stage.micro_batch, &stage.chunk}) {
        list->push_back(0);
      }
    }
    timeline.stages.push_back(stage);
  }
  return timeline;
}

std::size_t spans_of(const Timeline& timeline) {
  std::size_t spans = 0;
  for (const auto& stage : timeline.stages) {
    spans += stage.begin.size();
    EXPECT_EQ(stage.begin.size(), stage.length.size());
    EXPECT_EQ(stage.begin.size(), stage.exposed.size());
    EXPECT_EQ(stage.begin.size(), stage.memory.size());
    EXPECT_EQ(stage.begin.size(), stage.what.size());
    EXPECT_EQ(stage.begin.size(), stage.micro_batch.size());
    EXPECT_EQ(stage.begin.size(), stage.chunk.size());
  }
  return spans;
}

TEST(Timeline, NeverHasMoreSpansThanAllowedAndAlwaysTheFirstAndTheLastStage) {
  constexpr std::size_t kMost = 60;
  for (std::size_t stages = 1; stages <= 20; ++stages) {
    for (const std::size_t spans : {1U, 2U, 3U, 7U, 20U, 30U, 31U, 60U, 61U, 500U}) {
      Timeline timeline = timeline_of(stages, spans);
      thin_out(kMost, timeline);
      const std::size_t left = spans_of(timeline);
      EXPECT_LE(left, kMost) << stages << " x " << spans;
      EXPECT_EQ(timeline.stages.front().stage, 0);
      EXPECT_EQ(timeline.stages.back().stage, static_cast<int>(stages) - 1);
      EXPECT_EQ(timeline.stages.size() + static_cast<std::size_t>(timeline.stages_left_out),
                stages);
      EXPECT_EQ(left + static_cast<std::size_t>(timeline.spans_left_out),
                spans * timeline.stages.size());
      if (spans * stages <= kMost) {
        EXPECT_EQ(timeline.stages_left_out, 0);
      }
    }
  }
}

// 7 stages of 20 spans, 80 allowed: every second is kept, which is the fewest left out.
TEST(Timeline, LeavesOutAsFewStagesAsItCan) {
  Timeline timeline = timeline_of(7, 20);
  thin_out(80, timeline);
  EXPECT_EQ(timeline.stages.size(), 4U);
  EXPECT_EQ(timeline.stages_left_out, 3);
  EXPECT_EQ(timeline.spans_left_out, 0);
}

// Other classes are shown where there is room beside the stages, the largest first.
TEST(Timeline, KeepsOtherClassesWhileThereIsRoom) {
  Timeline timeline = timeline_of(2, 20);
  timeline.others = timeline_of(3, 20).stages;
  timeline.others[0].ranks = 30;
  timeline.others[1].ranks = 8;
  timeline.others[2].ranks = 1;
  thin_out(85, timeline);
  EXPECT_EQ(timeline.stages.size(), 2U);
  ASSERT_EQ(timeline.others.size(), 2U);
  EXPECT_EQ(timeline.others[1].ranks, 8);
  EXPECT_EQ(timeline.others_left_out, 1);
}

// Every rank of the job is in one class of its stage.
TEST(Timeline, CountsEveryRankOnce) {
  Scenario scenario = eight_nodes();
  scenario.parallelism.pipeline = 4;
  for (const auto placement : {Placement::packed, Placement::random}) {
    scenario.cluster.placement = placement;
    const auto checked = check(scenario);
    const Timeline timeline = draw_step(checked).timeline;
    std::map<int, std::int64_t> ranks;
    for (const auto* list : {&timeline.stages, &timeline.others}) {
      for (const StageTimeline& stage : *list) {
        ranks[stage.stage] += stage.ranks;
        EXPECT_FALSE(stage.begin.empty());
      }
    }
    EXPECT_EQ(timeline.others_left_out, 0);
    EXPECT_EQ(ranks, (std::map<int, std::int64_t>{{0, 16}, {1, 16}, {2, 16}, {3, 16}}));
  }
}

}  // namespace
}  // namespace headway::training

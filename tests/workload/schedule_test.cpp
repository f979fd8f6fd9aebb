#include "sim/workload/schedule/schedule.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tuple>

#include "sim/core/error.h"
#include "sim/workload/closed_form.h"

#include "tests/workload/event_check.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using K = ScheduleKind;

PipelineRun run(K kind, int p, int v, int m, ItemTimes times) {
  return run_pipeline(kind, chunks_per_stage(kind, v), pipeline_schedule(kind, p, v, m), times);
}

struct Golden {
  int p, m;
  double equal, slow_last, delayed;
};

class OneFOneB : public testing::TestWithParam<Golden> {};

TEST_P(OneFOneB, TakesTheGoldenTimes) {
  const auto [p, m, equal, slow_last, delayed] = GetParam();
  EXPECT_DOUBLE_EQ(run(K::one_f_one_b, p, 1, m, equal_times(p, 1, 2)).end, equal);
  ItemTimes slow = equal_times(p, 1, 2);
  slow.forward.back() *= 1.25;
  slow.backward.back() *= 1.25;
  EXPECT_NEAR(run(K::one_f_one_b, p, 1, m, slow).end, slow_last, 0.5);
  ItemTimes late = equal_times(p, 1, 2);
  late.delay = 0.1;
  EXPECT_NEAR(run(K::one_f_one_b, p, 1, m, late).end, delayed, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         OneFOneB,
                         testing::Values(Golden{4, 8, 33, 39, 34.6},
                                         Golden{8, 32, 117, 141, 123.8},
                                         Golden{16, 64, 237, 285, 251.8}));

TEST(OneFOneB, WithUnequalStagesFollowsItsClosedForm) {
  ItemTimes times = equal_times(4, 1, 2);
  times.forward = {1, 1.5, 0.5, 2};
  times.backward = {2, 3, 1, 2.5};
  std::vector<StageTimes> stages;
  for (std::size_t s = 0; s < 4; ++s) {
    stages.push_back(
        {core::Seconds(times.forward[s]), core::Seconds(times.backward[s]), core::Seconds(0)});
  }
  EXPECT_NEAR(run(K::one_f_one_b, 4, 1, 16, times).end, unequal_pipeline_time(stages, 16).si(),
              1e-9);
}

// A slow early stage fills part of its neighbours' waits with warm-up forwards: the closed form is
// exact where the last stage is the slowest, and an upper bound, by less than a third, elsewhere.
TEST(OneFOneB, WithASlowEarlyStageIsShorterThanTheClosedForm) {
  for (const int p : {2, 4, 8}) {
    for (const int slow : {0, p / 2, p - 1}) {
      ItemTimes times = equal_times(p, 1, 2);
      times.forward[static_cast<std::size_t>(slow)] *= 3;
      times.backward[static_cast<std::size_t>(slow)] *= 3;
      std::vector<StageTimes> stages(static_cast<std::size_t>(p),
                                     {core::Seconds(1), core::Seconds(2), core::Seconds(0)});
      stages[static_cast<std::size_t>(slow)] = {core::Seconds(3), core::Seconds(6),
                                                core::Seconds(0)};
      const double bound = unequal_pipeline_time(stages, p).si();
      const double end = run(K::one_f_one_b, p, 1, p, times).end;
      EXPECT_LE(end, bound + 1e-9);
      EXPECT_LT(bound, 4.0 / 3 * end);
      EXPECT_EQ(bound - end < 1e-9, slow == p - 1) << p << " " << slow;
    }
  }
}

TEST(OneFOneB, PaysForTransfersAsItsClosedForm) {
  for (const auto& [p, m] : {std::pair{4, 8}, std::pair{8, 32}, std::pair{16, 64}}) {
    ItemTimes times = equal_times(p, 1, 2);
    times.delay = 0.1;
    const double added = run(K::one_f_one_b, p, 1, m, times).end - 3.0 * (m + p - 1);
    EXPECT_NEAR(added, exposed_transfer_time(p, m, core::Seconds(0.1)).si(), 1e-9);
  }
}

TEST(Schedules, TakeUsefulTimePlusTheirBubble) {
  for (const K kind : {K::gpipe, K::one_f_one_b, K::interleaved}) {
    for (const int p : {1, 2, 4, 8}) {
      for (const int v : {1, 2, 3}) {
        if (v > 1 && (kind != K::interleaved || p == 1)) {
          continue;
        }
        const int m = 3 * p;
        const StageTimes whole{core::Seconds(1), core::Seconds(2), core::Seconds(0)};
        const double end = run(kind, p, v, m, equal_times(p, 1.0 / v, 2.0 / v)).end;
        EXPECT_NEAR(end, 3.0 * m + pipeline_bubble(kind, p, v, whole).si(), 1e-9)
            << core::to_word(kind) << " p" << p << " v" << v;
      }
    }
  }
}

TEST(Schedules, HoldAsManyChunksAsTheirClosedForm) {
  for (const K kind : {K::gpipe, K::one_f_one_b, K::interleaved}) {
    for (const int v : {1, 2, 4}) {
      if (v > 1 && kind != K::interleaved) {
        continue;
      }
      for (const int m : {4, 8, 32}) {
        const PipelineRun result = run(kind, 4, v, m, equal_times(4, 1, 2));
        for (int stage = 0; stage < 4; ++stage) {
          EXPECT_EQ(result.in_flight[static_cast<std::size_t>(stage)],
                    chunks_in_flight(kind, 4, v, m, stage));
        }
      }
    }
  }
}

TEST(Schedules, DoEveryItemOnceAndNeverBlock) {
  for (const int p : {2, 3, 4, 8}) {
    for (const int v : {1, 2, 5}) {
      for (int m = p; m <= 3 * p; ++m) {
        const auto schedule = pipeline_schedule(K::interleaved, p, v, m);
        for (const StageSchedule& items : schedule) {
          EXPECT_EQ(items.size(), static_cast<std::size_t>(2 * m * v));
        }
        EXPECT_NO_THROW(run_pipeline(K::interleaved, v, schedule, equal_times(p, 1, 2)))
            << "p" << p << " v" << v << " m" << m;
      }
    }
  }
}

/// Longest time from a stage's first item to its last, with forward = input gradient = weight
/// gradient = 1 a chunk.
double longest_span(K kind, int p, int m) {
  ItemTimes times = equal_times(p, 1, 2);
  times.weight = 1;
  const PipelineRun result = run(kind, p, 1, m, times);
  return *std::max_element(result.stage_span.begin(), result.stage_span.end());
}

TEST(SplitBackward, LeavesTheBubbleOfThePapers) {
  for (const int p : {2, 4, 8, 16}) {
    for (const int m : {2 * p, 4 * p}) {
      EXPECT_DOUBLE_EQ(longest_span(K::zero_bubble_h1, p, m), 3 * m + p - 1);
      EXPECT_DOUBLE_EQ(longest_span(K::zero_bubble_h2, p, m), 3 * m);
      EXPECT_DOUBLE_EQ(longest_span(K::zero_bubble_v, p, m), 6 * m);
      const StageTimes one{core::Seconds(1), core::Seconds(2), core::Seconds(1)};
      const StageTimes two{core::Seconds(2), core::Seconds(4), core::Seconds(2)};
      EXPECT_DOUBLE_EQ(longest_span(K::dual_pipe, p, m),
                       3 * m + pipeline_bubble(K::dual_pipe, p, 1, one).si());
      EXPECT_DOUBLE_EQ(longest_span(K::dual_pipe_v, p, m),
                       6 * m + pipeline_bubble(K::dual_pipe_v, p, 1, two).si());
    }
  }
}

// ZB-H2 has no bubble where forward, input gradient and weight gradient last alike; else it has
// one, less than that of ZB-H1.
TEST(SplitBackward, ZeroBubbleH2HasABubbleWhereItsPartsDiffer) {
  for (const int p : {4, 8}) {
    const int m = 4 * p;
    ItemTimes times = equal_times(p, 1, 3);  // F = W = 1, B - W = 2
    times.weight = 1;
    const auto spans = run(K::zero_bubble_h2, p, 1, m, times).stage_span;
    const double longest = *std::max_element(spans.begin(), spans.end());
    EXPECT_GT(longest, 4 * m);
    EXPECT_LT(longest, 4 * m + (p - 1) * 2.0);
  }
}

// The published bubble holds where a forward lasts as long as an input gradient; where the input
// gradient is longer, it is an upper bound.
TEST(DualPipe, LeavesAtMostThePublishedBubbleWhateverItsPassesTake) {
  for (const auto& [f, input, w] : {std::tuple{2.0, 2.0, 1.0}, std::tuple{2.0, 3.0, 2.0},
                                    std::tuple{3.0, 4.0, 2.0}, std::tuple{1.0, 2.0, 0.5}}) {
    for (const int p : {2, 4, 8, 16}) {
      ItemTimes times = equal_times(p, f, input + w);
      times.weight = w;
      const int m = 4 * p;
      const double bubble = run(K::dual_pipe, p, 1, m, times).end - m * (f + input + w);
      const StageTimes pass{core::Seconds(f), core::Seconds(input + w), core::Seconds(w)};
      const double published = pipeline_bubble(K::dual_pipe, p, 1, pass).si();
      EXPECT_LE(bubble, published + 1e-9) << "p" << p;
      EXPECT_GE(bubble, f == input ? published - 1e-9 : 0.5 * published) << "p" << p;
    }
  }
}

// DualPipe of p stages is DualPipeV of p/2 twice, the second upside down: "cut in half".
TEST(DualPipe, IsDualPipeVOfHalfTheStagesMirrored) {
  for (const int p : {2, 4, 8}) {
    const auto whole = pipeline_schedule(K::dual_pipe, p, 1, 4 * p);
    const auto half = pipeline_schedule(K::dual_pipe_v, p / 2, 1, 2 * p);
    for (int stage = 0; stage < p / 2; ++stage) {
      StageSchedule mirrored = whole[static_cast<std::size_t>(p - 1 - stage)];
      for (WorkItem& item : mirrored) {
        item.chunk = 1 - item.chunk;
      }
      EXPECT_EQ(whole[static_cast<std::size_t>(stage)], half[static_cast<std::size_t>(stage)]);
      EXPECT_EQ(mirrored, half[static_cast<std::size_t>(stage)]);
    }
    ItemTimes times = equal_times(p, 1, 2.5);
    times.weight = 0.75;
    times.delay = 0.125;
    ItemTimes fewer = equal_times(p / 2, 1, 2.5);
    fewer.weight = times.weight;
    fewer.delay = times.delay;
    // In the middle DualPipe sends what DualPipeV hands on at once.
    EXPECT_GE(run(K::dual_pipe, p, 1, 4 * p, times).end,
              run(K::dual_pipe_v, p / 2, 1, 2 * p, fewer).end);
    times.delay = fewer.delay = 0;
    EXPECT_EQ(run(K::dual_pipe, p, 1, 4 * p, times).end,
              run(K::dual_pipe_v, p / 2, 1, 2 * p, fewer).end);
  }
}

TEST(DualPipe, SendsHalfOfTheMicroBatchesEachWay) {
  for (const StageSchedule& items : pipeline_schedule(K::dual_pipe, 4, 1, 12)) {
    for (const int chunk : {0, 1}) {
      int forward = 0, input = 0, weight = 0;
      for (const WorkItem& item : items) {
        if (item.chunk == chunk) {
          const bool whole = item.kind == WorkKind::backward;
          forward += item.kind == WorkKind::forward ? 1 : 0;
          input += whole || item.kind == WorkKind::input_gradient ? 1 : 0;
          weight += whole || item.kind == WorkKind::weight_gradient ? 1 : 0;
        }
      }
      EXPECT_EQ(forward, 6);
      EXPECT_EQ(input, 6);
      EXPECT_EQ(weight, 6);
    }
  }
}

TEST(DualPipe, AsksForTwoMicroBatchesAStageAndEvenNumbers) {
  EXPECT_THAT(texts(schedule_problems(K::dual_pipe, 4, 1, 8)), testing::IsEmpty());
  EXPECT_THAT(
      texts(schedule_problems(K::dual_pipe, 3, 1, 8)),
      testing::ElementsAre(
          "schedule dualpipe needs an even number of stages and of micro-batches; here 3 and 8"));
  EXPECT_THAT(
      texts(schedule_problems(K::dual_pipe, 4, 1, 9)),
      testing::ElementsAre(
          "schedule dualpipe needs an even number of stages and of micro-batches; here 4 and 9"));
  EXPECT_THAT(
      texts(schedule_problems(K::dual_pipe, 4, 1, 6)),
      testing::ElementsAre(
          "schedule dualpipe needs at least twice as many micro-batches as stages; here 6 and 4"));
  EXPECT_THAT(
      texts(schedule_problems(K::dual_pipe, 4, 2, 8)),
      testing::ElementsAre(
          "schedule dualpipe takes no virtual stages; write virtual: 1 or schedule: interleaved"));
}

TEST(DualPipe, SaysAllThatIsWrongAtOnce) {
  EXPECT_THAT(
      texts(schedule_problems(K::dual_pipe, 8, 2, 9)),
      testing::ElementsAre(
          "schedule dualpipe takes no virtual stages; write virtual: 1 or schedule: interleaved",
          "schedule dualpipe needs an even number of stages and of micro-batches; here 8 and 9",
          "schedule dualpipe needs at least twice as many micro-batches as stages; here 9 and 8"));
  EXPECT_THAT(
      paths(schedule_problems(K::dual_pipe, 8, 2, 9)),
      testing::ElementsAre("parallelism.virtual", "parallelism.schedule", "parallelism.schedule"));
}

TEST(SplitBackward, HoldsNoMoreThanThePapersSay) {
  for (const K kind :
       {K::zero_bubble_h1, K::zero_bubble_h2, K::zero_bubble_v, K::dual_pipe, K::dual_pipe_v}) {
    const PipelineRun result = run(kind, 8, 1, 32, equal_times(8, 1, 2));
    const int most = *std::max_element(result.in_flight.begin(), result.in_flight.end());
    EXPECT_EQ(most, chunks_in_flight(kind, 8, 1, 32, 0)) << core::to_word(kind);
  }
}

TEST(SplitBackward, DoesEachHalfOnce) {
  for (const K kind : {K::zero_bubble_h1, K::zero_bubble_h2, K::zero_bubble_v, K::dual_pipe_v}) {
    for (const int m : {8, 11}) {
      const int chunks = chunks_per_stage(kind, 1);
      for (const StageSchedule& items : pipeline_schedule(kind, 4, 1, m)) {
        int forward = 0, input = 0, weight = 0;
        for (const WorkItem& item : items) {
          const bool whole = item.kind == WorkKind::backward;
          forward += item.kind == WorkKind::forward ? 1 : 0;
          input += whole || item.kind == WorkKind::input_gradient ? 1 : 0;
          weight += whole || item.kind == WorkKind::weight_gradient ? 1 : 0;
        }
        EXPECT_EQ(forward, m * chunks);
        EXPECT_EQ(input, m * chunks);
        EXPECT_EQ(weight, m * chunks);
      }
    }
  }
}

TEST(SplitBackward, NeedsNoMicroBatchesToSpareExceptInDualPipe) {
  for (int m = 1; m < 8; ++m) {
    EXPECT_NO_THROW(longest_span(K::zero_bubble_h1, 4, m)) << m;
    EXPECT_NO_THROW(longest_span(K::zero_bubble_h2, 4, m)) << m;
    EXPECT_NO_THROW(longest_span(K::zero_bubble_v, 4, m)) << m;
    EXPECT_THROW(pipeline_schedule(K::dual_pipe_v, 4, 1, m), core::Error);
  }
}

TEST(Schedules, RefuseWhatDoesNotExist) {
  EXPECT_THROW(pipeline_schedule(K::gpipe, 4, 2, 8), core::Error);
  EXPECT_THROW(pipeline_schedule(K::one_f_one_b, 4, 1, 0), core::Error);
  EXPECT_THAT(texts(schedule_problems(K::interleaved, 1, 2, 8)),
              testing::ElementsAre("virtual stages need at least 2 pipeline stages"));
}

}  // namespace
}  // namespace headway::workload

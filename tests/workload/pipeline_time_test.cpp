#include "sim/workload/schedule/pipeline_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace headway::workload {
namespace {

/// Equal stages: forward f, backward b for all chunks of a stage together, c a message.
PipelineTimes equal(int stages, int chunks, double f, double b, double c) {
  PipelineTimes times;
  times.chunks.assign(static_cast<std::size_t>(stages * chunks),
                      {f / chunks, b / chunks, 0, f / chunks, b / chunks});
  times.ready.assign(static_cast<std::size_t>(stages), 0);
  times.message.assign(static_cast<std::size_t>(stages), c);
  return times;
}

double step(const PipelineOrder& order, const PipelineTimes& times, int more = 0) {
  std::vector<double> scratch, ends;
  order.stage_ends(times, more, scratch, ends);
  return *std::max_element(ends.begin(), ends.end());
}

// (m + p - 1)(f + b) with f = 1, b = 2: the golden values 33 and 117.
TEST(PipelineTime, OfEqualStagesIsTheKnownFormula) {
  const PipelineOrder small(ScheduleKind::one_f_one_b, 4, 1, 8);
  EXPECT_DOUBLE_EQ(step(small, equal(4, 1, 1, 2, 0)), 33);
  const PipelineOrder large(ScheduleKind::one_f_one_b, 8, 1, 32);
  EXPECT_DOUBLE_EQ(step(large, equal(8, 1, 1, 2, 0)), 117);
  const PipelineOrder gpipe(ScheduleKind::gpipe, 4, 1, 16);
  EXPECT_DOUBLE_EQ(step(gpipe, equal(4, 1, 1, 2, 0), 24), (40 + 3) * 3);
}

// A micro-batch goes down and up the pipeline once a round of p micro-batches, and the longest way
// through the last round turns back between every two stages once more: (m + p - 1)(f + b) + 2 (p -
// 1) c m / p + 2 (p - 2) c.
TEST(PipelineTime, OneForwardOneBackwardPaysForMessagesOnceARound) {
  for (const int m : {4, 8, 32}) {
    const PipelineOrder order(ScheduleKind::one_f_one_b, 4, 1, m);
    EXPECT_NEAR(step(order, equal(4, 1, 1, 2, 0.1)),
                (m + 3) * 3 + 2 * 3 * 0.1 * m / 4 + 2 * 2 * 0.1, 1e-9)
        << m;
  }
}

// m (f + b) + (p - 1)(f + b) / v + 2 (v p - 1) c: messages show while the pipeline fills and
// drains.
TEST(PipelineTime, InterleavedHidesMessagesBetweenFillAndDrain) {
  for (const int m : {8, 16, 64}) {
    const PipelineOrder order(ScheduleKind::interleaved, 8, 4, m);
    EXPECT_NEAR(step(order, equal(8, 4, 1, 2, 0.02)), 3 * m + 7 * 3.0 / 4 + 2 * 31 * 0.02, 1e-9)
        << m;
  }
}

TEST(PipelineTime, FirstAndLastPassesTakeTheirOwnTimes) {
  auto times = equal(2, 1, 1, 2, 0);
  times.chunks[0] = {1, 2, 0, 1.5, 2.25};
  times.ready[0] = 0.5;
  // 0.5 + 1.5 + [stage 1: (1 + 2) x 2 micro-batches] + 2.25
  EXPECT_DOUBLE_EQ(step(PipelineOrder(ScheduleKind::one_f_one_b, 2, 1, 2), times),
                   0.5 + 1.5 + 6 + 2.25);
}

/// Unequal ends, messages up to 0.1 of a stage's pass.
PipelineTimes random_times(int stages, int chunks, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const double b = 1.2 + 2 * unit(random);
  auto times = equal(stages, chunks, 1, b, 0.1 * unit(random) * (1 + b) / chunks);
  const double head = 0.4 * unit(random) * (1 + b), embedding = 0.1 * unit(random) * (1 + b);
  for (const Pass pass :
       {Pass::forward, Pass::first_forward, Pass::backward, Pass::last_backward}) {
    const double share = pass == Pass::forward || pass == Pass::first_forward ? 0.3 : 0.7;
    times.chunks.front()[static_cast<std::size_t>(pass)] += share * embedding;
    times.chunks.back()[static_cast<std::size_t>(pass)] += share * head;
  }
  return times;
}

// Long steps are continued from their beginning; every micro-batch one by one is the reference.
TEST(PipelineTime, ContinuesLongStepsWithinAPercent) {
  std::mt19937 random(7);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    const int stages = 2 << (i % 4);
    const int chunks = 1 + i / 4 % 4;
    const int m = stages * (4 + i % 7) + (chunks == 1 ? i % stages : 0);
    const ScheduleKind schedule =
        chunks == 1 ? ScheduleKind::one_f_one_b : ScheduleKind::interleaved;
    const int few = evaluated_micro_batches(schedule, stages, m);
    const PipelineOrder order(schedule, stages, chunks, few);
    const PipelineOrder whole(schedule, stages, chunks, m);
    const auto times = random_times(stages, chunks, random);
    worst = std::max(worst, std::abs(step(order, times, m - few) / step(whole, times) - 1));
  }
  EXPECT_LT(worst, 0.01);
}

// Stage s ends its first backward after the forwards and backwards on its way: (p + (p - s) b) with
// f = 1.
// Layouts that are evaluated together have the bits that each has alone.
TEST(PipelineTime, OfSeveralLayoutsIsThatOfEach) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> seconds(0.1, 3);
  const int stages = 4, chunks = 2, more = 8;
  const PipelineOrder order(ScheduleKind::interleaved, stages, chunks, 16);
  std::array<PipelineTimes, PipelineOrder::kTogether> times;
  std::array<const PipelineTimes*, PipelineOrder::kTogether> all{};
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k].chunks.resize(static_cast<std::size_t>(stages) * chunks);
    for (PassTimes& passes : times[k].chunks) {
      std::generate(passes.begin(), passes.end(), [&] { return seconds(random); });
    }
    for (int stage = 0; stage < stages; ++stage) {
      times[k].ready.push_back(seconds(random));
      times[k].message.push_back(k == 1 ? 0 : seconds(random));
    }
    all[k] = &times[k];
  }
  std::vector<double> scratch, together;
  order.stage_ends(all, more, scratch, together);
  ASSERT_EQ(together.size(), times.size() * stages);
  for (std::size_t k = 0; k < times.size(); ++k) {
    std::vector<double> own, ends;
    order.stage_ends(times[k], more, own, ends);
    for (int stage = 0; stage < stages; ++stage) {
      const auto place = static_cast<std::size_t>(stage);
      EXPECT_EQ(together[k * stages + place], ends[place]) << k << ", " << stage;
      EXPECT_EQ(order.first_backward_end(scratch, stage, times.size(), k),
                order.first_backward_end(own, stage));
    }
  }
}

TEST(PipelineTime, TellsWhenEachStageEndsItsFirstBackward) {
  const PipelineOrder order(ScheduleKind::one_f_one_b, 4, 1, 8);
  std::vector<double> scratch, ends;
  order.stage_ends(equal(4, 1, 1, 2, 0), 0, scratch, ends);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_DOUBLE_EQ(order.first_backward_end(scratch, stage), 4 + (4 - stage) * 2) << stage;
  }
}

// ZB-H1 with equal thirds: the drain of (p - 1)(f + b + w) shrinks to (p - 1)(f + b - w) (Qi et al.
// 2023, table 2).
TEST(PipelineTime, ZeroBubbleFillsTheDrainWithWeightGradients) {
  PipelineTimes times;
  times.chunks.assign(4, {1, 1, 1, 1, 1});
  times.ready.assign(4, 0);
  times.message.assign(4, 0);
  const double zero_bubble = step(PipelineOrder(ScheduleKind::zero_bubble_h1, 4, 1, 12), times);
  EXPECT_DOUBLE_EQ(zero_bubble, 12 * 3 + 3 * (1 + 1 - 1));
}

}  // namespace
}  // namespace headway::workload

// An optimizer that lives on the host: bytes that leave the GPU, seconds that the copies and the
// CPUs take.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/explain/explain.h"
#include "sim/training/step/step.h"
#include "sim/workload/memory/activation_memory.h"

#include "tests/training/fixture.h"

namespace headway::training {

using analytic::AnalyticTier;

namespace {

Scenario offloaded() {
  Scenario s = eight_nodes();
  s.parallelism.offload = workload::Offload::optimizer;
  return s;
}

// 12 B a parameter leave the GPU, no more and no less, and are found on the host, once for each of
// its 8 GPUs.
TEST(Offload, MovesMasterWeightsAndMomentsToTheHost) {
  const auto kept = predict_memory(check(eight_nodes()));
  const auto moved = predict_memory(check(offloaded()));
  EXPECT_GT(kept.by_kind.optimizer.si(), 0);
  EXPECT_EQ(moved.by_kind.optimizer.si(), 0);
  EXPECT_EQ(kept.host_peak.si(), 0);
  EXPECT_LT(moved.peak, kept.peak);
  EXPECT_GE(moved.host_peak.si(),
            8 * kept.by_kind.optimizer.si());  // the peak stage is not the largest on the host
}

// Per updated parameter: 4 B of gradient at the host link, 4 + 26 B in host memory (of which a GPU
// has an eighth of 80 %), 2 B back; instead of 30 B in GPU memory. The step grows by just that:
// every stage updates after the last backward, and the stage with the most parameters ends last.
TEST(Offload, CostsTheCopiesAndTheUpdateOnTheHost) {
  const auto on_gpu = eight_nodes();
  const core::Seconds kept = simulate_step(check(on_gpu)).time;
  const core::Seconds moved = simulate_step(check(offloaded())).time;
  const double parameters = predict_memory(check(offloaded())).host_peak.si() / 8 / 12;
  const auto& node = on_gpu.cluster.node;
  const double host = parameters * (4 + 2) / node.gpu.host_bandwidth.si() +
                      parameters * 30 / (node.host_memory_bandwidth.si() * 0.8 / 8);
  const double gpu = parameters * 30 / (node.gpu.memory_bandwidth.si() * node.gpu.sustained.memory);
  EXPECT_NEAR((moved - kept).si() / (host - gpu), 1, 0.01);
}

TEST(Offload, AHostWithoutTheMemoryDoesNotFit) {
  auto s = offloaded();
  s.cluster.node.host_memory = core::Bytes(1e9);
  const auto memory = predict_memory(check(s));
  EXPECT_LE(memory.peak, memory.capacity);
  EXPECT_FALSE(memory.fits);
}

/// One node, one stage of 16 layers, four micro-batches, no data parallelism.
Scenario one_stage(workload::Offload offload) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 1;
  s.parallelism.pipeline = 1;
  s.training.global_batch = 4;
  s.parallelism.offload = offload;
  return s;
}

Scenario with_link(Scenario s, double bytes_per_second) {
  s.cluster.node.gpu.host_bandwidth = core::BytesPerSecond(bytes_per_second);
  s.cluster.node.host_memory_bandwidth = core::BytesPerSecond(1e15);
  return s;
}

// Copies shorter than the layers beside them cost nothing, to the tick.
TEST(OffloadOfActivations, IsFreeWhereTheLayersHideTheCopies) {
  const auto without = simulate_step(check(with_link(one_stage(workload::Offload::none), 1e15)));
  const auto with =
      simulate_step(check(with_link(one_stage(workload::Offload::activations), 1e15)));
  EXPECT_EQ(with.time, without.time);
  EXPECT_LT(with.memory.peak, without.memory.peak);
}

// Where copies c are longer than the layers f and b beside them, a micro-batch waits
// (n - 1) ((c - f) + (c - b)) longer: from one link to a slower one its time grows by 2 (n - 1)
// times the difference of the copies.
TEST(OffloadOfActivations, ExposesWhatACopyIsLongerThanTheLayerBesideIt) {
  const double kept = workload::saved_per_layer(one_stage({}).model, one_stage({}).training,
                                                one_stage({}).parallelism)
                          .si();
  const double slow = 2e9;
  const auto seconds = [&](double link) {
    return simulate_step(check(with_link(one_stage(workload::Offload::activations), link)))
        .time.si();
  };
  const double grown = 4 * 2 * 15 * (kept / slow - kept / (2 * slow));
  EXPECT_NEAR((seconds(slow) - seconds(2 * slow)) / grown, 1, 1e-6);
}

// Half of the layers: each copy has two layers beside it, and 8 of them go both ways.
TEST(OffloadOfActivations, OfFewerLayersHasMoreTimeForEachCopy) {
  const double kept = workload::saved_per_layer(one_stage({}).model, one_stage({}).training,
                                                one_stage({}).parallelism)
                          .si();
  const double slow = 1e9;
  const auto seconds = [&](double link) {
    Scenario s = with_link(one_stage(workload::Offload::activations), link);
    s.parallelism.offload_layers = 8;
    return simulate_step(check(s)).time.si();
  };
  const double grown = 4 * 2 * 8 * (kept / slow - kept / (2 * slow));
  EXPECT_NEAR((seconds(slow) - seconds(2 * slow)) / grown, 1, 1e-6);
}

// The optimizer's copies follow the last backward, when no copy of activations is left.
TEST(OffloadOfActivations, AndOfTheOptimizerAddUp) {
  const auto seconds = [](workload::Offload offload) {
    return simulate_step(check(with_link(one_stage(offload), 2e9))).time.si();
  };
  using workload::Offload;
  EXPECT_NEAR(seconds(Offload::all) - seconds(Offload::activations),
              seconds(Offload::optimizer) - seconds(Offload::none), 1e-9);
}

// 8 GPUs that copy at once share 80 % of the host's memory: here 2 GB/s each, below the link.
TEST(OffloadOfActivations, IsHeldToTheShareOfTheHostsMemory) {
  Scenario wide = with_link(one_stage(workload::Offload::activations), 2e9);
  Scenario narrow = with_link(one_stage(workload::Offload::activations), 25e9);
  narrow.cluster.node.host_memory_bandwidth = core::BytesPerSecond(2e9 * 8 / 0.8);
  EXPECT_EQ(simulate_step(check(wide)).time, simulate_step(check(narrow)).time);
}

TEST(OffloadOfActivations, WaitsAreBookedUnderOtherAndTheBreakdownAddsUp) {
  Scenario s = eight_nodes();
  s.parallelism.offload = workload::Offload::activations;
  const StepResult step = simulate_step(check(with_link(s, 2e9)));
  double sum = 0;
  for (const core::Seconds part : step.breakdown.values) {
    sum += part.si();
  }
  EXPECT_NEAR(sum / step.time.si(), 1, 1e-9);
  EXPECT_GT(step.breakdown[core::Activity::other].si(), 0.1 * step.time.si());
  EXPECT_EQ(simulate_step(check(eight_nodes())).breakdown[core::Activity::other].si(), 0);
}

TEST(OffloadOfActivations, IsExplainedByItsCopies) {
  Scenario s = eight_nodes();
  s.parallelism.offload = workload::Offload::activations;
  const Explanation why = explain_step(check(with_link(s, 2e9)), 10);
  const auto found = std::find_if(why.largest.begin(), why.largest.end(), [](const auto& c) {
    return c.what.starts_with("activations to host") || c.what.starts_with("activations from host");
  });
  ASSERT_NE(found, why.largest.end());
  EXPECT_THAT(found->formula, testing::HasSubstr("B / (2 GB/s x 1.00) + gap 2 us"));
  // The path runs along the whole copy; what it exposes is less than that.
  EXPECT_THAT(found->what, testing::HasSubstr(": the whole copy"));
  EXPECT_THAT(found->formula,
              testing::ContainsRegex("from its start to its end, .* of it waited for"));
  EXPECT_THAT(found->change, testing::HasSubstr("fewer offload_layers"));
  EXPECT_EQ(why.sensitivities.size(), 9U);
}

TEST(OffloadOfActivations, CountsTheHostsMemory) {
  Scenario s = one_stage(workload::Offload::activations);
  const double kept = workload::saved_per_layer(s.model, s.training, s.parallelism).si();
  const MemoryResult memory = predict_memory(check(s));
  EXPECT_DOUBLE_EQ(memory.host_peak.si(), 8 * 15 * kept);
  EXPECT_TRUE(memory.fits);
  s.cluster.node.host_memory = core::Bytes(8 * 14 * kept);
  EXPECT_FALSE(predict_memory(check(s)).fits);
}

/// A random layout with offload, or nothing where the draw breaks a rule.
std::optional<CheckedScenario> random_offload(std::mt19937& random) {
  const auto pick = [&random](auto... choices) {
    const std::array list{choices...};
    return list[random() % list.size()];
  };
  using workload::Sharding;
  Scenario s = with_link(eight_nodes(), pick(1e9, 4e9, 25e9, 200e9));
  s.cluster.nodes = pick(1, 2, 4);
  s.model.layers = pick(16, 24);
  s.training.global_batch = pick(32, 64);
  s.training.framework.data_overlap = pick(true, false);
  s.model.window = pick(0, 1024);
  s.model.window_period = 2;
  auto& p = s.parallelism;
  p.tensor = pick(2, 4, 8);
  p.pipeline = pick(1, 2, 4);
  p.virtual_stages = pick(1, 2);
  p.micro_batch = pick(1, 2);
  p.sharding = pick(Sharding::zero0, Sharding::zero1, Sharding::zero2, Sharding::zero3);
  p.recompute =
      pick(workload::Recompute::none, workload::Recompute::selective, workload::Recompute::full);
  p.schedule = p.virtual_stages > 1 ? workload::ScheduleKind::interleaved
                                    : pick(workload::ScheduleKind::one_f_one_b,
                                           workload::ScheduleKind::zero_bubble_h1);
  p.offload = pick(workload::Offload::activations, workload::Offload::all);
  if (const int layers = pick(0, 1, 2, 5); layers > 0) {
    p.offload_layers = layers;
  }
  try {
    return check(s);
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

// Folded, unfolded and analytic: the first two to the bit, the third within 3 % of transfers alone.
TEST(OffloadOfActivations, IsTheSameInAllTiers) {
  std::mt19937 random(11);
  double worst = 0, sum = 0;
  int compared = 0;
  while (compared < 60) {
    const auto layout = random_offload(random);
    if (!layout) {
      continue;
    }
    const StepResult folded = simulate_step(*layout, {.trace = false});
    const StepResult whole = simulate_step(*layout, {.fold = false, .trace = false});
    EXPECT_EQ(folded.time, whole.time);
    EXPECT_EQ(folded.result_digest, whole.result_digest);
    const double alone = simulate_step(*layout, {.trace = false, .contention = false}).time.si();
    if (std::abs(folded.time.si() / alone - 1) > 0.001) {
      continue;
    }
    const double analytic = AnalyticTier(layout->scenario()).evaluate(*layout).time.si();
    const double error = std::abs(analytic / alone - 1);
    EXPECT_LT(error, 0.03);
    worst = std::max(worst, error);
    sum += error;
    ++compared;
  }
  std::cout << "analytic tier with offload: mean " << 100 * sum / compared << " %, worst "
            << 100 * worst << " %\n";
  EXPECT_LT(sum / compared, 0.01);
}

// Schedules that the analytic tier does not know.
TEST(OffloadOfActivations, FoldsUnderEverySchedule) {
  using workload::ScheduleKind;
  for (const ScheduleKind schedule :
       {ScheduleKind::gpipe, ScheduleKind::zero_bubble_v, ScheduleKind::dual_pipe_v}) {
    Scenario s = with_link(eight_nodes(), 4e9);
    s.parallelism.schedule = schedule;
    s.parallelism.offload = workload::Offload::activations;
    const StepResult folded = simulate_step(check(s));
    const StepResult whole = simulate_step(check(s), {.fold = false});
    EXPECT_EQ(folded.time, whole.time) << core::to_word(schedule);
    EXPECT_EQ(folded.result_digest, whole.result_digest) << core::to_word(schedule);
    EXPECT_GT(folded.breakdown[core::Activity::other].si(), 0);
  }
}

}  // namespace
}  // namespace headway::training

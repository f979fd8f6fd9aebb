#include "sim/plan/search.h"

#include <gtest/gtest.h>
#include <mutex>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/plan/bound.h"
#include "sim/training/step/step.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

TEST(Search, ReturnsTheFastestPlansInOrder) {
  const auto result = search(sample_scenario());
  ASSERT_EQ(result.plans.size(), 10U);
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    EXPECT_TRUE(result.plans[i].step.memory.fits);
    EXPECT_FALSE(result.plans[i].campaign.has_value());
    if (i > 0) {
      EXPECT_GE(result.plans[i].step.time, result.plans[i - 1].step.time);
    }
  }
}

TEST(Search, NoLayoutIsFasterThanTheFirst) {
  PlanOptions all;
  all.keep = 100000;
  const auto scenario = sample_scenario();
  const auto result = search(scenario, all);
  EXPECT_EQ(static_cast<std::int64_t>(result.plans.size()), result.simulated);
  // The first plan, simulated on its own, takes the time the search reports.
  training::Scenario best = scenario;
  best.parallelism = result.plans.front().layout;
  EXPECT_EQ(training::simulate_step(training::check(best)).time, result.plans.front().step.time);
}

// A scenario's own schedule stays where it is not one of those that replace each other; the
// analytic tier does not know it, so every layout that fits is simulated.
TEST(Search, PlansTheBidirectionalScheduleBySimulation) {
  auto scenario = sample_scenario();
  scenario.parallelism.pipeline = 2;
  scenario.parallelism.schedule = workload::ScheduleKind::dual_pipe;
  const auto result = search(scenario);
  ASSERT_FALSE(result.plans.empty());
  for (const auto& plan : result.plans) {
    EXPECT_EQ(plan.layout.schedule, workload::ScheduleKind::dual_pipe);
    EXPECT_EQ(plan.layout.pipeline % 2, 0);
    EXPECT_EQ(plan.estimate, core::Seconds(0));
    training::Scenario own = scenario;
    own.parallelism = plan.layout;
    EXPECT_LE(step_bound(training::check(own)), plan.step.time);
  }
}

TEST(Search, RaisesRecomputeOnlyWhereMemoryAsksForIt) {
  auto scenario = sample_scenario();
  PlanOptions all;
  all.keep = 100000;
  for (const auto& plan : search(scenario, all).plans) {
    if (plan.layout.recompute == workload::Recompute::none) {
      continue;
    }
    training::Scenario less = scenario;
    less.parallelism = plan.layout;
    less.parallelism.recompute = workload::Recompute::none;
    const auto memory = training::predict_memory(training::check(less));
    EXPECT_TRUE(!memory.fits || training::near_memory_limit(memory));
  }
}

TEST(Search, CountsWhatDoesNotFit) {
  auto scenario = sample_scenario();
  scenario.cluster.node.gpu.memory = core::Bytes(1e9);
  const auto result = search(scenario);
  EXPECT_TRUE(result.plans.empty());
  EXPECT_EQ(result.simulated, 0);
  std::int64_t memory = 0;
  for (const auto& entry : result.rejected) {
    memory += entry.kind == "memory" ? entry.count : 0;
  }
  EXPECT_GT(memory, 10);
}

// Memory is what the best plan needs / 0.97: it fits, but an allocator would have 3 % to work with.
TEST(Search, KeepsAwayFromWhereTheAllocatorHasNoRoom) {
  auto scenario = sample_scenario();
  const Plan best = search(scenario).plans.front();
  scenario.cluster.node.gpu.memory = best.step.memory.peak / 0.97;
  for (const Plan& plan : search(scenario).plans) {
    EXPECT_LE(plan.step.memory.peak / plan.step.memory.capacity, 1 - training::kMemoryHeadroom);
    EXPECT_NE(plan.layout, best.layout);
  }
}

TEST(Search, GivesTheSamePlansOnAnyNumberOfThreads) {
  PlanOptions one;
  one.threads = 1;
  PlanOptions four;
  four.threads = 4;
  const auto a = search(sample_scenario(), one);
  const auto b = search(sample_scenario(), four);
  ASSERT_EQ(a.plans.size(), b.plans.size());
  for (std::size_t i = 0; i < a.plans.size(); ++i) {
    EXPECT_EQ(a.plans[i].layout, b.plans[i].layout);
    EXPECT_EQ(a.plans[i].step.event_digest, b.plans[i].step.event_digest);
  }
}

TEST(Search, SimulatesTheRunOfEachPlanWhereOneIsAskedFor) {
  auto scenario = sample_scenario();
  scenario.run.until = training::UntilSpec{};
  scenario.run.until->steps = 1000;
  scenario.run.trials = 2;
  PlanOptions two;
  two.keep = 2;
  for (const auto& plan : search(scenario, two).plans) {
    ASSERT_TRUE(plan.campaign.has_value());
    EXPECT_EQ(plan.campaign->result.trials, 2);
  }
}

// The user chooses offload; every plan has it, and the layouts that the analytic tier passes over
// are slower with it too.
TEST(Search, KeepsTheOffloadOfActivations) {
  auto scenario = sample_scenario();
  scenario.parallelism.offload = workload::Offload::activations;
  PlanOptions three;
  three.keep = 3;
  PlanOptions all;
  all.keep = 100000;
  const auto few = search(scenario, three);
  const auto every = search(scenario, all);
  ASSERT_EQ(few.plans.size(), 3U);
  for (std::size_t i = 0; i < few.plans.size(); ++i) {
    EXPECT_EQ(few.plans[i].layout.offload, workload::Offload::activations);
    EXPECT_EQ(few.plans[i].layout, every.plans[i].layout);
    EXPECT_GT(few.plans[i].step.memory.host_peak.si(), 0);
  }
}

// What is recomputed is not copied: over a slow link the most recompute is the fastest, not the
// least that fits.
TEST(Search, LooksAtEveryRecomputeWhereActivationsAreOffloaded) {
  auto scenario = sample_scenario();
  scenario.parallelism.offload = workload::Offload::activations;
  scenario.cluster.node.gpu.host_bandwidth = core::BytesPerSecond(10e9);
  const auto best = search(scenario).plans.front();
  EXPECT_EQ(best.layout.recompute, workload::Recompute::full);
  training::Scenario least = scenario;
  least.parallelism = best.layout;
  least.parallelism.recompute = workload::Recompute::none;
  EXPECT_GT(training::simulate_step(training::check(least)).time, best.step.time);
}

// The tier overestimates sharded mixtures most: what it finds slow must be simulated all the same.
TEST(Search, FindsTheFirstPlansOfShardedMixtures) {
  auto scenario = sample_scenario();
  scenario.cluster.nodes = 16;
  scenario.training.global_batch = 256;
  scenario.model.moe.emplace();
  scenario.model.moe->experts = 8;
  scenario.model.moe->ffn = 14336;
  scenario.parallelism.expert = 8;
  scenario.parallelism.sharding = workload::Sharding::hsdp;
  scenario.parallelism.shard_group_size = 16;
  PlanOptions some;
  some.keep = 13;  // allowed to err by 3 %, the tier would hide one of these
  PlanOptions all;
  all.keep = 100000;
  const auto every = search(scenario, all);
  const auto few = search(scenario, some);
  ASSERT_EQ(few.plans.size(), 13U);
  for (std::size_t i = 0; i < few.plans.size(); ++i) {
    EXPECT_EQ(few.plans[i].layout, every.plans[i].layout) << i;
  }
}

TEST(Search, MustKeepAtLeastOnePlan) {
  PlanOptions none;
  none.keep = 0;
  EXPECT_THROW(search(sample_scenario(), none), core::Error);
}

TEST(Search, LayoutsThatAreNotSimulatedAreSlowerThanThePlansKept) {
  PlanOptions three;
  three.keep = 3;
  PlanOptions all;
  all.keep = 100000;
  const auto few = search(sample_scenario(), three);
  const auto every = search(sample_scenario(), all);
  ASSERT_EQ(few.plans.size(), 3U);
  for (std::size_t i = 0; i < few.plans.size(); ++i) {
    EXPECT_EQ(few.plans[i].layout, every.plans[i].layout);
  }
  EXPECT_LT(few.simulated, every.simulated);
  std::int64_t rejected = 0;
  for (const auto& entry : few.rejected) {
    rejected += entry.count;
  }
  EXPECT_EQ(rejected + few.simulated, few.enumerated);
}

// Twice the GPUs do the run in more than half the time, for more money: both sizes are on the
// front. With memory for every layout, no recompute tips the scales: two nodes are faster, one node
// saves the transfers between them and so is cheaper by the GPU-second.
TEST(Search, MarksTheFrontOfTimeAndMoneyOverClusterSizes) {
  auto scenario = sample_scenario();
  scenario.cluster.node.gpu.memory = core::Bytes(1e12);
  PlanOptions sizes;
  sizes.keep = 2;
  sizes.nodes = {1, 2};
  const auto result = search(scenario, sizes);
  ASSERT_GE(result.plans.size(), 2U);
  std::vector<int> front;
  for (const Plan& plan : result.plans) {
    EXPECT_NEAR(plan.estimate / plan.step.time, 1, 0.05);
    if (plan.pareto) {
      front.push_back(plan.nodes);
    }
  }
  EXPECT_EQ(front, (std::vector<int>{2, 1}));  // fastest first
}

TEST(Search, CountsWhatMissesALimit) {
  auto scenario = sample_scenario();
  scenario.run.until = training::UntilSpec{};
  scenario.run.until->steps = 1000;
  scenario.run.trials = 2;
  PlanOptions options;
  options.keep = 1;
  const auto free = search(scenario, options);
  const double run = 1000 * free.plans.front().step.time.si();
  options.limits.deadline = core::Seconds(0.9 * run);
  const auto late = search(scenario, options);
  EXPECT_TRUE(late.plans.empty());
  EXPECT_EQ(late.simulated, 0);
  const auto count_of = [&](const PlanResult& result, const std::string& kind) {
    std::int64_t count = 0;
    for (const auto& entry : result.rejected) {
      count += entry.kind == kind ? entry.count : 0;
    }
    return count;
  };
  EXPECT_GT(count_of(late, "deadline"), 10);
  options.limits = {};
  options.limits.gpus = 8;
  const auto many = search(scenario, options);
  EXPECT_EQ(count_of(many, "gpus"), many.enumerated);
}

// 58 days for every kernel: each layout's step is longer than the clock counts.
TEST(Search, CountsLayoutsWhoseStepIsTooLongToBeSimulated) {
  auto scenario = sample_scenario();
  scenario.cluster.node.gpu.kernel_launch = core::Seconds(5e6);
  const auto result = search(scenario);
  EXPECT_TRUE(result.plans.empty());
  EXPECT_EQ(result.simulated, 0);
  std::int64_t too_large = 0;
  std::int64_t rejected = 0;
  for (const auto& entry : result.rejected) {
    too_large += entry.kind == "too large" ? entry.count : 0;
    rejected += entry.count;
    EXPECT_NE(entry.kind, "slower");
  }
  EXPECT_GT(too_large, 0);
  EXPECT_EQ(rejected, result.enumerated);
}

// A million ranks one by one over 512 planes need hundreds of gigabytes.
TEST(Search, CountsLayoutsThatThisMachineHasNoMemoryFor) {
  auto scenario = sample_scenario();
  scenario.cluster.nodes = 131'072;
  scenario.cluster.fabric.planes = 512;
  scenario.training.global_batch = 1 << 20;
  PlanOptions options;
  options.fold = false;
  const PlanResult result = search(scenario, options);
  EXPECT_TRUE(result.plans.empty());
  EXPECT_EQ(result.simulated, 0);
  const auto large = std::find_if(result.rejected.begin(), result.rejected.end(),
                                  [](const Rejection& r) { return r.kind == "too large"; });
  ASSERT_NE(large, result.rejected.end());
  EXPECT_NE(large->reason.find("needs more memory than this machine has"), std::string::npos);
}

// The search ran for minutes, or out of memory, before it said anything.
TEST(Search, RefusesClustersThatAreTooLargeAtOnce) {
  auto scenario = sample_scenario();
  scenario.cluster.nodes = 131'073;
  try {
    search(scenario);
    FAIL() << "not refused";
  } catch (const core::Infeasible& error) {
    EXPECT_STREQ(
        error.what(),
        "a search simulates layouts of up to 1,048,576 GPUs, and 131,073 nodes have "
        "1,048,584: make cluster.nodes smaller, or predict one layout with `headway run`\n");
  }
}

TEST(Search, RefusesWhatNoLayoutMendsBeforeItLooksAtAny) {
  auto shared = sample_scenario();
  shared.cluster.storage.path = storage::StoragePath::shared;  // without 'servers'
  EXPECT_THROW(search(shared), core::Error);
  auto cards = sample_scenario();
  cards.cluster.node.nic.count = 3;
  EXPECT_THROW(search(cards), core::Error);
  PlanOptions sizes;
  sizes.nodes = {2, 2147483647};
  EXPECT_THROW(search(sample_scenario(), sizes), core::Error);
}

TEST(Search, AsksForARunWhereTheObjectiveNeedsOne) {
  PlanOptions options;
  options.objective = Objective::days;
  EXPECT_THROW(search(sample_scenario(), options), core::Error);
}

TEST(Search, TellsItsProgress) {
  std::mutex mutex;
  std::size_t calls = 0;
  PlanOptions options;
  options.progress = [&](std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex);
    ++calls;
    EXPECT_LE(done, total);
  };
  const auto result = search(sample_scenario(), options);
  EXPECT_EQ(static_cast<std::int64_t>(calls), result.simulated);
}

}  // namespace
}  // namespace headway::plan

// The fewest recomputed layers of each stage that let a layout fit, against all others.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/plan/entry.h"
#include "sim/plan/search.h"
#include "sim/plan/shortlist/fit.h"
#include "sim/plan/verify.h"
#include "sim/training/refusals.h"
#include "sim/training/step/step.h"
#include "sim/workload/layout.h"

#include "tests/training/fixture.h"

namespace headway::plan {
namespace {

using namespace core::literals;
using ::testing::ElementsAre;
using workload::Recompute;

/// TP 8 x PP 4 x DP 2 of 16 layers with eight micro-batches, on GPUs of so much memory.
training::Scenario on_gpus_of(core::Bytes memory) {
  training::Scenario s = training::eight_nodes();
  s.training.global_batch = 16;
  s.training.sequence_length = 8192;
  s.cluster.node.gpu.memory = memory;
  s.search.vary = {training::SearchAxis::recompute};
  return s;
}

training::Scenario with_again(training::Scenario s, const std::vector<int>& stages) {
  auto& p = s.parallelism;
  p.recompute = Recompute::full;
  p.recompute_parts.clear();
  p.chunk_layers = workload::layers_of_chunks(s.model, p);
  p.chunk_recompute = workload::first_of_stages(p, stages);
  return s;
}

bool fits(const training::Scenario& s) {
  return !lack(training::check(training::Scenario(s)), training::kMemoryHeadroom).has_value();
}

core::Seconds time_of(const training::Scenario& s) {
  return training::simulate_step(training::check(training::Scenario(s))).time;
}

/// Memory with which the first stage, which holds most micro-batches, must recompute half of its
/// layers and the last none.
core::Bytes memory_that_binds() {
  const auto roomy = on_gpus_of(80_GB);
  const auto peak = [&](const std::vector<int>& again) {
    return training::predict_memory(training::check(training::Scenario(with_again(roomy, again))))
        .stage_peak[0];
  };
  return (peak({2, 0, 0, 0}) + peak({1, 0, 0, 0})) * (0.5 / (1 - training::kMemoryHeadroom));
}

TEST(FewestRecomputed, AreTheFastestOfAllThatFit) {
  const auto s = on_gpus_of(memory_that_binds());
  ASSERT_FALSE(fits(s));
  // All 5^4 choices of how many of its four layers each stage recomputes.
  std::vector<std::pair<core::Seconds, std::vector<int>>> all;
  for (int n = 0; n < 625; ++n) {
    const std::vector<int> again{n / 125, n / 25 % 5, n / 5 % 5, n % 5};
    const auto other = with_again(s, again);
    if (fits(other)) {
      all.emplace_back(time_of(other), again);
    }
  }
  const auto best = *std::min_element(all.begin(), all.end());
  Space space(s);
  Fit fit(s, space.shapes().front(), training::kMemoryHeadroom);
  workload::ParallelismSpec layout = space.layout(0);
  layout.recompute = Recompute::none;
  fit.set_micro_batches(8);
  fit.set_passes(layout);
  const auto found = fit.fewest_recomputed(layout, 0);
  ASSERT_TRUE(found.has_value());
  const auto stages = found->chunk_recompute;
  EXPECT_EQ(stages[0], 2);
  EXPECT_EQ(stages[3], 0);
  auto mine = s;
  mine.parallelism = *found;
  EXPECT_TRUE(fits(mine));
  EXPECT_EQ(time_of(mine), best.first);
}

TEST(FewestRecomputed, AreAmongThePlans) {
  const auto s = on_gpus_of(memory_that_binds());
  const auto plans = search(s, {}).plans;
  ASSERT_FALSE(plans.empty());
  EXPECT_FALSE(plans.front().layout.chunk_recompute.empty());
  EXPECT_TRUE(plans.front().step.memory.fits);
  auto full = s;
  full.parallelism.recompute = Recompute::full;
  EXPECT_LT(plans.front().step.time, 0.97 * time_of(full));
}

// A layout drawn from those left out that does not fit as it is gets what the search would give it.
TEST(FewestRecomputed, AreAmongThoseThatAreDrawnToVerify) {
  const auto s = on_gpus_of(memory_that_binds());
  const SimulatedSetting setting{s, {}, {}, {}};
  PlanOptions options;
  options.verify = 50;
  Verification found;
  verify(setting, nullptr, options, 1, found);
  const auto partly = [](const Plan& plan) { return !plan.layout.chunk_recompute.empty(); };
  EXPECT_TRUE(std::any_of(found.better.begin(), found.better.end(), partly));
  for (const Plan& plan : found.better) {
    EXPECT_TRUE(plan.step.memory.fits);
  }
}

/// Of a plan whose layers recompute in part none can keep more: one layer less of any stage, and it
/// does not fit.
TEST(FewestRecomputed, NoPlanRecomputesALayerTooMany) {
  auto s = on_gpus_of(memory_that_binds());
  s.search.vary = {training::SearchAxis::recompute, training::SearchAxis::micro_batch};
  PlanOptions all;
  all.variants = true;
  int trimmed = 0;
  for (const auto& plan : search(s, all).plans) {
    auto own = s;
    own.parallelism = plan.layout;
    EXPECT_TRUE(fits(own));
    for (int& layers : own.parallelism.chunk_recompute) {
      if (layers > 0) {
        ++trimmed;
        --layers;
        EXPECT_FALSE(fits(own));
        ++layers;
      }
    }
    const bool whole = plan.layout.recompute != Recompute::none &&
                       plan.layout.recompute_period == 1 && plan.layout.chunk_recompute.empty();
    EXPECT_FALSE(whole && plan.layout.offload == workload::Offload::none);
  }
  EXPECT_GT(trimmed, 0);
}

/// Of software that recomputes as many layers of every chunk the first stage, which needs two, has
/// them of all; of one that cannot be told a number nothing is found.
TEST(FewestRecomputed, AreAlikeWhereTheSoftwareHasOneNumberForAllChunks) {
  auto s = on_gpus_of(memory_that_binds());
  workload::RecomputeAbilitySpec& can = s.training.framework.recomputes;
  const auto fewest = [&](Recompute kind) {
    Space space(s);
    Fit fit(s, space.shapes().front(), training::kMemoryHeadroom);
    workload::ParallelismSpec layout = space.layout(0);
    layout.recompute = kind;
    fit.set_micro_batches(8);
    fit.set_passes(layout);
    return fit.fewest_recomputed(layout, 0);
  };
  can.layers = workload::RecomputeLayers::alike;
  const auto alike = fewest(Recompute::none);
  ASSERT_TRUE(alike.has_value());
  EXPECT_THAT(alike->chunk_recompute, ElementsAre(2, 2, 2, 2));
  EXPECT_FALSE(fewest(Recompute::selective).has_value());  // by parts all layers
  can.layers = workload::RecomputeLayers::nth;
  EXPECT_FALSE(fewest(Recompute::none).has_value());
  can.layers = workload::RecomputeLayers::all;
  EXPECT_FALSE(fewest(Recompute::none).has_value());
}

/// What the software does not have is simulated all the same, and said.
TEST(FewestRecomputed, ARunOfWhatTheSoftwareLacksIsWarned) {
  using workload::RecomputePart;
  auto s = on_gpus_of(80_GB);
  auto& can = s.training.framework.recomputes;
  s.training.framework.name = "Mine";
  s.parallelism.recompute = Recompute::selective;
  EXPECT_THAT(training::software_warnings(s), ::testing::IsEmpty());
  can.parts = {RecomputePart::norms};
  can.parts_with_experts = {RecomputePart::norms};
  s.parallelism.recompute_parts = {RecomputePart::norms, RecomputePart::mlp};
  EXPECT_THAT(training::software_warnings(s),
              ElementsAre("Mine does not recompute 'norms' by itself without experts: simulated as "
                          "if it did (training.framework.recomputes)",
                          "Mine does not recompute 'mlp' by itself: simulated as if it did "
                          "(training.framework.recomputes)"));
  can = {};
  can.layers = workload::RecomputeLayers::alike;
  EXPECT_THAT(training::software_warnings(with_again(s, {2, 2, 2, 2})), ::testing::SizeIs(0));
  const auto uneven = training::simulate_step(
      training::check(training::Scenario(with_again(on_gpus_of(80_GB), {2, 1, 0, 0}))));
  EXPECT_THAT(uneven.warnings, ::testing::Not(::testing::Contains(::testing::HasSubstr("chunk"))));
  auto mine = with_again(on_gpus_of(80_GB), {2, 1, 0, 0});
  mine.training.framework.recomputes.layers = workload::RecomputeLayers::alike;
  EXPECT_THAT(training::simulate_step(training::check(std::move(mine))).warnings,
              ::testing::Contains(::testing::HasSubstr(
                  "cannot recompute other numbers of layers in each chunk: simulated as if it "
                  "could (training.framework.recomputes.layers: alike)")));
}

// A combination is refused where a layout has all that it names.
TEST(Refusals, AreOfWhatTheyNameTogether) {
  using workload::RefusedBeside, workload::Sharding;
  auto s = on_gpus_of(80_GB);
  s.training.framework.name = "Mine";
  s.training.framework.refuses = {
      {{Sharding::zero2, Sharding::zero3}, {}, {}, {RefusedBeside::pipeline}},
      {{}, {}, {core::Precision::fp8}, {RefusedBeside::accumulation}}};
  const auto told = [&](int pipeline, Sharding sharding, core::Precision precision, int count) {
    auto layout = s.parallelism;
    layout.pipeline = pipeline;
    layout.sharding = sharding;
    s.training.precision = precision;
    const auto one = training::refusal(s.training.framework, s, layout, count);
    return one ? one->path + ": " + one->text : "";
  };
  using core::Precision;
  EXPECT_EQ(told(2, Sharding::zero3, Precision::bf16, 4),
            "parallelism.sharding: Mine does not start sharding zero3 with pipeline stages "
            "(training.framework.refuses)");
  EXPECT_EQ(told(1, Sharding::zero3, Precision::bf16, 4), "");
  EXPECT_EQ(told(2, Sharding::zero1, Precision::bf16, 4), "");
  EXPECT_EQ(told(1, Sharding::zero1, Precision::fp8, 4),
            "parallelism.micro_batch: Mine does not start precision fp8 with several micro-batches "
            "in one stage (training.framework.refuses)");
  EXPECT_EQ(told(1, Sharding::zero1, Precision::fp8, 1), "");
  EXPECT_EQ(told(2, Sharding::zero1, Precision::fp8, 4), "");
}

// As Megatron-Core: activations stay on the GPU beside stages or recomputation, and stages lie
// inside data ranks only where layers and experts have the same of them.
TEST(Refusals, AreOfOffloadAndOrderOfRanks) {
  using workload::Offload, workload::RankOrder, workload::RefusedBeside;
  auto s = on_gpus_of(80_GB);
  auto& framework = s.training.framework;
  framework.name = "Mine";
  const std::vector<Offload> held{Offload::activations, Offload::all};
  framework.refuses = {
      {{}, {}, {}, {RefusedBeside::pipeline}, held, {}},
      {{}, {}, {}, {RefusedBeside::recompute}, held, {}},
      {{}, {}, {}, {RefusedBeside::other_data_ranks}, {}, {RankOrder::pipeline_first}}};
  const auto told = [&](auto change) {
    auto layout = s.parallelism;
    layout.pipeline = 1;
    change(layout);
    const auto one = training::refusal(framework, s, layout, 4);
    return one ? one->path + ": " + one->text : "";
  };
  EXPECT_EQ(told([](auto& p) { p.offload = Offload::activations; }), "");
  EXPECT_EQ(told([](auto& p) { p.offload = Offload::optimizer, p.pipeline = 2; }), "");
  EXPECT_EQ(told([](auto& p) { p.offload = Offload::all, p.pipeline = 2; }),
            "parallelism.offload: Mine does not start offload all with pipeline stages "
            "(training.framework.refuses)");
  EXPECT_EQ(
      told([](auto& p) { p.offload = Offload::activations, p.recompute = Recompute::selective; }),
      "parallelism.offload: Mine does not start offload activations with recomputation "
      "(training.framework.refuses)");
  const auto stages_first = [](auto& p) {
    p.rank_order = RankOrder::pipeline_first, p.pipeline = 2;
  };
  EXPECT_EQ(told(stages_first), "");
  EXPECT_EQ(told([&](auto& p) { stages_first(p), p.context = 2; }),
            "parallelism.rank_order: Mine does not start rank order tp-cp-pp-dp with other data "
            "ranks of experts than of attention (training.framework.refuses)");
  s.model.moe.emplace();
  EXPECT_EQ(told([&](auto& p) {
              stages_first(p), p.tensor = 4, p.context = 2, p.expert = 4, p.expert_tensor = 2;
            }),
            "");
  EXPECT_NE(told([&](auto& p) { stages_first(p), p.tensor = 4, p.expert = 8; }), "");
}

// The search leaves them out, which without the rule has some; a run is warned.
TEST(Refusals, AreInNoPlan) {
  using workload::RefusedBeside, workload::Sharding;
  auto s = on_gpus_of(80_GB);
  s.parallelism.sharding = Sharding::zero0;
  s.search.vary = {training::SearchAxis::pipeline, training::SearchAxis::micro_batch};
  s.search.sharding = {Sharding::zero0, Sharding::zero1};
  const auto has = [&s](const auto& is) {
    const auto plans = search(s, {}).plans;
    EXPECT_FALSE(plans.empty());
    return std::any_of(plans.begin(), plans.end(),
                       [&](const Plan& plan) { return is(plan.layout); });
  };
  const auto sharded_stages = [](const workload::ParallelismSpec& p) {
    return p.sharding == Sharding::zero1 && p.pipeline > 1;
  };
  const auto other_stages = [](const workload::ParallelismSpec& p) {
    return p.sharding == Sharding::zero0 && p.pipeline > 1;
  };
  EXPECT_TRUE(has(sharded_stages));
  s.training.framework.refuses = {{{Sharding::zero1}, {}, {}, {RefusedBeside::pipeline}}};
  EXPECT_FALSE(has(sharded_stages));
  EXPECT_TRUE(has(other_stages));
  s.parallelism.sharding = Sharding::zero1;
  s.parallelism.pipeline = 2;
  EXPECT_THAT(training::software_warnings(s),
              ::testing::Contains(::testing::HasSubstr("does not start sharding zero1 with "
                                                       "pipeline stages")));
}

// One stage may have one micro-batch of all sequences of its replica, whatever smaller ones do.
TEST(Refusals, OfAccumulationLeaveTheWholeBatch) {
  auto s = on_gpus_of(80_GB);
  s.search.vary = {training::SearchAxis::pipeline, training::SearchAxis::micro_batch};
  PlanOptions all;
  all.keep = all.simulate = 10000;
  all.variants = true;
  const auto micro_batches_of_one_stage = [&] {
    std::set<int> found;
    for (const auto& plan : search(s, all).plans) {
      if (plan.layout.pipeline == 1) {
        found.insert(plan.micro_batches);
      }
    }
    return found;
  };
  EXPECT_THAT(micro_batches_of_one_stage(), ElementsAre(1, 2));
  s.training.framework.refuses = {
      {{}, {}, {s.training.precision}, {workload::RefusedBeside::accumulation}}};
  EXPECT_THAT(micro_batches_of_one_stage(), ElementsAre(1));
}

// What the software does not start is not drawn to verify either.
TEST(Refusals, AreNotAmongThoseThatAreDrawnToVerify) {
  auto s = on_gpus_of(80_GB);
  s.parallelism.pipeline = 1;
  s.search.vary = {training::SearchAxis::micro_batch};
  const auto drawn = [&s] {
    PlanOptions options;
    options.verify = 10;
    Verification found;
    verify(SimulatedSetting{s, {}, {}, {}}, nullptr, options, 1, found);
    return found.simulated;
  };
  const auto without = drawn();
  s.training.framework.refuses = {
      {{}, {}, {s.training.precision}, {workload::RefusedBeside::accumulation}}};
  EXPECT_LT(drawn(), without);
  EXPECT_EQ(drawn(), 1);
}

TEST(FewestRecomputed, AreNotTriedWhereNothingBindsOrRecomputeIsHeld) {
  for (const auto& plan : search(on_gpus_of(80_GB), {}).plans) {
    EXPECT_TRUE(plan.layout.chunk_recompute.empty());
  }
  auto held = on_gpus_of(memory_that_binds());
  held.search.vary = {training::SearchAxis::micro_batch};
  for (const auto& plan : search(held, {}).plans) {
    EXPECT_TRUE(plan.layout.chunk_recompute.empty());
  }
}

TEST(FewestRecomputed, NoneDoWhereAllOfThemAreTooFew) {
  const auto s = on_gpus_of(memory_that_binds() * 0.2);
  Space space(s);
  Fit fit(s, space.shapes().front(), training::kMemoryHeadroom);
  workload::ParallelismSpec layout = space.layout(0);
  layout.recompute = Recompute::none;
  fit.set_micro_batches(8);
  fit.set_passes(layout);
  EXPECT_FALSE(fit.fewest_recomputed(layout, 0).has_value());
}

/// The time of a layer that recomputes is one forward more: with n of the four layers of every
/// stage the step grows by n / 4 of what full recompute adds.
TEST(FewestRecomputed, EachLayerCostsItsForward) {
  const auto s = on_gpus_of(80_GB);
  const auto none = time_of(s), all = time_of(with_again(s, {4, 4, 4, 4}));
  for (int n = 1; n < 4; ++n) {
    EXPECT_NEAR((time_of(with_again(s, {n, n, n, n})) - none) / (all - none), n / 4.0, 0.02);
  }
}

TEST(FewestRecomputed, TheAnalyticTierKnowsThem) {
  auto s = on_gpus_of(80_GB);
  for (const int chunks : {1, 2}) {
    s.parallelism.virtual_stages = chunks;
    s.parallelism.schedule =
        chunks > 1 ? workload::ScheduleKind::interleaved : workload::ScheduleKind::one_f_one_b;
    for (const std::vector<int>& again :
         {std::vector{0, 0, 0, 0}, {4, 3, 1, 0}, {1, 0, 2, 4}, {4, 4, 4, 4}}) {
      const auto other = with_again(s, again);
      const auto checked = training::check(training::Scenario(other));
      const auto alone = training::simulate_step(checked, {.contention = false}).time;
      EXPECT_NEAR(analytic::AnalyticTier(other).evaluate(checked).time / alone, 1, 0.03);
    }
  }
}

TEST(ChunkRecompute, SaysWhatDoesNotFitTogether) {
  const auto complaint = [](auto change) {
    auto s = with_again(on_gpus_of(80_GB), {2, 1, 0, 0});
    change(s.parallelism);
    try {
      training::check(std::move(s));
    } catch (const core::Error& error) {
      const std::string text = error.what();
      return text.substr(0, text.find('\n'));
    }
    return std::string();
  };
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_EQ(complaint([](auto& p) { p.recompute = Recompute::none; }),
            "chunk_recompute belongs to recompute: selective or full");
  EXPECT_EQ(complaint([](auto& p) { p.chunk_layers.clear(); }),
            "chunk_recompute has 4 entries, and chunk_layers 0: write both, an entry for every "
            "chunk");
  EXPECT_EQ(complaint([](auto& p) { p.chunk_recompute[1] = 5; }),
            "5 of the 4 layers of this chunk cannot recompute");
  EXPECT_EQ(complaint([](auto& p) { p.recompute_period = 2; }),
            "chunk_recompute already says which layers recompute; leave recompute_period out");
}

}  // namespace
}  // namespace headway::plan

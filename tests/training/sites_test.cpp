// Steps of clusters on several sites: synchronous over them, and of sites that train apart.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/network/flow/problem.h"
#include "sim/training/degraded/degraded_step.h"
#include "sim/training/sites/site_exchange.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

using namespace core::literals;
using workload::RankOrder;

/// The eight nodes of the fixture on two sites: TP 8, DP 8, four replicas a site, ZeRO-1.
Scenario on_two_sites() {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.cluster.fabric.ports_per_leaf = 4;
  network::SitesSpec sites;
  sites.bandwidth = 100_Gbps;
  sites.latency = core::Seconds(0.005);
  sites.connections = 64;
  sites.window = 16_MiB;
  s.cluster.sites = sites;
  return s;
}

Scenario apart() {
  Scenario s = on_two_sites();
  s.training.local_steps = workload::LocalStepsSpec{};
  s.training.local_steps->steps = 50;
  return s;
}

/// Parameters whose gradients tensor ranks hold whole or divided, over all of them.
double held_by_all(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  const workload::StageLayout layout(s.model, s.parallelism);
  double sum = 0;
  for (int stage = 0; stage < layout.stages(); ++stage) {
    sum += s.parallelism.tensor *
           workload::stage_parameters_per_rank(s.model, s.parallelism, layout, stage).total();
  }
  return sum;
}

TEST(Sites, GradientsAndWeightsPassBetweenThemOnce) {
  const auto checked = check(on_two_sites());
  const auto step = simulate_step(checked);
  ASSERT_TRUE(step.sites.has_value());
  // Reduce-scatter of 4 bytes and all-gather of 2, half of each from every site to the other.
  EXPECT_NEAR(step.sites->step_bytes.si() / (held_by_all(checked) * (4 + 2) / 2), 1, 1e-3);
  EXPECT_FALSE(step.sites->exchange.has_value());
}

// 32 GPUs a site: domains of 24 would have parts on both. The place is where they were written.
TEST(Sites, ADomainBetweenSitesIsRefusedAtItsKey) {
  Scenario s = on_two_sites();
  s.cluster.node.scale_up.domain_gpus = 24;
  const core::SourceMarks marks{{"cluster.node.scale_up.domain_gpus", {"s.yaml", 9, 5, 1, ""}}};
  try {
    check(Scenario(s), marks);
    ADD_FAILURE() << "was not refused";
  } catch (const core::Error& error) {
    EXPECT_STREQ(error.what(),
                 "s.yaml:9:5: NVLink domains of 24 GPUs do not divide the 32 GPUs of a site: a "
                 "domain between sites is not modelled; write a 'domain_gpus' that divides them, "
                 "or other 'nodes'\n");
  }
  s.cluster.node.scale_up.domain_gpus = 16;
  EXPECT_EQ(complaint(s), "");
}

TEST(Sites, AFoldedStepIsTheWholeOne) {
  Scenario s = on_two_sites();
  expect_the_same_step(s);
  s.cluster.sites->collective = network::CrossSite::flat;
  expect_the_same_step(s);
  s = on_two_sites();
  s.parallelism.pipeline = 2;
  s.parallelism.rank_order = RankOrder::pipeline_first;
  expect_the_same_step(s);
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.pipeline = 1;
  s.parallelism.shard_group_size = 4;
  expect_the_same_step(s);
  expect_the_same_step(apart());
}

TEST(Sites, AreSlowerTheNarrowerTheWay) {
  Scenario s = on_two_sites();
  const core::Seconds narrow = time_of(s);
  s.cluster.sites->bandwidth = 100000_Gbps;
  s.cluster.sites->latency = core::Seconds(0);
  const core::Seconds wide = time_of(s);
  s.cluster.sites.reset();
  const core::Seconds one = time_of(s);
  EXPECT_GT(narrow.si(), 1.5 * wide.si());
  EXPECT_NEAR(wide / one, 1, 0.05);
}

TEST(Sites, LatencyCountsOnceAMessageOfTheRing) {
  Scenario s = on_two_sites();
  s.cluster.sites->bandwidth = 100000_Gbps;
  s.cluster.sites->connections = 65536;
  s.training.framework.data_overlap = false;
  const core::Seconds near = time_of(s);
  s.cluster.sites->latency = core::Seconds(0.105);
  const core::Seconds far = time_of(s);
  // Reductions and gathers of all buckets one after another, two of the norm: so many ways of
  // 100 ms, one a bucket and collective.
  const double ways = (far - near).si() / 0.1;
  EXPECT_NEAR(ways, std::round(ways), 0.05);
  EXPECT_GE(std::round(ways), 4);
}

TEST(Sites, TheTiersAgree) {
  for (const double gbps : {50.0, 100.0, 400.0, 1600.0}) {
    for (const int pipeline : {1, 2}) {
      Scenario s = on_two_sites();
      s.cluster.sites->bandwidth = core::BytesPerSecond(gbps * 1e9 / 8);
      s.parallelism.pipeline = pipeline;
      s.parallelism.rank_order = RankOrder::pipeline_first;
      const auto checked = check(std::move(s));
      analytic::AnalyticTier tier(checked.scenario());
      const double analytic = tier.evaluate(checked).time.si();
      EXPECT_NEAR(analytic / simulate_step(checked, {.trace = false}).time.si(), 1, 0.08)
          << gbps << " Gbps, pipeline " << pipeline;
    }
  }
}

TEST(Sites, FewerBitsOfGradientsPassFaster) {
  Scenario s = on_two_sites();
  const auto whole = simulate_step(check(Scenario(s)), {.trace = false});
  s.cluster.sites->gradient_bits = 8;
  const auto packed = simulate_step(check(Scenario(s)), {.trace = false});
  // 4 + 2 bytes a parameter become 1 + 2.
  EXPECT_NEAR(packed.sites->step_bytes / whole.sites->step_bytes, 0.5, 1e-3);
  EXPECT_LT(packed.time, whole.time);
}

// Ten times as many exchanges, all else alike: their kernels run beside the step's own.
TEST(LocalSteps, KernelsOfAnExchangeAreAmongTheStepsKernels) {
  Scenario s = apart();
  const auto seldom = simulate_step(check(Scenario(s)));
  s.training.local_steps->steps = 5;
  const auto often = simulate_step(check(Scenario(s)));
  const auto more = often.sites->exchange->step_kernels - seldom.sites->exchange->step_kernels;
  EXPECT_NEAR(more / seldom.sites->exchange->step_kernels, 9, 1e-9);
  EXPECT_NEAR((often.kernels.front() - seldom.kernels.front()) / more, 1, 1e-9);
}

TEST(LocalSteps, AStepIsThatOfOneSite) {
  const Scenario both = apart();
  Scenario one = both;
  one.training.local_steps.reset();
  one.cluster.sites.reset();
  one.cluster.nodes /= 2;
  one.training.global_batch /= 2;
  const auto step = simulate_step(check(Scenario(both)));
  const auto alone = simulate_step(check(Scenario(one)));
  const auto& exchange = *step.sites->exchange;
  // But for the slowest of 64 GPUs in place of the slowest of 32, 0.1 % of the kernels' speed.
  EXPECT_NEAR((step.time - exchange.step_kernels - exchange.step_wait) / alone.time, 1, 2e-3);
  // Twice the tokens in that time.
  EXPECT_NEAR(step.tokens_per_s * step.time.si(), 2 * alone.tokens_per_s * alone.time.si(), 1e-3);
  double sum = 0;
  for (const core::Seconds part : step.breakdown.values) {
    sum += part.si();
  }
  EXPECT_NEAR(sum, step.time.si(), 1e-9);
}

// Over slow memory the kernels before and after are longer than the exchange itself.
TEST(LocalSteps, ExchangeWhatTheClosedFormSays) {
  for (const auto& [pipeline, memory] :
       {std::pair{1, 3350e9}, std::pair{2, 3350e9}, std::pair{1, 1e9}}) {
    Scenario s = apart();
    s.parallelism.pipeline = pipeline;
    s.cluster.node.gpu.memory_bandwidth = core::BytesPerSecond(memory);
    s.parallelism.rank_order = RankOrder::pipeline_first;
    const auto checked = check(std::move(s));
    const Scenario& c = checked.scenario();
    const auto fabric = build_fabric(c.cluster);
    const auto simulated = simulate_exchange(checked, fabric, true);
    const auto closed = exchange_closed_form(c, c.parallelism, checked.data_parallel());
    EXPECT_NEAR(simulated.transfer / closed.transfer, 1, 0.02) << pipeline;
    EXPECT_EQ(simulated.kernels, closed.kernels);
    EXPECT_EQ(simulate_exchange(checked, fabric, false).transfer, simulated.transfer);
    // Between two sites each sends every parameter once, in 4 bytes.
    EXPECT_NEAR(exchange_bytes(checked).si() / (held_by_all(checked) * 4), 1, 1e-9);
  }
}

// What a site's ranks gather of each other is in the format of the weights.
TEST(LocalSteps, GatherFullPrecisionInFourBytes) {
  Scenario s = apart();
  const auto transfer = [&](core::Precision precision, workload::Sharding sharding) {
    s.training.precision = precision;
    s.parallelism.sharding = sharding;
    return exchange_closed_form(s, s.parallelism, check(s).synchronous_data()).transfer.si();
  };
  const auto gather = [&](core::Precision precision) {
    return transfer(precision, workload::Sharding::zero1) -
           transfer(precision, workload::Sharding::zero3);  // which gathers in the step
  };
  ASSERT_GT(gather(core::Precision::bf16), 0);
  EXPECT_NEAR(gather(core::Precision::fp32) / gather(core::Precision::bf16), 2, 0.02);
}

TEST(LocalSteps, AWaitIsSpreadOverTheStepsBetween) {
  workload::LocalStepsSpec local;
  local.steps = 100;
  local.fragments = 4;
  const ExchangeTime time{core::Seconds(0.1), core::Seconds(5)};
  auto share = exchange_share(local, time, core::Seconds(2));
  EXPECT_DOUBLE_EQ(share.kernels.si(), 4 * 0.1 / 100);
  EXPECT_DOUBLE_EQ(share.waited.si(), 4 * 5.0 / 100);
  local.overlap_steps = 1;
  share = exchange_share(local, time, core::Seconds(2));
  EXPECT_DOUBLE_EQ(share.waited.si(), 4 * 3.0 / 100);
  local.overlap_steps = 3;
  EXPECT_DOUBLE_EQ(exchange_share(local, time, core::Seconds(2)).waited.si(), 0);
}

TEST(LocalSteps, TheTiersAgree) {
  for (const int fragments : {1, 5}) {
    Scenario s = apart();
    s.training.local_steps->fragments = fragments;
    s.training.local_steps->overlap_steps = fragments > 1 ? 1 : 0;
    s.training.local_steps->steps = 5;
    const auto checked = check(std::move(s));
    analytic::AnalyticTier tier(checked.scenario());
    EXPECT_NEAR(tier.evaluate(checked).time / simulate_step(checked, {.trace = false}).time, 1,
                0.08);
  }
}

TEST(LocalSteps, KeepTheLastExchangeAndAMomentum) {
  Scenario s = apart();
  s.training.local_steps->exchange_bits = 4;
  const auto with = predict_memory(check(Scenario(s)));
  Scenario one = s;
  one.training.local_steps.reset();
  one.cluster.sites.reset();
  one.cluster.nodes /= 2;
  one.training.global_batch /= 2;
  const auto without = predict_memory(check(Scenario(one)));
  const auto checked = check(Scenario(s));
  // 8 bytes of each parameter, divided over the four data ranks of a site.
  EXPECT_NEAR((with.by_kind.optimizer - without.by_kind.optimizer).si() /
                  (8 * held_by_all(checked) / 8 / 4),
              1, 1e-9);
  EXPECT_NEAR(
      (with.by_kind.buffers - without.by_kind.buffers).si() / (held_by_all(checked) / 8 / 4), 1,
      1e-9);
}

TEST(Sites, WhatCannotBeCombinedIsRefusedByName) {
  using testing::HasSubstr;
  Scenario s = on_two_sites();
  s.parallelism.pipeline = 2;
  EXPECT_THAT(complaint(s), HasSubstr("stages of one pipeline on different sites"));
  s.cluster.placement = Placement::rack;
  EXPECT_EQ(complaint(s), "");
  s.cluster.placement = Placement::random;
  EXPECT_THAT(complaint(s), HasSubstr("'random' on several sites is not modelled"));

  s = on_two_sites();
  s.parallelism.pipeline = 8;
  s.parallelism.rank_order = RankOrder::pipeline_first;
  EXPECT_THAT(complaint(s), HasSubstr("data 1 cannot be divided over 2 sites"));

  s = on_two_sites();
  s.cluster.sites->collective = network::CrossSite::flat;
  s.cluster.sites->gradient_bits = 8;
  EXPECT_THAT(complaint(s), HasSubstr("a flat ring has no values of its own"));
  s.cluster.sites->collective = network::CrossSite::hierarchical;
  s.cluster.sites->gradient_bits = 64;
  EXPECT_THAT(complaint(s), HasSubstr("64 between sites are more"));

  s = on_two_sites();
  s.parallelism.sharding = workload::Sharding::hsdp;
  s.parallelism.shard_group_size = 8;
  EXPECT_THAT(complaint(s), HasSubstr("shard groups of 8 ranks do not divide the 4 data ranks"));

  s = on_two_sites();
  s.cluster.sites->count = 3;
  EXPECT_THAT(complaint(s), HasSubstr("3 sites do not divide the 8 nodes"));

  s = apart();
  s.cluster.sites.reset();
  EXPECT_THAT(complaint(s), HasSubstr("write 'cluster.sites'"));
  s = apart();
  s.training.local_steps->fragments = 10;
  s.training.local_steps->overlap_steps = 6;
  EXPECT_THAT(complaint(s), HasSubstr("beside 6 steps is not over"));
  s.training.local_steps->fragments = 51;
  EXPECT_THAT(complaint(s), HasSubstr("51 fragments do not come in turn in 50 steps"));
  s = apart();
  s.cluster.sites->gradient_bits = 8;
  EXPECT_THAT(complaint(s), HasSubstr("exchange_bits"));
}

/// Of `count` sites, the way of one of them at a part of its rate, or of all of them.
core::Seconds with_slow_ways(int count, double keeps, bool all) {
  Scenario s = on_two_sites();
  s.cluster.sites->count = count;
  const CheckedScenario checked = check(std::move(s));
  PreparedStep step = prepare_step(checked);
  for (std::size_t l = 0; l < step.lowered.fabric_links.size(); ++l) {
    const core::LinkId id = step.lowered.fabric_links[l];
    const bool first =
        id == step.fabric.site_link(0, true) || id == step.fabric.site_link(0, false);
    if (step.fabric.link(id).tier == network::Tier::site && (all || first)) {
      step.lowered.problem.links[l].capacity = step.fabric.link(id).nominal * keeps;
    }
  }
  return core::Clock::step().to_seconds(network::run(step.lowered.problem, {}).end);
}

// The ring between sites goes at the pace of its slowest way: what campaigns take for granted when
// they slow all ways for one.
TEST(Sites, WhereTheLawOfTcpEndsIsSaid) {
  Scenario s = on_two_sites();
  const auto says = [&s](double loss, network::WideAreaTransport transport) {
    s.cluster.sites->loss = loss;
    s.cluster.sites->transport = transport;
    const auto list = simulate_step(check(Scenario(s)), {.trace = false}).assumptions;
    return std::any_of(list.begin(), list.end(),
                       [](const Assumption& a) { return a.key == "cluster.sites.loss"; });
  };
  EXPECT_TRUE(says(0.02, network::WideAreaTransport::tcp_cubic));
  EXPECT_FALSE(says(0.01, network::WideAreaTransport::tcp_reno));
  EXPECT_FALSE(says(0.02, network::WideAreaTransport::rdma_selective_repeat));
}

TEST(Sites, OneSlowWayIsAsSlowAsAll) {
  for (const int count : {2, 4}) {
    for (const double keeps : {0.5, 0.1}) {
      const core::Seconds healthy = with_slow_ways(count, 1, true);
      const core::Seconds all = with_slow_ways(count, keeps, true);
      EXPECT_GT(all, healthy * 1.02);
      EXPECT_NEAR(with_slow_ways(count, keeps, false) / all, 1, 1e-3) << count << " " << keeps;
    }
  }
}

}  // namespace
}  // namespace headway::training

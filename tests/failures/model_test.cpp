// Draws of failures against the laws they must have, within four standard errors at fixed seeds.
#include "sim/failures/model.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"
#include "sim/core/statistics.h"

namespace headway::failures {
namespace {

using core::Clock;
using core::PerSecond;
using core::Seconds;
using core::Tick;

constexpr Clock kClock = Clock::campaign();

HazardSpec gpu_hazard(const char* name, double mtbf, LawSpec law = {}) {
  HazardSpec spec;
  spec.name = name;
  spec.mtbf = Seconds(mtbf);
  spec.law = std::move(law);
  return spec;
}

LawSpec weibull_of(double shape) {
  LawSpec spec;
  spec.kind = LawKind::weibull;
  spec.shape = shape;
  return spec;
}

FailureSpec table(std::vector<HazardSpec> hazards) {
  FailureSpec spec;
  spec.hazards = std::move(hazards);
  return spec;
}

std::vector<Strike> strikes_until(HazardSampler& sampler, double seconds) {
  std::vector<Strike> strikes;
  for (Strike next = sampler.next(); next.exposed < kClock.to_ticks(Seconds(seconds));
       next = sampler.next()) {
    strikes.push_back(next);
    sampler.take(next);
  }
  return strikes;
}

core::Moments counts(const std::vector<Hazard>& hazards, double seconds, int trials) {
  core::Moments moments;
  for (int trial = 0; trial < trials; ++trial) {
    HazardSampler sampler(hazards, 7, static_cast<std::uint32_t>(trial), kClock);
    moments.add(static_cast<double>(strikes_until(sampler, seconds).size()));
  }
  return moments;
}

TEST(HazardSampler, GivesEachHazardItsRate) {
  const auto hazards = hazards_of(table({gpu_hazard("a", 1000), gpu_hazard("b", 3000)}), {100, 10});
  double a = 0;
  double b = 0;
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    HazardSampler sampler(hazards, 1, trial, kClock);
    for (const auto& strike : strikes_until(sampler, 1000)) {
      (strike.hazard == 0 ? a : b) += 1;
    }
  }
  EXPECT_NEAR(a, 20000, 4 * std::sqrt(20000));
  EXPECT_NEAR(b, 20000.0 / 3, 4 * std::sqrt(20000.0 / 3));
}

TEST(HazardSampler, NeverMovesTheDrawsOfOtherHazards) {
  const auto one = hazards_of(table({gpu_hazard("a", 1000)}), {100, 10});
  const auto two = hazards_of(table({gpu_hazard("z", 500), gpu_hazard("a", 1000)}), {100, 10});
  HazardSampler alone(one, 1, 5, kClock);
  HazardSampler together(two, 1, 5, kClock);
  std::vector<Tick> of_a;
  for (const auto& strike : strikes_until(together, 1000)) {
    if (strike.hazard == 1) {
      of_a.push_back(strike.exposed);
    }
  }
  std::vector<Tick> expected;
  for (const auto& strike : strikes_until(alone, 1000)) {
    expected.push_back(strike.exposed);
  }
  EXPECT_EQ(of_a, expected);
}

TEST(HazardSampler, OfNothingNeverStrikes) {
  const std::vector<Hazard> none;
  EXPECT_EQ(HazardSampler(none, 1, 0, kClock).next().exposed, core::kEndOfTime);
}

TEST(AgeingParts, FailFirstAsTheMinimumOfTheirLaws) {
  // O9: 512 new Weibull parts of shape 0.7: mean of the first failure scale N^(-1/k) Gamma(1 +
  // 1/k).
  const auto hazards = hazards_of(table({gpu_hazard("a", 1e6, weibull_of(0.7))}), {512, 64});
  core::Moments first;
  for (std::uint32_t trial = 0; trial < 400'000; ++trial) {
    const HazardSampler sampler(hazards, 3, trial, kClock);
    first.add(kClock.to_seconds(sampler.next().exposed).si());
  }
  const double exact = first_of(512, weibull_with_mean(0.7, Seconds(1e6))).mean().si();
  EXPECT_NEAR(first.mean(), exact, 4 * first.standard_error());
  EXPECT_LT(4 * first.standard_error(), 0.01 * exact);  // would catch 1 %
}

TEST(AgeingParts, ThatAreMendedFailAsAPoissonProcessOfTheirHazard) {
  // Expected failures until t: parts x (H(age + t) - H(age)), the variance the same.
  HazardSpec spec = gpu_hazard("a", 1000, weibull_of(2));
  spec.after_failure = AfterFailure::as_old;
  spec.age = Seconds(300);
  const auto hazards = hazards_of(table({spec}), {50, 5});
  const Law law(weibull_of(2), Seconds(1000));
  const double exact =
      50 * (law.cumulative_hazard(Seconds(1300)) - law.cumulative_hazard(Seconds(300)));
  const core::Moments moments = counts(hazards, 1000, 4000);
  EXPECT_NEAR(moments.mean(), exact, 4 * moments.standard_error());
  EXPECT_NEAR(moments.variance() / exact, 1, 4 * std::sqrt(2.0 / 4000));
}

TEST(AgeingParts, OfALognormalLawFailOnWhereHardlyAnySurvive) {
  // One part that is mended 60 of its means: H = 844, e^-H below what a double holds.
  LawSpec law;
  law.kind = LawKind::lognormal;
  law.sigma = 0.1;
  HazardSpec spec = gpu_hazard("a", 1000, law);
  spec.after_failure = AfterFailure::as_old;
  const auto hazards = hazards_of(table({spec}), {1, 1});
  const double exact = Law(law, Seconds(1000)).cumulative_hazard(Seconds(60'000));
  EXPECT_GT(exact, 800);
  core::Moments strikes;
  for (std::uint32_t trial = 0; trial < 400; ++trial) {
    HazardSampler sampler(hazards, 7, trial, kClock);
    double count = 0;
    for (Strike next = sampler.next(); next.exposed < kClock.to_ticks(Seconds(60'000));
         next = sampler.next()) {
      ASSERT_LT(++count, 2000);  // it does not stand still
      sampler.take(next);
    }
    strikes.add(count);
  }
  EXPECT_NEAR(strikes.mean(), exact, 4 * strikes.standard_error());
}

TEST(AgeingParts, ThatAreRenewedTendToTheirMeanRate) {
  // Renewal theorem, second order: n (t/m + (c^2 - 1)/2), c the coefficient of variation.
  const auto hazards = hazards_of(table({gpu_hazard("a", 1000, weibull_of(2))}), {50, 5});
  const core::Moments moments = counts(hazards, 20000, 400);
  const double c_squared = std::tgamma(2) / std::pow(std::tgamma(1.5), 2) - 1;
  const double exact = 50 * (20 + (c_squared - 1) / 2);
  EXPECT_NEAR(moments.mean(), exact, 4 * moments.standard_error());
  EXPECT_LT(4 * moments.standard_error(), 0.01 * exact);
}

TEST(AgeingParts, OfShapeOneAreExponential) {
  HazardSpec spec = gpu_hazard("a", 1000, weibull_of(1));
  for (const auto after : {AfterFailure::renewed, AfterFailure::as_old}) {
    spec.after_failure = after;
    const core::Moments moments = counts(hazards_of(table({spec}), {80, 10}), 500, 4000);
    EXPECT_NEAR(moments.mean(), 40, 4 * moments.standard_error());
    EXPECT_NEAR(moments.variance() / 40, 1, 4 * std::sqrt(2.0 / 4000));
  }
}

TEST(AgeingParts, OfInfantMortalityFailEarly) {
  // Ten times the rate in the first 100 s: 100 parts x (10 x 100 + 900) / 10^5 = 1.9 failures until
  // 1000 s.
  LawSpec infant;
  infant.kind = LawKind::piecewise;
  infant.factors = {{Seconds(100), 10}};
  HazardSpec spec = gpu_hazard("a", 1e5, infant);
  spec.after_failure = AfterFailure::as_old;
  const core::Moments moments = counts(hazards_of(table({spec}), {100, 10}), 1000, 20000);
  EXPECT_NEAR(moments.mean(), 1.9, 4 * moments.standard_error());
}

TEST(AgeingParts, NeedAnMtbf) {
  HazardSpec spec = gpu_hazard("a", 1, weibull_of(2));
  spec.mtbf.reset();
  spec.count = 3;
  FailureSpec failures = table({spec});
  failures.observed = ExposureSpec{8, 8, Seconds(1)};
  EXPECT_THROW(hazards_of(failures, {8, 1}), core::Error);
}

TEST(Domains, StrikeOncePerDomainAndTakeAlignedNodes) {
  // O10: 100 nodes in 10 racks; racks of mtbf 5000 s.
  HazardSpec rack = gpu_hazard("rack", 5000);
  rack.per = Population::domain;
  rack.nodes_lost = 10;
  const auto hazards = hazards_of(table({rack}), {800, 100});
  EXPECT_DOUBLE_EQ(hazards[0].rate.si(), 10 / 5000.0);
  EXPECT_EQ(hazards[0].nodes_lost, 10);
  HazardSampler sampler(hazards, 1, 0, kClock);
  std::vector<int> hits(10);
  for (const auto& strike : strikes_until(sampler, 1e6)) {
    const auto slot = sampler.victim(strike, 100);
    ASSERT_EQ(slot % 10, 0U);
    ++hits.at(slot / 10);
  }
  EXPECT_GT(*std::min_element(hits.begin(), hits.end()), 120);  // 200 each, sd 14
  EXPECT_LT(*std::max_element(hits.begin(), hits.end()), 280);
}

TEST(HazardSampler, BlamesAnyOtherSlotAndNeverAGuiltyOne) {
  const auto hazards = hazards_of(table({gpu_hazard("a", 1000)}), {80, 10});
  const HazardSampler sampler(hazards, 1, 0, kClock);
  const std::vector<std::uint64_t> guilty{0, 4, 5, 9};
  std::vector<double> blamed(10);
  for (std::uint64_t turn = 0; turn < 60'000; ++turn) {
    blamed[sampler.innocent(sampler.next(), turn, guilty, 10)] += 1;
  }
  for (std::uint64_t slot = 0; slot < 10; ++slot) {
    const bool may = std::find(guilty.begin(), guilty.end(), slot) == guilty.end();
    EXPECT_NEAR(blamed[slot], may ? 10'000 : 0, may ? 4 * std::sqrt(60'000 * 5.0 / 36) : 0) << slot;
  }
  EXPECT_LT(sampler.innocent(sampler.next(), 0, {0, 1}, 2), 2U);  // where all are
}

TEST(Lemons, LeaveTheMeanRateOfTheFleetAsItWas) {
  // 1000 nodes, 2 % lemons of 20 times the rate; they stay in the job.
  FailureSpec failures = table({gpu_hazard("a", 8e6)});
  failures.lemons = LemonSpec{.share = 0.02, .factor = 20};
  const auto hazards = hazards_of(failures, {8000, 1000});
  ASSERT_EQ(hazards.size(), 2U);
  EXPECT_NEAR(hazards[0].rate.si() + hazards[1].rate.si(), 1e-3, 1e-12);
  // r (1 - s + s f) = 1e-6 a node: r = 1e-6 / 1.38; the lemons add 20 x 19 r.
  EXPECT_NEAR(hazards[1].rate.si(), 20 * 19 * 1e-6 / 1.38, 1e-12);
  core::Moments moments;
  for (std::uint32_t trial = 0; trial < 1000; ++trial) {
    HazardSampler sampler(hazards, 11, trial, kClock);
    double count = 0;
    for (Strike s = sampler.next(); s.exposed < kClock.to_ticks(Seconds(1e5)); s = sampler.next()) {
      const auto slot = sampler.victim(s, 1000);
      sampler.take(s);
      sampler.lemons()->insert(sampler.lemons()->remove(slot), slot, s.exposed);
      ++count;
    }
    moments.add(count);
  }
  EXPECT_NEAR(moments.mean(), 100, 4 * moments.standard_error());
  // More than Poisson: the number of lemons varies, 20 of them, each worth 19 r T = 1.38 failures.
  EXPECT_GT(moments.variance(), 110);
}

TEST(Lemons, ThatDoNotComeBackStrikeNoMore) {
  // Out of the job at its first failure, a lemon strikes at most once: 1 - e^(-f r T) each.
  FailureSpec failures = table({gpu_hazard("a", 8e6)});
  failures.lemons = LemonSpec{.share = 0.05, .factor = 50};
  const auto hazards = hazards_of(failures, {8000, 1000});
  core::Moments lemon_failures;
  for (std::uint32_t trial = 0; trial < 1000; ++trial) {
    HazardSampler sampler(hazards, 11, trial, kClock);
    double count = 0;
    for (Strike s = sampler.next(); s.exposed < kClock.to_ticks(Seconds(1e5)); s = sampler.next()) {
      const auto slot = sampler.victim(s, 1000);
      sampler.take(s);
      const bool good = sampler.lemons()->remove(slot).good();
      EXPECT_TRUE(s.hazard == 0 || !good);
      count += s.hazard == 1 ? 1 : 0;
    }
    lemon_failures.add(count);
  }
  // A good node's rate is 1e-6 / 3.45; a lemon is struck first by its extra stream in 49 of 50
  // cases.
  const double r = 1e-6 / 3.45;
  const double exact = 50 * (1 - std::exp(-50 * r * 1e5)) * 49 / 50;
  EXPECT_NEAR(lemon_failures.mean(), exact, 4 * lemon_failures.standard_error());
}

// Lemons are numbered along the row of nodes and spares: those before a spare are those below it.
TEST(Lemons, AreFoundAmongTheSpares) {
  const LemonModel all{.share = 1, .extra_rate = core::PerSecond(1), .nodes = 10, .spares = 5};
  const LemonNodes row(all, core::RandomStream(1, "lemons"), kClock);
  for (std::uint32_t spare = 0; spare < 5; ++spare) {
    EXPECT_EQ(row.initial_spare(spare).lemon, 10 + spare);
  }
  LemonModel half = all;
  half.share = 0.5;
  half.spares = 1000;
  const LemonNodes some(half, core::RandomStream(1, "lemons"), kClock);
  std::vector<std::uint32_t> found;
  for (std::uint32_t spare = 0; spare < 1000; ++spare) {
    if (const Node node = some.initial_spare(spare); node.lemon != Node::kGood) {
      found.push_back(node.lemon);
    }
  }
  EXPECT_NEAR(static_cast<double>(found.size()), 500, 4 * std::sqrt(1000 * 0.25));
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_EQ(found[i], found[0] + i);
  }
}

// A share that is lost beside one: no gap between lemons may come out as none.
TEST(Lemons, OfATinyShareAreNone) {
  for (const double share : {1e-15, 0x1p-55, 1e-300}) {
    const LemonModel rare{
        .share = share, .extra_rate = core::PerSecond(1), .nodes = 1000, .spares = 0};
    const LemonNodes none(rare, core::RandomStream(1, "lemons"), kClock);
    EXPECT_EQ(none.next(), core::kEndOfTime) << share;
  }
}

TEST(RecordedFailures, AreGroupedByTheirName) {
  FailureSpec failures;
  const auto event = [](double at, const char* name) {
    RecordedFailureSpec spec;
    spec.at = Seconds(at);
    spec.name = name;
    return spec;
  };
  failures.recorded = {event(30, "gpu"), event(10, "gpu"), event(20, "hang")};
  const auto hazards = hazards_of(failures, {8, 1});
  ASSERT_EQ(hazards.size(), 2U);
  EXPECT_EQ(hazards[0].recorded, (std::vector<Recorded>{{Seconds(10), {}}, {Seconds(30), {}}}));
  EXPECT_EQ(hazards[1].recorded, (std::vector<Recorded>{{Seconds(20), {}}}));
  // They are not drawn.
  EXPECT_EQ(HazardSampler(hazards, 1, 0, kClock).next().exposed, core::kEndOfTime);
}

}  // namespace
}  // namespace headway::failures

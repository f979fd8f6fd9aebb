// Oracles O5, O6, O9, O10 of failures, with their golden numbers.
#include "sim/failures/closed_form.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "sim/core/error.h"

namespace headway::failures {
namespace {

using namespace core::literals;
using core::PerSecond;
using core::Seconds;

constexpr double kDay = 86400;

HazardSpec named(const char* name, Population per = Population::gpu) {
  HazardSpec hazard;
  hazard.name = name;
  hazard.per = per;
  return hazard;
}

HazardSpec counted(const char* name, Population per, std::int64_t count) {
  HazardSpec hazard = named(name, per);
  hazard.count = count;
  return hazard;
}

TEST(JobRate, GrowsWithThePopulationThatFails) {
  HazardSpec hazard = named("x");
  hazard.mtbf = Seconds(1000);
  const Fleet fleet{.gpus = 80, .nodes = 10};
  hazard.per = Population::gpu;
  EXPECT_DOUBLE_EQ(job_rate(hazard, {}, fleet).si(), 0.08);
  hazard.per = Population::node;
  EXPECT_DOUBLE_EQ(job_rate(hazard, {}, fleet).si(), 0.01);
  hazard.per = Population::job;
  EXPECT_DOUBLE_EQ(job_rate(hazard, {}, fleet).si(), 0.001);
}

TEST(JobRate, OfACountIsScaledByTheExposure) {
  // 148 failed GPUs on 16,384 in 54 days; on 8,192 GPUs half of them.
  FailureSpec table;
  table.observed = ExposureSpec{16384, 8, Seconds(54 * kDay)};
  table.hazards = {counted("gpu", Population::gpu, 148), counted("host", Population::node, 32),
                   counted("software", Population::job, 54)};
  EXPECT_NEAR(job_rate(table, {8192, 1024}).si() * 54 * kDay, 74 + 16 + 54, 1e-9);
  EXPECT_NEAR(job_rate(table, {16384, 2048}).si() * 54 * kDay, 234, 1e-9);
}

TEST(JobRate, OfNothingIsRefusedWithTheHazardsName) {
  EXPECT_THROW(job_rate(named("bare"), {}, {}), core::Error);
  EXPECT_THROW(job_rate(counted("counted", Population::gpu, 3), {}, {}), core::Error);
}

TEST(Counts, FollowPoisson) {
  // O6: 256 GPUs x 30 d at 1 % a year: 18.97 % see a failure; 1,024: 56.90 %.
  const PerSecond one_percent_a_year(0.01 / (365 * kDay));
  EXPECT_NEAR(probability_of_any(256 * one_percent_a_year, 30_days), 0.1897, 5e-5);
  EXPECT_NEAR(probability_of_any(1024 * one_percent_a_year, 30_days), 0.5690, 5e-5);
  // 100,000 parts of 50,000 h: 30 minutes between failures.
  EXPECT_DOUBLE_EQ(mean_time_between(1e5 / Seconds(50000 * 3600.0)).si(), 1800);
}

TEST(Spares, AreErlangsServers) {
  // O5: 512 nodes, 3.789 per 1000 node-days, 3 days of repair, 8 spares.
  const PerSecond rate(3.789e-3 / kDay);
  EXPECT_NEAR(stalled_share(512, rate, 3_days, 8), 0.0675, 5e-5);
  const auto needed = [](double per_node_day, double nodes) {
    return spares_needed(nodes * per_node_day * 3, 0, 0.01, 100);
  };
  EXPECT_EQ(needed(3.789e-3, 128), 5);
  EXPECT_EQ(needed(3.789e-3, 512), 11);
  EXPECT_EQ(needed(3.789e-3, 2048), 33);
  EXPECT_EQ(needed(6.5e-3, 2048), 52);
  EXPECT_EQ(spares_needed(2048 * 6.5e-3 * 3, 0, 0.01, 51), std::nullopt);
}

/// The weights of the chain as logarithms: a^n / (1 .. crews crews ..), none too large for a
/// double.
double stalled_by_weights(double offered, std::int64_t spares, std::int64_t crews) {
  double log_weight = 0;
  std::vector<double> logs{0};
  for (std::int64_t broken = 1; broken <= spares + 1; ++broken) {
    log_weight += std::log(offered / static_cast<double>(std::min(broken, crews)));
    logs.push_back(log_weight);
  }
  double beside_the_last = 0;
  for (const double log : logs) {
    beside_the_last += std::exp(log - log_weight);
  }
  return 1 / beside_the_last;
}

TEST(Spares, WithACrewForEachRepairAreErlangs) {
  EXPECT_NEAR(stalled_share_with_crews(5.82, 8, 9), erlang_b(5.82, 9), 1e-15);
  EXPECT_GT(stalled_share_with_crews(5.82, 8, 4), erlang_b(5.82, 9));
  // One crew, one server: a / (1 + a).
  EXPECT_NEAR(stalled_share_with_crews(0.5, 0, 1), 0.5 / 1.5, 1e-15);
}

TEST(Spares, WithCrewsAreThoseOfTheChainWhereItsWeightsOverflow) {
  // A node an hour, 33 days of repair: a^n / n! passes 1e308 at the 410th.
  for (const std::int64_t crews : {795, 2000}) {
    const auto needed = spares_needed(792, crews, 0.01, 100'000);
    ASSERT_TRUE(needed.has_value());
    EXPECT_LT(stalled_by_weights(792, *needed, crews), 0.01);
    EXPECT_GE(stalled_by_weights(792, *needed - 1, crews), 0.01);
    EXPECT_NEAR(stalled_share_with_crews(792, *needed, crews),
                stalled_by_weights(792, *needed, crews), 1e-12);
  }
  EXPECT_EQ(spares_needed(792, 2000, 0.01, 100'000), spares_needed(792, 0, 0.01, 100'000));
}

TEST(Spares, AreNeverEnoughWhereCrewsMendMoreSlowlyThanNodesBreak) {
  // What is left with any number of spares: 1 - crews / a.
  EXPECT_NEAR(stalled_share_with_crews(40, 10'000, 20), 1 - 20.0 / 40, 1e-12);
  EXPECT_EQ(spares_needed(40, 20, 0.5, 1'000'000'000'000), std::nullopt);  // and says so at once
  EXPECT_TRUE(spares_needed(40, 20, 0.51, 1000).has_value());
}

TEST(FirstOfMany, WeibullPartsIsWeibull) {
  // O9: the survival of the first of N is the N-th power of one part's.
  const Weibull part{0.7, Seconds(1e6)};
  const Weibull first = first_of(64, part);
  for (const double t : {10.0, 1e3, 1e5}) {
    EXPECT_NEAR(first.survival(Seconds(t)), std::pow(part.survival(Seconds(t)), 64), 1e-12);
  }
  EXPECT_NEAR(first.mean().si(), 1e6 * std::pow(64, -1 / 0.7) * std::tgamma(1 + 1 / 0.7), 1e-6);
  EXPECT_NEAR(weibull_with_mean(0.5, 100_s).mean().si(), 100, 1e-12);
  EXPECT_NEAR(weibull_with_mean(0.5, 100_s).scale.si(), 50, 1e-12);
}

TEST(CommonShock, AddsRatesAndTakesManyNodes) {
  // O10: N lam = 0.01, M Lam = 0.002 a second.
  const CommonShock shock{.nodes = 100,
                          .node_rate = PerSecond(1e-4),
                          .domains = 10,
                          .domain_rate = PerSecond(2e-4),
                          .nodes_per_domain = 10};
  EXPECT_NEAR(shock.job_rate().si(), 0.012, 1e-15);
  EXPECT_NEAR(shock.probability_of_several(), 1.0 / 6, 1e-12);
  EXPECT_NEAR(shock.nodes_lost_per_event(), (0.01 + 0.02) / 0.012, 1e-12);
}

}  // namespace
}  // namespace headway::failures

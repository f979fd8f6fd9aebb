// Oracles O1 to O4, O8, O11, O12 with their golden numbers: 54 days, 419 failures, mu = 11,135 s.
#include "sim/campaign/closed_form.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/failures/closed_form.h"
#include "sim/failures/law.h"

namespace headway::campaign {
namespace {

using namespace core::literals;
using core::Seconds;

constexpr double kMu = 54 * 86400.0 / 419;  // 11135.0835 s

Rhythm rhythm(double work, double stall, double persist = 0) {
  return {.work = Seconds(work),
          .stall = Seconds(stall),
          .persist = Seconds(persist),
          .downtime = Seconds(600),
          .restart = Seconds(300),
          .mean_time_between_failures = Seconds(kMu)};
}

TEST(Efficiency, HasTheGoldenValuesOfTheExactFormula) {
  struct Golden {
    double work;
    std::array<double, 3> at_1_30_300_s;
  };
  for (const Golden& g :
       {Golden{600, {0.897450, 0.855015, 0.591216}}, Golden{1800, {0.850492, 0.835896, 0.719389}},
        Golden{3600, {0.782116, 0.774804, 0.711987}},
        Golden{10800, {0.546940, 0.544652, 0.523973}}}) {
    EXPECT_NEAR(efficiency(rhythm(g.work, 1)), g.at_1_30_300_s[0], 5e-7);
    EXPECT_NEAR(efficiency(rhythm(g.work, 30)), g.at_1_30_300_s[1], 5e-7);
    EXPECT_NEAR(efficiency(rhythm(g.work, 300)), g.at_1_30_300_s[2], 5e-7);
  }
  EXPECT_NEAR(expected_makespan(54_days, rhythm(1800, 30)).si() / 86400, 64.60, 5e-3);
}

TEST(Efficiency, HasItsLimits) {
  Rhythm r = rhythm(1800, 30);
  r.mean_time_between_failures = Seconds(0);
  EXPECT_DOUBLE_EQ(efficiency(r), 1800.0 / 1830);
  r.mean_time_between_failures = Seconds(1e15);
  EXPECT_NEAR(efficiency(r), 1800.0 / 1830, 1e-9);
  Rhythm free_saves = rhythm(1e-3, 0);
  free_saves.restart = Seconds(0);
  EXPECT_NEAR(efficiency(free_saves), kMu / (kMu + 600), 1e-6);  // D scales it by mu / (mu + D)
  free_saves.downtime = Seconds(0);
  EXPECT_NEAR(efficiency(free_saves), 1, 1e-6);
}

TEST(Efficiency, OfAnUninterruptedRestartIsHigher) {
  const Rhythm r = rhythm(1800, 30);
  EXPECT_LT(expected_segment_uninterrupted_restart(r), expected_segment(r));
  EXPECT_NEAR(expected_segment_uninterrupted_restart(r).si(), (kMu + 900) * std::expm1(1830 / kMu),
              1e-9);
}

TEST(Makespan, AddsAShorterLastSegment) {
  const Rhythm r = rhythm(1800, 30);
  Rhythm last = rhythm(600, 30);
  const Seconds expected = 2 * expected_segment(r) + expected_segment(last);
  EXPECT_NEAR(expected_makespan(4200_s, r).si(), expected.si(), 1e-9);
  EXPECT_NEAR(expected_makespan(3600_s, r).si(), 2 * expected_segment(r).si(), 1e-9);
}

// Legal laws whose sums have 1e6 to 1e8 terms, each against the law's integral: for segments far
// shorter than the life, sum_{j>=1} S(R + j s + P) = (1/s) int_{R+P+s/2} S dt to second order, and
// int_0 S dt is the mean. Efficiency = tau / s x (1 - (R + P + s/2) / mean) as long as S is 1
// there.
TEST(RenewalEfficiency, OfLongTailsIsTheIntegralOfTheirLaw) {
  Rhythm r;
  r.work = 20_s;
  r.stall = 1_s;
  r.restart = 5_s;
  r.downtime = Seconds(0);
  const Seconds mean(300.0 * 86400);
  // Weibull of shape 2 lives long at first: S = 1 for minutes.
  failures::LawSpec spec;
  spec.kind = failures::LawKind::weibull;
  spec.shape = 2;
  const auto value = [&](const failures::LawSpec& given) {
    const failures::Law law(given, mean);
    return renewal_efficiency(
        r, [&](Seconds t) { return law.survival(t); }, mean);
  };
  EXPECT_NEAR(value(spec), 20.0 / 21 * (1 - 15.5 / mean.si()), 1e-9);
  // Young parts of shape 0.5 fail more often: S = 1 - (t / scale)^0.5 there, scale = mean / 2.
  spec.shape = 0.5;
  const double early = 15.5 - 2.0 / 3 * 15.5 * std::sqrt(15.5 / (mean.si() / 2));
  EXPECT_NEAR(value(spec), 20.0 / 21 * (1 - early / mean.si()), 1e-7);
  // The lognormal of sigma 3 has its median at e^-4.5 of its mean, still days.
  spec.kind = failures::LawKind::lognormal;
  spec.sigma = 3;
  EXPECT_NEAR(value(spec), 20.0 / 21 * (1 - 15.5 / mean.si()), 1e-7);
}

// The exponential law has a formula of its own, for sums of 1e3 terms as for those of 1e9.
TEST(RenewalEfficiency, IsTheSameByTermsAndByTheIntegralBehindThem) {
  for (const double mu : {1e3, 1e5, 1e7, 1e9}) {
    Rhythm r = rhythm(20, 1);
    r.mean_time_between_failures = Seconds(mu);
    const double sum = renewal_efficiency(
        r, [&](Seconds t) { return std::exp(-t.si() / mu); }, Seconds(mu));
    EXPECT_NEAR(sum / efficiency(r), 1, 1e-9) << mu;
  }
}

TEST(OptimalInterval, HasThePublishedValues) {
  // Aupy et al. 2013, table 2: C = 600 s, 2^10 to 2^19 parts of 125 years each; periods are tau +
  // C.
  const std::array<double, 10> periods{68168, 48261, 34185, 24232, 17194,
                                       12218, 8701,  6214,  4458,  3218};
  Seconds mu(125.0 * 365 * 86400 / 1024);
  for (const double period : periods) {
    EXPECT_NEAR(optimal_interval(600_s, mu).si() + 600, period, 0.6);
    mu /= 2;
  }
  // The rate of Llama 3.
  EXPECT_NEAR(optimal_interval(1_s, Seconds(kMu)).si(), 149, 0.5);
  EXPECT_NEAR(optimal_interval(10_s, Seconds(kMu)).si(), 465, 0.5);
  EXPECT_NEAR(optimal_interval(60_s, Seconds(kMu)).si(), 1116, 0.5);
  EXPECT_NEAR(optimal_interval(300_s, Seconds(kMu)).si(), 2389, 0.5);
}

TEST(OptimalInterval, ReachesTheGoldenEfficiency) {
  const std::array<double, 4> stalls{1, 10, 60, 300};
  struct Golden {
    double gpus;
    std::array<double, 4> efficiency;
  };
  for (const Golden& g :
       {Golden{16384, {0.911, 0.885, 0.831, 0.726}}, Golden{4096, {0.974, 0.960, 0.930, 0.871}},
        Golden{131072, {0.542, 0.498, 0.414, 0.270}}}) {
    for (std::size_t i = 0; i < stalls.size(); ++i) {
      Rhythm r = rhythm(1, stalls[i]);
      r.mean_time_between_failures = Seconds(kMu * 16384 / g.gpus);
      r.work = optimal_interval(r.stall, r.mean_time_between_failures);
      EXPECT_NEAR(efficiency(r), g.efficiency[i], 6e-4) << g.gpus << " GPUs, C = " << stalls[i];
    }
  }
}

TEST(OptimalInterval, IsNotImprovedByItsNeighbours) {
  Rhythm r = rhythm(1, 45);
  r.work = optimal_interval(r.stall, r.mean_time_between_failures);
  const double best = efficiency(r);
  for (const double factor : {0.9, 0.99, 1.01, 1.1}) {
    Rhythm other = r;
    other.work = factor * r.work;
    EXPECT_LT(efficiency(other), best);
  }
}

TEST(OptimalInterval, TendsToYoungsAsSavesBecomeCheap) {
  for (const double c : {1e-2, 1e-5, 1e-8}) {
    const double ratio = optimal_interval(Seconds(c), 1_h) / young_interval(Seconds(c), 1_h);
    EXPECT_NEAR(ratio, 1, std::sqrt(2 * c / 3600));
  }
  EXPECT_EQ(optimal_interval(0_s, 1_h).si(), 0);
  EXPECT_EQ(optimal_interval(10_s, 0_s).si(), 0);
  // The series near the branch point and Lambert's function agree where one takes over.
  const double below = optimal_interval(Seconds(0.4999e-6), 1_s).si();
  const double above = optimal_interval(Seconds(0.5001e-6), 1_s).si();
  EXPECT_NEAR((above - below) / below, 0.0002, 1e-6);
}

TEST(OptimalInterval, WaitsForAnAsynchronousSave) {
  EXPECT_DOUBLE_EQ(optimal_interval(5_s, Seconds(kMu), 900_s).si(), 895);
  EXPECT_DOUBLE_EQ(optimal_interval(5_s, Seconds(kMu), 100_s).si(),
                   optimal_interval(5_s, Seconds(kMu)).si());
}

TEST(DalyInterval, IsCloseToTheOptimum) {
  EXPECT_NEAR(daly_interval(60_s, Seconds(kMu)) / optimal_interval(60_s, Seconds(kMu)), 1, 1e-3);
  EXPECT_EQ(daly_interval(300_s, 100_s), 100_s);
}

TEST(AsynchronousSaves, LoseThePersistLag) {
  // O3: stall 5 s, P 900 s, tau 1800 s: 0.782611; without the lag 0.848.
  Rhythm r = rhythm(1800, 5, 900);
  r.mean_time_between_failures = Seconds(3.0937 * 3600);
  EXPECT_NEAR(efficiency(r), 0.782611, 5e-7);
  r.persist = Seconds(0);
  EXPECT_NEAR(efficiency(r), 0.848, 5e-4);
}

TEST(AsynchronousSaves, SkipIntervalsWhileTheLastIsBeingWritten) {
  EXPECT_EQ(save_every(100_s, 5_s, 105_s), 1);
  EXPECT_EQ(save_every(100_s, 5_s, 106_s), 2);
  EXPECT_EQ(save_every(100_s, 5_s, 306_s), 4);
  EXPECT_EQ(save_every(100_s, 5_s, 0_s), 1);
}

TEST(RenewalEfficiency, EqualsTheExponentialFormula) {
  const auto exponential = [](Seconds t) { return std::exp(-t.si() / kMu); };
  for (const double persist : {0.0, 900.0}) {
    const Rhythm r = rhythm(1800, 30, persist);
    EXPECT_NEAR(renewal_efficiency(r, exponential, Seconds(kMu)), efficiency(r), 1e-12);
  }
}

TEST(RenewalEfficiency, HasTheGoldenValuesOfWeibull) {
  struct Golden {
    double shape, efficiency;
  };
  for (const Golden& g :
       {Golden{0.5, 0.856937}, Golden{0.7, 0.843942}, Golden{1, 0.835896}, Golden{1.5, 0.832284}}) {
    const auto law = failures::weibull_with_mean(g.shape, Seconds(kMu));
    const double value = renewal_efficiency(
        rhythm(1800, 30), [&](Seconds t) { return law.survival(t); }, Seconds(kMu));
    EXPECT_NEAR(value, g.efficiency, 5e-7) << "shape " << g.shape;
  }
}

TEST(SegmentMoments, HaveTheGoldenValues) {
  // O4: s = 3600, R = 600, D = 0, mu = 3.0937 h.
  const Rhythm r{.work = 3600_s,
                 .stall = 0_s,
                 .persist = 0_s,
                 .downtime = 0_s,
                 .restart = 600_s,
                 .mean_time_between_failures = Seconds(3.0937 * 3600)};
  const Moments m = segment_moments(r);
  EXPECT_NEAR(m.mean, 4478.9, 0.05);
  EXPECT_NEAR(m.variance, 3.207e6, 500);
  EXPECT_NEAR(m.mean, expected_segment_uninterrupted_restart(r).si(), 1e-6);
}

TEST(Stragglers, SlowTheStepAsOftenAsOneIsAmongTheRanks) {
  EXPECT_NEAR(straggler_step(0.005, 1.1, 192), 1.0618, 5e-5);
  EXPECT_NEAR(straggler_step(0.005, 1.1, 192, 0.5), 1 + 0.5 * 0.0618, 5e-5);
  EXPECT_EQ(straggler_step(0, 1.1, 192), 1);
}

TEST(TwoLevels, HaveTheGoldenValue) {
  const Level near{60_s, Seconds(0.5), 90_s};
  const Level far{1800_s, 5_s, 600_s};
  EXPECT_NEAR(two_level_efficiency(near, far, 0.9, Seconds(kMu)), 0.9657, 5e-5);
}

TEST(TwoLevels, WithOneLevelAreTheExactFormulaToFirstOrder) {
  // The near level never saves the day (q = 0): compare with O1, tolerance O((s/mu)^2).
  const Rhythm r{.work = 600_s,
                 .stall = 5_s,
                 .persist = 0_s,
                 .downtime = 0_s,
                 .restart = 300_s,
                 .mean_time_between_failures = 30000_s};
  const Level none{Seconds(1e12), 0_s, 0_s};
  const Level far{600_s, 5_s, 300_s};
  const double tolerance = std::pow(905.0 / 30000, 2);
  EXPECT_NEAR(two_level_efficiency(none, far, 0, 30000_s), efficiency(r), tolerance);
}

TEST(ElasticReplicas, HaveTheGoldenValues) {
  const Seconds mu = 18_min;
  EXPECT_NEAR(elastic_efficiency(280_s, 420_s, 12, mu), 0.71, 5e-3);
  EXPECT_NEAR(elastic_efficiency(190_s, 420_s, 12, mu), 0.79, 5e-3);
}

}  // namespace
}  // namespace headway::campaign

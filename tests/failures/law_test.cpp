// Laws of ageing parts: H and its inverse, and survival against the textbook formulas.
#include "sim/failures/law.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::failures {
namespace {

using core::Seconds;

LawSpec weibull(double shape) {
  LawSpec spec;
  spec.kind = LawKind::weibull;
  spec.shape = shape;
  return spec;
}

LawSpec lognormal(double sigma) {
  LawSpec spec;
  spec.kind = LawKind::lognormal;
  spec.sigma = sigma;
  return spec;
}

/// Three times the rate in the first 100 s, none until 200 s, then 1 / mtbf.
LawSpec infant() {
  LawSpec spec;
  spec.kind = LawKind::piecewise;
  spec.factors = {{Seconds(100), 3}, {Seconds(200), 0}};
  return spec;
}

TEST(Law, FindsTheAgeOfEachCumulativeHazard) {
  for (const LawSpec& spec : {LawSpec{}, weibull(0.5), weibull(3), lognormal(1.4), infant()}) {
    const Law law(spec, Seconds(1000));
    for (const double hazard : {1e-6, 0.01, 0.25, 0.9, 3.0, 20.0}) {
      EXPECT_NEAR(law.cumulative_hazard(law.age_at(hazard)) / hazard, 1, 1e-9)
          << core::to_word(spec.kind) << " at " << hazard;
    }
  }
}

TEST(Law, LognormalHasAnAgeForEveryHazard) {
  // Far beyond what e^-H can be: each age later than the one before, and H(age) the hazard again.
  const Law law(lognormal(0.1), Seconds(1000));
  double before = 0;
  for (const double hazard : {450.0, 454.3, 454.4, 600.0, 700.0, 701.0, 1e4, 1e6}) {
    const Seconds age = law.age_at(hazard);
    EXPECT_GT(age.si(), before) << hazard;
    EXPECT_NEAR(law.cumulative_hazard(age) / hazard, 1, 1e-11) << hazard;
    before = age.si();
  }
  // S at 30 and 37 standard deviations, which erfc still knows: 4.9067e-198 and 5.7255e-300.
  const auto at = [&](double z) {
    return law.cumulative_hazard(Seconds(1000 * std::exp(-0.005 + 0.1 * z)));
  };
  for (const double z : {29.999, 30.001, 33.0, 37.0}) {
    EXPECT_NEAR(at(z), -std::log(std::erfc(z / std::sqrt(2.0)) / 2), 1e-9) << z;
  }
}

TEST(Law, HasTheSurvivalOfItsTextbook) {
  EXPECT_NEAR(Law({}, Seconds(1000)).survival(Seconds(500)), std::exp(-0.5), 1e-14);
  // Weibull of shape 2 and mean 1000: scale 1000 / Gamma(1.5) = 1000 / 0.886227.
  EXPECT_NEAR(Law(weibull(2), Seconds(1000)).survival(Seconds(700)),
              std::exp(-std::pow(0.7 * 0.886226925452758, 2)), 1e-12);
  // Lognormal: the median is mean e^(-sigma^2/2).
  EXPECT_NEAR(Law(lognormal(1.4), Seconds(1000)).survival(Seconds(1000 * std::exp(-0.98))), 0.5,
              1e-12);
  // Piecewise: H(50) = 0.15, H(150) = 0.3, H(1200) = 0.3 + 1.
  const Law law(infant(), Seconds(1000));
  EXPECT_NEAR(law.cumulative_hazard(Seconds(50)), 0.15, 1e-14);
  EXPECT_NEAR(law.cumulative_hazard(Seconds(150)), 0.3, 1e-14);
  EXPECT_NEAR(law.cumulative_hazard(Seconds(1200)), 1.3, 1e-14);
}

TEST(Law, MeanIsTheOneAskedFor) {
  // E[X] = integral of S, by the midpoint rule in ln t.
  for (const LawSpec& spec : {weibull(0.7), weibull(1.5), lognormal(1.2)}) {
    const Law law(spec, Seconds(1000));
    double mean = 0;
    const double width = 1e-3;
    for (double x = -10; x < 16; x += width) {
      const double t = std::exp(x + width / 2);
      mean += law.survival(Seconds(t)) * t * width;
    }
    EXPECT_NEAR(mean, 1000, 0.2) << core::to_word(spec.kind);
  }
}

TEST(Law, OnlyTheExponentialHasNoMemory) {
  EXPECT_TRUE(Law({}, Seconds(1)).memoryless());
  EXPECT_FALSE(Law(weibull(1), Seconds(1)).memoryless());
}

TEST(Law, RefusesAgesThatDoNotRise) {
  LawSpec spec = infant();
  spec.factors[1].until = Seconds(100);
  EXPECT_THROW(Law(spec, Seconds(1)), core::Error);
}

TEST(DefectsLaw, KillsTheDefectiveAndSparesTheRest) {
  LawSpec spec;
  spec.kind = LawKind::defects;
  spec.defective = 0.1;
  const Law law(spec, core::Seconds(200));
  EXPECT_NEAR(law.survival(core::Seconds(200)), 0.9 + 0.1 * std::exp(-1.0), 1e-12);
  EXPECT_NEAR(law.survival(core::Seconds(1e9)), 0.9, 1e-12);
  for (const double age : {1.0, 100.0, 700.0}) {
    EXPECT_NEAR(law.age_at(law.cumulative_hazard(core::Seconds(age))).si(), age, 1e-6 * age);
  }
  EXPECT_TRUE(std::isinf(law.age_at(0.2).si()));  // e^-0.2 is below 0.9: it never fails
  EXPECT_FALSE(law.memoryless());
}

TEST(BurnIn, LetsFewDefectivePartsPass) {
  const core::Seconds life(200);
  const core::Seconds tested(400);
  const double passed = burn_in_yield(0.1, life, tested);
  EXPECT_NEAR(passed, 1 - 0.1 * (1 - std::exp(-2.0)), 1e-12);
  EXPECT_NEAR(infant_hazard_left(0.1, life, tested), 0.1 * std::exp(-2.0) / passed, 1e-12);
}

TEST(DomainPairs, GrowWithTheSquareOfTheJob) {
  HazardSpec zones;
  zones.per = Population::domain_pair;
  zones.nodes_lost = 10;
  EXPECT_DOUBLE_EQ(members(zones, {80, 10}), 0);
  EXPECT_DOUBLE_EQ(members(zones, {160, 20}), 1);
  EXPECT_DOUBLE_EQ(members(zones, {800, 100}), 45);
}

}  // namespace
}  // namespace headway::failures

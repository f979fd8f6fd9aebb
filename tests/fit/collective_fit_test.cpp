#include "calibrate/fit/collective_fit.h"

#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "sim/network/collective/collective_curve.h"

#include "tests/fit/noise.h"

namespace headway::fit {
namespace {

constexpr double kAlpha = 20e-6, kBeta = 270e9;

double line(double bytes, double alpha, double beta, double q) {
  return std::pow(std::pow(alpha, q) + std::pow(bytes / beta, q), 1 / q);
}

/// 8 B to 16 GiB, `noise` standard deviations times the given normal values.
std::vector<Sample> samples_of(double alpha,
                               double beta,
                               double q,
                               const std::vector<double>& noise) {
  std::vector<Sample> out;
  double bytes = 8;
  for (const double z : noise) {
    Sample s;
    s.kind = SampleKind::collective;
    s.op = "all_reduce";
    s.ranks = s.ranks_per_node = 8;
    s.bytes = bytes;
    s.seconds = line(bytes, alpha, beta, q) * std::exp(z);
    out.push_back(s);
    bytes *= 2;
  }
  return out;
}

TEST(CollectiveFit, ThePlantedLineIsRecovered) {
  auto samples = samples_of(kAlpha, kBeta, 0.8, std::vector<double>(32, 0));
  const auto fitted = fit_collective(samples);
  ASSERT_TRUE(fitted.curve.fit);
  EXPECT_NEAR(fitted.curve.fit->alpha.si() / kAlpha, 1, 1e-4);
  EXPECT_NEAR(fitted.curve.fit->beta.si() / kBeta, 1, 1e-4);
  EXPECT_NEAR(fitted.curve.fit->saturation, 0.8, 1e-4);
  EXPECT_LT(fitted.curve.fit->leave_one_out, 1e-4);
  EXPECT_TRUE(fitted.flagged.empty());
}

TEST(CollectiveFit, PlantedParametersAreRecoveredFromNoiseWithinTheirStatedErrors) {
  // 8 standard errors and 32 samples: Student's t beyond 8 with 29 degrees of freedom comes once in
  // a hundred million draws, and the model is not linear, so a little more often; a formula that is
  // wrong by a factor of three fails at once.
  EXPECT_TRUE(rc::check([] {
    const double alpha = 1e-6 * *rc::gen::inRange(3, 200);
    const double beta = 1e9 * *rc::gen::inRange(10, 900);
    const double q = 0.1 * *rc::gen::inRange(6, 15);
    auto noise = normal_noise(*rc::gen::arbitrary<std::uint64_t>(), 32);
    for (double& z : noise) {
      z *= 0.03;
    }
    auto samples = samples_of(alpha, beta, q, noise);
    const auto fitted = fit_collective(samples);
    RC_ASSERT(fitted.curve.fit.has_value());
    const auto& fit = *fitted.curve.fit;
    RC_ASSERT(std::abs(fit.alpha.si() - alpha) <= 8 * fit.alpha_error.si());
    RC_ASSERT(std::abs(fit.beta.si() - beta) <= 8 * fit.beta_error.si());
    RC_ASSERT(std::abs(fit.saturation - q) <= 8 * fit.saturation_error);
    RC_ASSERT(fit.leave_one_out > 0.01 && fit.leave_one_out < 0.06);
  }));
}

TEST(CollectiveFit, ASpikeIsFlaggedAndLeftOut) {
  auto samples = samples_of(kAlpha, kBeta, 1, std::vector<double>(32, 0));
  samples[9].seconds *= 4;
  const auto fitted = fit_collective(samples);
  EXPECT_EQ(fitted.flagged, (std::vector<std::size_t>{9}));
  EXPECT_TRUE(samples[9].has(SampleFlag::outlier));
  EXPECT_EQ(fitted.samples, 31);
  EXPECT_NEAR(fitted.curve.fit->alpha.si() / kAlpha, 1, 1e-3);
  for (const auto& point : fitted.curve.points) {
    EXPECT_NE(point.message.si(), samples[9].bytes);
  }
}

TEST(CollectiveFit, ThrottledAndWrongSamplesDoNotCount) {
  auto samples = samples_of(kAlpha, kBeta, 1, std::vector<double>(16, 0));
  samples[3].seconds *= 10;
  samples[3].flags = {SampleFlag::throttled};
  samples[8].seconds /= 10;
  samples[8].flags = {SampleFlag::wrong};
  const auto fitted = fit_collective(samples);
  EXPECT_EQ(fitted.flagged, (std::vector<std::size_t>{3, 8}));
  EXPECT_NEAR(fitted.curve.fit->alpha.si() / kAlpha, 1, 1e-3);
}

TEST(CollectiveFit, ThePointsKeptReproduceEverySampleWithinTheTolerance) {
  auto samples = samples_of(kAlpha, kBeta, 1, std::vector<double>(32, 0));
  auto fitted = fit_collective(samples, 0.02);
  EXPECT_LT(fitted.curve.points.size(), 20U);
  for (const auto& sample : samples) {
    const double read = network::interpolate(fitted.curve, core::Bytes(sample.bytes)).si();
    EXPECT_NEAR(read / sample.seconds, 1, 0.02 + 1e-9) << sample.bytes;
  }
}

TEST(CollectiveFit, HalfOfTheBandwidthIsReachedAtTheKnee) {
  network::CurveFit fit;
  fit.alpha = core::Seconds(kAlpha);
  fit.beta = core::BytesPerSecond(kBeta);
  for (const double q : {0.6, 1.0, 2.0}) {
    fit.saturation = q;
    const double bytes = half_bandwidth_message(fit).si();
    EXPECT_NEAR(bytes / line(bytes, kAlpha, kBeta, q) / kBeta, 0.5, 1e-12) << q;
  }
}

TEST(CollectiveFit, ThreeSizesMakeACurveWithoutAFit) {
  auto samples = samples_of(kAlpha, kBeta, 1, {0, 0, 0});
  const auto fitted = fit_collective(samples);
  EXPECT_FALSE(fitted.curve.fit);
  EXPECT_GE(fitted.curve.points.size(), 2U);
}

}  // namespace
}  // namespace headway::fit

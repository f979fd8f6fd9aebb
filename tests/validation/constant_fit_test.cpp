// Constants fitted again: a closed form each.
#include "sim/validation/compared/constant_fit.h"

#include <cmath>
#include <gtest/gtest.h>

namespace headway::validation {
namespace {

RunPrediction run(const std::string& id, double error) {
  RunPrediction row;
  row.id = id;
  row.source = id.substr(0, 1);
  row.part = "dense NVIDIA";
  row.measured = 100;
  row.predicted = 100 * std::exp(error);
  row.error = std::exp(error) - 1;
  row.run_kind = {row.source, "H100", "16 bit", false};
  // Two constants: runs of a and b depend on the first alone, those of c on the second.
  row.slopes = row.source == "c" ? std::vector{0, 0.5} : std::vector{1.0, 0.0};
  return row;
}

/// Three sources: a is 2 % too fast, b 4 %, c 2 % too slow.
std::vector<RunPrediction> five() {
  return {run("a-1", 0.02), run("a-2", 0.02), run("b-1", 0.04), run("b-2", 0.04),
          run("c-1", -0.02)};
}

// a is 2 % too fast, b 4 %: with slope 1 the best change of the first constant is -3 %; c is 2 %
// too slow, with slope 0.5 the second rises by 4 %. All errors are below Huber's 5 %, so this is
// least squares: a ridge of 1e-3 of four rows takes 3e-2 / 4 of a percent.
TEST(FitConstants, IsLeastSquaresOfSmallErrors) {
  const auto fitted = fit_constants(five(), {"first", "second"});
  ASSERT_EQ(fitted.size(), 2U);
  EXPECT_NEAR(std::log(fitted[0].factor), -0.03, 1e-4);
  EXPECT_NEAR(std::log(fitted[1].factor), 0.04, 5e-4);
  EXPECT_EQ(fitted[0].sources, 2);
  EXPECT_EQ(fitted[1].sources, 1);
  EXPECT_EQ(fitted[1].decided_by, "c");
  // Without a the first is -4 %, without b -2 %, without c -3 %: the jackknife's variance is
  // 2/3 (1 + 1 + 0) (1 %)^2.
  EXPECT_NEAR(fitted[0].standard_error, std::sqrt(2.0 / 3 * 2) * 0.01, 1e-4);
}

// a's runs are predicted with the constant that b asks for: 2 - 4 = -2 %; c's with a second
// constant that nothing moves.
TEST(LeftOut, SeesNothingOfItsGroup) {
  const auto rows = left_out(five(), source_of);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_NEAR(std::log1p(*rows[0].error), -0.02, 1e-4);
  EXPECT_NEAR(std::log1p(*rows[2].error), 0.02, 1e-4);
  EXPECT_NEAR(std::log1p(*rows[4].error), -0.02, 1e-9);
}

// The software of a left-out source was never compared: its interval is wider below.
TEST(LeftOut, HasTheIntervalOfSoftwareThatWasNeverCompared) {
  const auto rows = left_out({run("a-1", 0), run("b-1", 0), run("c-1", 0)}, source_of);
  ASSERT_FALSE(rows.empty());
  EXPECT_GT(std::log(*rows[0].predicted / rows[0].low),
            std::log(rows[0].high / *rows[0].predicted));
}

// Rows of the layout sweep say which layout is faster, not how fast.
TEST(LeftOut, IsNotOfTheLayoutSweep) {
  auto rows = marked(five(), kLayoutSweep);
  EXPECT_TRUE(left_out(rows, source_of).empty());
}

// As above without a, b and c: variances 2/3 (1 + 1 + 0) and, of the second constant, 2/3 of the
// spread of 4, 4 and 0 around 8/3: 32/3 x 2/3, in (1 %)^2. No second source judges the second. They
// move apart: b's and c's absence, (+1 and 4/3), (-1 and 4/3), (0 and -8/3): no covariance.
TEST(ConstantCovariance, IsThatOfTheJackknife) {
  const auto covariance = constant_covariance(five());
  ASSERT_EQ(covariance.size(), 2U);
  EXPECT_NEAR(covariance[0][0], 4.0 / 3 * 1e-4, 2e-6);
  EXPECT_NEAR(covariance[1][1], 64.0 / 9 * 1e-4 + kJudgedByOne * kJudgedByOne, 1e-5);
  EXPECT_NEAR(covariance[0][1], 0, 2e-6);
  EXPECT_EQ(covariance[0][1], covariance[1][0]);
}

// a is left out: the first constant is b's alone then, which the interval of a's runs counts, with
// the spread of what is left (-4 % with c, nothing without b: ridge; 1/2 of the squares).
TEST(LeftOut, CountsWhatIsNotKnownOfTheConstants) {
  auto rows = five();
  const auto with = left_out(rows, source_of);
  for (auto& row : rows) {
    row.slopes = {0.0, 0.0};
  }
  const auto without = left_out(rows, source_of);
  ASSERT_EQ(with[0].id, without[0].id);
  const auto sigma = [](const RunPrediction& row) {
    return std::log(*row.predicted / row.low) / 1.6448536269514722;
  };
  // Two sources are left, b and c: the jackknife has -4 % and 0 of the first, 1/2 of (2 + 2).
  const double variance = kJudgedByOne * kJudgedByOne + 0.5 * 2 * 0.02 * 0.02;
  EXPECT_NEAR(std::pow(sigma(with[0]), 2) - std::pow(sigma(without[0]), 2), variance, 1e-5);
}

}  // namespace
}  // namespace headway::validation

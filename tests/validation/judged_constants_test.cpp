// What a prediction hangs on, and what is not known of it.
#include "sim/validation/compared/judged_constants.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

namespace headway::validation {
namespace {

using testing::HasSubstr;

training::Scenario small() {
  const std::filesystem::path configs = HEADWAY_SOURCE_DIR "/configs";
  return config::load_scenario(configs / "scenarios/small-llama-8b-64-h100.yaml", {{configs}, {}})
      .scenario;
}

std::size_t place(const std::string& name) {
  const auto& all = judged_constants();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) {
      return i;
    }
  }
  ADD_FAILURE() << name;
  return 0;
}

double slope(const training::Scenario& scenario, const std::string& name) {
  return constant_slopes(scenario).at(place(name));
}

// 1 x 1 x 0.01 + 2 x 1 x 2 x 0.002 + 2 x 2 x 0.04 = 0.178.
TEST(ConstantError, IsTheQuadraticFormOfTheCovariance) {
  EXPECT_NEAR(constant_error({1, 2}, {{0.01, 0.002}, {0.002, 0.04}}), std::sqrt(0.178), 1e-15);
  EXPECT_EQ(constant_error({1, 2}, {}), 0);
}

// Two constants that err against each other take away from each other.
TEST(ConstantError, IsNoneWhereErrorsCancel) {
  EXPECT_NEAR(constant_error({1, 1}, {{0.01, -0.01}, {-0.01, 0.01}}), 0, 1e-12);
}

// The 8B on H100 in bf16 runs no 8-bit product, nothing of an A100 and no card that leaves packets
// to the host.
TEST(ConstantSlopes, AreOfWhatTheRunHas) {
  EXPECT_EQ(slope(small(), "A100 gemm_16bit"), 0);
  EXPECT_EQ(slope(small(), "H100 gemm_8bit"), 0);
  EXPECT_EQ(slope(small(), "Omni-Path efficiency"), 0);
  EXPECT_GT(slope(small(), "H100 gemm_16bit"), 0.5);
  EXPECT_GT(slope(small(), "attention_share"), 0.02);
}

// More interference is a slower step; the sign of a slope is that of tokens a second.
TEST(ConstantSlopes, AreNegativeWhereMoreIsSlower) {
  EXPECT_LT(slope(small(), "tensor_interference"), 0);
}

// The slope of the analytic tier is that of the simulation.
TEST(ConstantSlopes, AreThoseOfTheSimulatedStep) {
  const auto time = [](const training::Scenario& scenario) {
    return training::simulate_step(training::check(scenario), {}).time;
  };
  const training::Scenario base = small();
  training::Scenario moved = base;
  moved.cluster.node.gpu.sustained.gemm_16bit *= 0.95;
  const double simulated = -std::log(time(moved) / time(base)) / std::log(0.95);
  EXPECT_NEAR(slope(base, "H100 gemm_16bit"), simulated, 0.03);
}

// Shares that were measured on the machine at hand are not the catalogue's: what published runs say
// of those is nothing to it.
TEST(ConstantSlopes, AreNotOfMeasuredShares) {
  training::Scenario measured = small();
  measured.calibration.kernels = measured.cluster.node.gpu.sustained;
  EXPECT_EQ(slope(measured, "H100 gemm_16bit"), 0);
  EXPECT_EQ(slope(measured, "weight_gradient"), 0);
  EXPECT_GT(slope(measured, "attention_share"), 0.02);  // of the software
}

// A cost that is known to a factor of five only: 1.645 standard deviations of its logarithm end at
// the step without it. What is known to a tenth keeps its slope.
TEST(FastSlopes, EndWhereTheCostIsNone) {
  training::Scenario scenario = small();
  scenario.cluster.fabric.node_latency = core::Seconds(0.4e-3);
  training::Scenario without = scenario;
  without.cluster.fabric.node_latency = core::Seconds(0);
  const auto time = [](const training::Scenario& s) {
    return analytic::AnalyticTier(s).evaluate(training::check(s)).time;
  };
  const double caused = std::log(time(scenario) / time(without));
  const auto slopes = constant_slopes(scenario);
  const auto at = place("EFA node_latency");
  ASSERT_LT(slopes[at], 0);
  for (const double error : {0.1, 5.0}) {
    ConstantCovariance covariance(slopes.size(), std::vector<double>(slopes.size()));
    covariance[at][at] = error * error;
    const double reach = training::kOneSidedFivePercent * error;
    const auto fast = fast_slopes(scenario, slopes, covariance);
    EXPECT_NEAR(-reach * fast[at], std::min(-reach * slopes[at], caused), 1e-4);
    EXPECT_EQ(fast[at] == slopes[at], error < 1);
    EXPECT_EQ(fast[place("H100 gemm_16bit")], slopes[place("H100 gemm_16bit")]);
  }
}

// Where gathers of weights bound the step, a quicker attention leaves them less to hide behind: a
// share of a peak then has a slope below zero, and is no cost for that.
TEST(FastSlopes, OfSharesOfAPeakAreAsTheyWere) {
  const std::filesystem::path configs = HEADWAY_SOURCE_DIR "/configs";
  auto scenario =
      config::load_scenario_text(R"(
headway: 1
cluster: {nodes: 8, node: {use: h100-pcie-server}, fabric: {use: rail-optimized-ndr}}
model: {use: llama-3.1-8b}
training: {sequence_length: 8192, global_batch: 256, framework: {use: torchtitan}}
parallelism: {data: auto, sharding: zero3, recompute: selective}
)",
                                 configs / "scenarios/bound-by-data.yaml", {{configs}, {}})
          .scenario;
  const auto covariance = load_covariance({HEADWAY_SOURCE_DIR "/configs"});
  bool seen = false;
  for (double bandwidth = 2e9; bandwidth < 60e9; bandwidth *= 1.2) {
    scenario.cluster.fabric.link_bandwidth = core::BytesPerSecond(bandwidth);
    const auto slopes = constant_slopes(scenario);
    const auto fast = fast_slopes(scenario, slopes, covariance);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      EXPECT_GE(fast[i], slopes[i]) << judged_constants()[i].name << ' ' << bandwidth;
      EXPECT_LE(fast[i], std::max(slopes[i], 0.0))
          << judged_constants()[i].name << ' ' << bandwidth;
    }
    seen = seen || slopes[place("attention_share")] < 0 || slopes[place("H100 gemm_16bit")] < 0 ||
           slopes[place("weight_gradient")] < 0;
  }
  EXPECT_TRUE(seen) << "the case that this test is of";
}

TEST(LoadCovariance, IsOfTheseConstantsOrRefused) {
  const auto committed = load_covariance({HEADWAY_SOURCE_DIR "/configs"});
  ASSERT_EQ(committed.size(), judged_constants().size());
  EXPECT_GT(committed[place("H100 gemm_16bit")][place("H100 gemm_16bit")], 0);
  const auto folder = std::filesystem::path(testing::TempDir()) / "covariance";
  std::filesystem::create_directories(folder / "validation");
  const auto refused = [&](const std::string& text) {
    std::ofstream(folder / "validation/constant_covariance.csv") << text;
    try {
      load_covariance({folder});
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused("constant,score_rows\na,1\n"),
              HasSubstr("there is no column 'A100 gemm_16bit'"));
  std::string header = "constant";
  std::string line = "\na";
  for (const JudgedConstant& constant : judged_constants()) {
    header += std::string(",") + constant.name;
    line += ",0";
  }
  EXPECT_THAT(refused(header + line + "\n"), HasSubstr("has 1 rows, and 16 constants are judged"));
  EXPECT_TRUE(load_covariance({folder / "none"}).empty());
}

}  // namespace
}  // namespace headway::validation

#include "sim/training/explain.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>

#include "sim/training/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

TEST(Explanation, ContributionsAndRestAddUpToTheStep) {
  const auto checked = check(eight_nodes());
  const Explanation e = explain_step(checked);
  EXPECT_EQ(e.step, simulate_step(checked).time);
  ASSERT_EQ(e.largest.size(), 10U);
  double sum = e.rest.si();
  for (std::size_t i = 0; i < e.largest.size(); ++i) {
    sum += e.largest[i].time.si();
    EXPECT_GT(e.largest[i].count, 0);
    EXPECT_FALSE(e.largest[i].formula.empty()) << e.largest[i].what;
    EXPECT_FALSE(e.largest[i].change.empty()) << e.largest[i].what;
    EXPECT_TRUE(i == 0 || e.largest[i].time <= e.largest[i - 1].time);
  }
  EXPECT_NEAR(sum, e.step.si(), 1e-9 * e.step.si());
}

TEST(Explanation, AgreesWithTheCriticalPathByActivity) {
  const auto checked = check(eight_nodes());
  core::ByActivity<core::Seconds> sums;
  for (const auto& c : explain_step(checked, 100000).largest) {
    sums[c.activity] += c.time;
  }
  const auto path = simulate_step(checked).critical_path;
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    EXPECT_NEAR(sums.values[a].si(), path.values[a].si(), 1e-9) << a;
  }
}

// The largest product is that of the gated MLP's two inputs: 2 x 14,336 / 8 tensor-parallel ranks =
// 3,584 outputs, from 4,096 hidden, for 4,096 tokens; the sentence has this shape and the peak.
TEST(Explanation, FillsTheClosedFormWithNumbers) {
  const auto e = explain_step(check(eight_nodes()), 100000);
  const auto product = std::find_if(e.largest.begin(), e.largest.end(), [](const Contribution& c) {
    return c.what.find("matrix product") != std::string::npos;
  });
  ASSERT_NE(product, e.largest.end());
  EXPECT_EQ(product->formula.find("2 x 3584 x 4096 x 4096 = 120 GFLOP"), 0U) << product->formula;
  EXPECT_NE(product->formula.find("989 TFLOP/s bf16"), std::string::npos) << product->formula;
  const auto transfer = std::find_if(e.largest.begin(), e.largest.end(), [](const Contribution& c) {
    return c.activity == core::Activity::tensor;
  });
  ASSERT_NE(transfer, e.largest.end());
  EXPECT_NE(transfer->formula.find("over 8 ranks in 1 NVLink domain"), std::string::npos)
      << transfer->formula;
}

// One GPU without transfers: the network cannot matter; twice-counted inputs would show as more
// than 10 %.
TEST(Sensitivities, OfOneGpuAreOfItsKernelsAlone) {
  auto s = eight_nodes();
  s.cluster.nodes = 1;
  s.cluster.node.gpus = 1;
  s.cluster.node.nic.count = 1;
  s.cluster.node.scale_up.domain_gpus = 1;
  s.parallelism.tensor = 1;
  s.parallelism.pipeline = 1;
  s.training.framework.cpu_launch = core::Seconds(0);
  const auto checked = check(s);
  const core::Seconds step = simulate_step(checked).time;
  const auto list = step_sensitivities(checked, step);
  EXPECT_EQ(list.front().input, "matrix units");
  double together = 0;
  for (const Sensitivity& one : list) {
    ASSERT_TRUE(one.lower && one.higher);
    if (one.input == "NVLink" || one.input == "network bandwidth" ||
        one.input == "network latency") {
      EXPECT_EQ(one.span(step).si(), 0) << one.input;
    }
    // Less of a rate takes longer; latencies, gaps and launches the other way round.
    together += std::abs((*one.higher - step) / step);
  }
  EXPECT_GT(list.front().span(step) / step, 0.03);
  // d(time)/time summed over all inputs it is made of: rates count -1 in total, 1 / 1.1 - 1 = -9.1
  // %; attention's share counts again beside the peak.
  EXPECT_LT(together, 0.11);
  EXPECT_GT(together, 0.08);
}

TEST(Sensitivities, AreWidestFirst) {
  const auto checked = check(eight_nodes());
  const core::Seconds step = simulate_step(checked).time;
  const auto list = step_sensitivities(checked, step);
  EXPECT_EQ(list.size(), 8U);
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [&](const auto& a, const auto& b) {
    return a.span(step) > b.span(step);
  }));
  for (const Sensitivity& one : list) {
    if (one.input == "matrix units" || one.input == "memory bandwidth" || one.input == "NVLink") {
      EXPECT_GT(*one.lower, step) << one.input;
      EXPECT_LT(*one.higher, step) << one.input;
    }
  }
}

}  // namespace
}  // namespace headway::training

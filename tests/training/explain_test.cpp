#include "sim/training/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// A number of a formula with its prefix or unit: "1.24", "T" -> 1.24e12; "2", "us" -> 2e-6.
double value(const std::string& number, const std::string& scale) {
  static const std::map<std::string, double> kScales{
      {"", 1},     {"k", 1e3}, {"M", 1e6},   {"G", 1e9},   {"T", 1e12},
      {"P", 1e15}, {"s", 1},   {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  return std::stod(number) * kScales.at(scale);
}

/// What a kernel's closed form gives, computed from the numbers in its text alone; absent where the
/// text has none.
std::optional<double> evaluated(const std::string& formula) {
  static const std::regex kForm(
      R"(([\d.e+]+) ([PTGMk]?)(?:FLOP|B) / \(([\d.e+]+) ([PTGMk]?)(?:FLOP|B)/s (?:\w+ )?x ([\d.e+-]+)\))"
      R"( \+ gap ([\d.e+-]+) (\w+)(?:\) x ([\d.e+]+))?)");
  std::smatch found;
  if (!std::regex_search(formula, found, kForm)) {
    return std::nullopt;
  }
  const double moving =
      value(found[1], found[2]) / (value(found[3], found[4]) * value(found[5], ""));
  return (moving + value(found[6], found[7])) * (found[8].matched ? value(found[8], "") : 1);
}

/// Every row of kernels, not the largest alone: number of launches x closed form is the row's time,
/// by the text to its three digits, by `once` to the clock's ticks.
/// @return  rows that were checked
int expect_closed_forms_hold(const Explanation& e) {
  int rows = 0;
  for (const Contribution& c : e.largest) {
    if (!c.once) {
      continue;
    }
    const std::optional<double> text = evaluated(c.formula);
    const auto count = static_cast<double>(c.count);
    EXPECT_TRUE(text) << c.formula;
    EXPECT_NEAR(text.value_or(0) * count / c.time.si(), 1, 0.02) << c.what << ": " << c.formula;
    EXPECT_NEAR(c.once->si() * count / c.time.si(), 1, 1e-3) << c.what << ": " << c.formula;
    ++rows;
  }
  return rows;
}

/// Every second layer attends to 256 tokens; at 16,384 the others attend to 32 times as many.
Scenario alternating_windows() {
  Scenario s = eight_nodes();
  s.model.attention = workload::AttentionKind::sliding_window;
  s.model.window = 256;
  s.model.window_period = 2;
  s.training.sequence_length = 16384;
  return s;
}

/// Kernels of a few microseconds, and 100 us to launch one: the CPU is the slower one.
Scenario launch_bound() {
  Scenario s = alternating_windows();
  s.training.sequence_length = 1024;
  s.training.framework.cuda_graphs = false;
  s.training.framework.host.launch = core::Seconds(100e-6);
  return s;
}

TEST(Explanation, ClosedFormsGiveTheTimesOfTheirRows) {
  EXPECT_GT(expect_closed_forms_hold(explain_step(check(eight_nodes()), 100000)), 20);
  EXPECT_GT(expect_closed_forms_hold(explain_step(check(alternating_windows()), 100000)), 20);
  EXPECT_GT(expect_closed_forms_hold(explain_step(check(launch_bound()), 100000)), 20);
}

// 16,384 queries see 8,192 keys on average, those of a window 254: 32 times the work.
TEST(Explanation, TellsWindowsFromFullAttention) {
  const Explanation e = explain_step(check(alternating_windows()), 100000);
  const auto row = [&](const char* what) {
    const auto found = std::find_if(e.largest.begin(), e.largest.end(),
                                    [&](const Contribution& c) { return c.what == what; });
    EXPECT_NE(found, e.largest.end()) << what;
    return found == e.largest.end() ? Contribution{} : *found;
  };
  for (const std::string pass : {"forward", "backward"}) {
    const Contribution window = row(("attention, " + pass + ", window").c_str());
    const Contribution full = row(("attention, " + pass + ", full").c_str());
    EXPECT_EQ(window.count, full.count);
    EXPECT_GT(full.time / window.time, 8) << window.formula << " | " << full.formula;
    EXPECT_NE(full.formula.find("16384 tokens over 16384 keys, causal"), std::string::npos)
        << full.formula;
  }
  const Explanation plain = explain_step(check(eight_nodes()), 100000);
  for (const Contribution& c : plain.largest) {
    EXPECT_EQ(c.what.find("window"), std::string::npos) << "no layer has a window: " << c.what;
    EXPECT_EQ(c.what.find(", full"), std::string::npos) << c.what;
  }
}

TEST(Explanation, NamesTheCpuWhereItLaunchesTooSlowly) {
  const Explanation slow = explain_step(check(launch_bound()), 10);
  int named = 0;
  for (const Contribution& c : slow.largest) {
    if (c.formula.find("the CPU launches slower than the GPU computes") != std::string::npos) {
      EXPECT_NE(c.change.find("CUDA graphs"), std::string::npos) << c.change;
      ++named;
    }
  }
  EXPECT_GE(named, 5);
  const StepResult step = simulate_step(check(launch_bound()));
  EXPECT_GT(step.breakdown[core::Activity::launch], 0.4 * step.breakdown[core::Activity::compute]);
  Scenario recorded = launch_bound();
  recorded.training.framework.cuda_graphs = true;
  EXPECT_EQ(simulate_step(check(recorded)).breakdown[core::Activity::launch].si(), 0);
  for (const Contribution& c : explain_step(check(recorded), 100000).largest) {
    EXPECT_EQ(c.formula.find("the CPU launches"), std::string::npos) << c.formula;
  }
}

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

// A row of kernels has what the CPU's launches add to them, which the path books apart.
TEST(Explanation, AgreesWithTheCriticalPathByActivity) {
  const auto checked = check(eight_nodes());
  core::ByActivity<core::Seconds> sums;
  for (const auto& c : explain_step(checked, 100000).largest) {
    sums[c.activity] += c.time;
  }
  auto path = simulate_step(checked).critical_path;
  const auto join = [](auto& times) {
    for (const core::Activity part : {core::Activity::optimizer, core::Activity::launch}) {
      times[core::Activity::compute] += times[part];
      times[part] = core::Seconds(0);
    }
  };
  join(sums);
  join(path);
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
  s.training.framework.host.launch = core::Seconds(0);
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

// Who waits can be told, and can end it: no simulation is silent, and each counts once.
TEST(Explanation, CountsEverySimulation) {
  std::size_t told = 0, done = 0, total = 0;
  const auto checked = check(eight_nodes());
  const auto e = explain_step(checked, 10, [&](std::size_t now, std::size_t of) {
    ++told;
    done = now;
    total = of;
  });
  EXPECT_GT(told, 2 * e.sensitivities.size());
  EXPECT_EQ(total, 2 * e.sensitivities.size() * core::JointProgress::kParts);
  EXPECT_EQ(done, total);
  const auto stop = [](std::size_t, std::size_t) { throw std::runtime_error("stopped"); };
  EXPECT_THROW(explain_step(checked, 10, stop), std::runtime_error);
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

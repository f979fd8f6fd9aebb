#include "sim/study/verdict/choice.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/plan/judge.h"
#include "sim/study/plan.h"
#include "sim/training/check.h"
#include "sim/training/explain/inputs.h"
#include "sim/training/step/step.h"

#include "tests/plan/two_plans.h"

namespace headway::study {
namespace {

using testing::HasSubstr;

/// Two layouts of eight GPUs: tensor 2 x pipeline 4, or tensor 8, which needs NVLink more.
PlanReport two_plans(std::vector<std::string> set = {}) {
  set.insert(set.begin(), "cluster.node.scale_up.bandwidth=900 GB/s");
  return search_plans(
      config::load_scenario_text(tests::kTwoPlans, "s.yaml", {{"configs"}, std::move(set)}), {},
      {});
}

/// The step of a plan with an input at `factor` times its value [s]; 0 where it does not fit.
double step(const PlanReport& report,
            std::size_t place,
            const training::Input& input,
            double factor) {
  const auto checked =
      training::check(training::scaled(scenario_of_plan(report, place), input, factor));
  return plan::lack(checked, plan::least_headroom({})) ? 0
                                                       : training::simulate_step(checked).time.si();
}

const ChoiceChange& change(const Choice& choice, const std::string& input, ChangeWay way) {
  for (const ChoiceChange& one : choice.changes) {
    if (one.input == input && one.way == way) {
      return one;
    }
  }
  throw std::out_of_range(input);
}

TEST(Choice, HasEveryInputBothWaysInOrder) {
  const PlanReport report = two_plans();
  const Choice choice = find_choice(report, {}).value();
  std::vector<std::string> names, expected;
  for (std::size_t i = 0; i < choice.changes.size(); ++i) {
    names.push_back(choice.changes[i].input);
    EXPECT_EQ(choice.changes[i].way, i % 2 == 0 ? ChangeWay::less : ChangeWay::more);
  }
  auto inputs = training::step_inputs();
  inputs.push_back(training::memory_input());  // nothing is offloaded, and a step meets no failure
  for (const auto& input : inputs) {
    expected.insert(expected.end(), 2, input.name);
    EXPECT_EQ(change(choice, input.name, ChangeWay::less).scaled_fields, input.fields);
  }
  EXPECT_EQ(names, expected);
}

// What is said of each input is so: plan 1 wins up to just before the factor, and there the plan
// that is named wins, or none fits; where no factor is named it wins at both that were looked at,
// by the lead that is named at one of them.
TEST(Choice, IsBornOutBySimulationsOfBothPlans) {
  const PlanReport report = two_plans();
  ASSERT_EQ(report.result.plans.size(), 2U);
  const Choice choice = find_choice(report, {}).value();
  auto inputs = training::step_inputs();
  inputs.push_back(training::memory_input());
  int won = 0;
  for (const auto& input : inputs) {
    for (const ChangeWay way : {ChangeWay::less, ChangeWay::more}) {
      const ChoiceChange& said = change(choice, input.name, way);
      const double nearer = way == ChangeWay::less ? 1.006 : 1 / 1.006;
      if (said.factor) {
        const double x = *said.factor;
        EXPECT_TRUE(way == ChangeWay::less ? x >= 0.5 && x < 1 : x > 1 && x <= 2) << said.input;
        const double first = step(report, 0, input, x), other = step(report, 1, input, x);
        EXPECT_EQ(said.winner, other > 0 ? std::optional<std::int64_t>(2) : std::nullopt);
        EXPECT_TRUE(first == 0 || (other > 0 && other < first)) << said.input << " at " << x;
        EXPECT_EQ(said.reason, first == 0 ? "does not fit" : "") << said.input;
        const double before = step(report, 0, input, x * nearer);
        const double other_before = step(report, 1, input, x * nearer);
        EXPECT_TRUE(before > 0 && (other_before == 0 || before <= other_before)) << said.input;
        ++won;
      } else if (said.reason.empty()) {
        const double x = said.lead_at.value();
        const double first = step(report, 0, input, x);
        EXPECT_GE(*said.lead, 0) << said.input;
        EXPECT_DOUBLE_EQ(*said.lead, (step(report, 1, input, x) - first) / first) << said.input;
      }
    }
  }
  EXPECT_GE(won, 2);
}

TEST(Choice, OfOnePlanThereIsNone) {
  EXPECT_FALSE(find_choice(two_plans({"search.tensor=[8]"}), {}).has_value());
}

// Where several inputs change it, those that change least, nearest first.
TEST(Choice, IsPutIntoOneSentence) {
  const Choice choice = find_choice(two_plans(), {}).value();
  EXPECT_THAT(choice.sentence,
              HasSubstr("The choice of plan 1 holds until one input changes so far: "));
  const ChoiceChange* nearest = nullptr;
  for (const ChoiceChange& one : choice.changes) {
    if (one.factor && (nearest == nullptr ||
                       std::abs(std::log(*one.factor)) < std::abs(std::log(*nearest->factor)))) {
      nearest = &one;
    }
  }
  ASSERT_NE(nearest, nullptr);
  EXPECT_THAT(choice.sentence, HasSubstr("so far: " + nearest->input + " to "));
}

// NVLink so slow, and memory so ample, that nothing changes it: how near it comes is said.
TEST(Choice, HoldsWhateverOneInputIs) {
  const Choice choice = find_choice(two_plans({"cluster.node.scale_up.bandwidth=100 GB/s",
                                               "cluster.node.gpu.memory=160 GiB"}),
                                    {})
                            .value();
  const ChoiceChange* nearest = nullptr;
  for (const ChoiceChange& one : choice.changes) {
    EXPECT_FALSE(one.factor) << one.input;
    if (one.lead && (nearest == nullptr || *one.lead < *nearest->lead)) {
      nearest = &one;
    }
  }
  ASSERT_NE(nearest, nullptr);
  EXPECT_EQ(choice.sentence,
            fmt::format("The choice of plan 1 holds whatever one of these inputs is, from half to "
                        "twice its value; nearest: another plan is {:.1f} % behind with {} at {} "
                        "times.",
                        100 * *nearest->lead, nearest->input,
                        *nearest->lead_at < 0.51 ? "0.500" : "2.00"));
}

TEST(Choice, LooksAtTheWayToTheHostWhereAPlanUsesIt) {
  const std::vector<std::string> offload{"parallelism.offload=activations",
                                         "search.offload=[activations]"};
  const Choice choice = find_choice(two_plans(offload), {}).value();
  EXPECT_EQ(change(choice, "way to the host", ChangeWay::less).scaled_fields,
            "cluster.node.gpu.host_bandwidth, cluster.node.host_memory_bandwidth");
}

// A deadline that both plans miss, whatever is changed.
TEST(Choice, SaysThatNoPlanIsLeft) {
  PlanReport report = two_plans({"run.until={steps: 1000}", "run.trials=2"});
  plan::PlanOptions late;
  late.limits.deadline = core::Seconds(1);
  const Choice choice = find_choice(report, late).value();
  const ChoiceChange& less = change(choice, "NVLink", ChangeWay::less);
  EXPECT_TRUE(less.factor.has_value());
  EXPECT_EQ(less.winner, std::nullopt);
  EXPECT_EQ(less.reason, "misses the limit of deadline");
  EXPECT_THAT(choice.sentence, HasSubstr("(no plan is left)"));
}

TEST(Choice, TellsItsProgressAndNeedsNoNumberOfThreads) {
  const PlanReport report = two_plans();
  plan::PlanOptions one, two;
  one.threads = 1;
  two.threads = 2;
  std::vector<std::size_t> told;
  std::size_t total = 0;
  one.progress = [&](const char* what, std::size_t done, std::size_t all) {
    if (std::string(what) == "changing inputs") {
      told.push_back(done);
      total = all;
    }
  };
  const Choice a = find_choice(report, one).value();
  const Choice b = find_choice(report, two).value();
  EXPECT_EQ(told.size(), total);
  EXPECT_EQ(2 * total, a.changes.size());
  ASSERT_EQ(a.changes.size(), b.changes.size());
  EXPECT_EQ(a.sentence, b.sentence);
  for (std::size_t i = 0; i < a.changes.size(); ++i) {
    EXPECT_EQ(a.changes[i].factor, b.changes[i].factor);
    EXPECT_EQ(a.changes[i].lead, b.changes[i].lead);
  }
}

}  // namespace
}  // namespace headway::study

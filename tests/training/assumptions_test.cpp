#include "sim/training/assumptions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/training/step.h"
#include "tests/training/fixture.h"

namespace headway::training {
namespace {

std::string value_of(const StepResult& step, const std::string& key) {
  const auto found = std::find_if(step.assumptions.begin(), step.assumptions.end(), [&](const auto& a) { return a.key == key; });
  return found == step.assumptions.end() ? "" : found->value;
}

TEST(Assumptions, SpeakOfTheSpeedsThatWereUsed) {
  auto s = eight_nodes();
  s.training.framework.tensor_overlap = true;
  const auto step = simulate_step(check(s));
  EXPECT_EQ(value_of(step, "training.framework.tensor_overlap"), "yes");
  EXPECT_EQ(value_of(step, "gpu.sustained.memory"), "0.85");
  EXPECT_NE(value_of(step, "jitter"), "");
}

TEST(Assumptions, SayWhereSpeedsComeFrom) {
  auto s = eight_nodes();
  s.calibration.name = "my node";
  s.calibration.kernels.emplace();
  const auto step = simulate_step(check(s));
  const auto found = std::find_if(step.assumptions.begin(), step.assumptions.end(),
                                  [](const auto& a) { return a.key == "gpu.sustained.memory"; });
  ASSERT_NE(found, step.assumptions.end());
  EXPECT_EQ(found->why, "measured, calibration 'my node'");
}

}  // namespace
}  // namespace headway::training

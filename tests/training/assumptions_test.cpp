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

TEST(Assumptions, SayWhatAWindowAndDocumentsDoToARing) {
  auto s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.parallelism.context = 8;
  s.training.sequence_length = 32768;
  EXPECT_EQ(value_of(simulate_step(check(s)), "parallelism.context_kind"), "");
  s.model.window = 1024;
  s.training.documents = {{16384, 1}, {32768, 1}};
  const auto step = simulate_step(check(s));
  EXPECT_EQ(value_of(step, "parallelism.context_kind"),
            "ring, 3 of 8 steps in layers with a window");
  EXPECT_EQ(value_of(step, "training.documents"), "each in 16 chunks over the ring");
}

}  // namespace
}  // namespace headway::training

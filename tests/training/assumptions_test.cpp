#include "sim/training/assumptions/assumptions.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

std::string value_of(const StepResult& step, const std::string& key) {
  const auto found = std::find_if(step.assumptions.begin(), step.assumptions.end(),
                                  [&](const auto& a) { return a.key == key; });
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

// Every stage and chunk gathers and reduces by calls of its own, many of them alike.
TEST(Assumptions, NameEachCollectiveOnce) {
  auto s = eight_nodes();
  s.parallelism.pipeline = 4;
  const auto step = simulate_step(check(s));
  std::set<std::array<std::string, 3>> seen;
  for (const auto& one : step.assumptions) {
    EXPECT_TRUE(seen.insert({one.key, one.value, one.why}).second) << one.key << ' ' << one.value;
  }
  EXPECT_NE(value_of(step, "collective gradient norm").find(" for 4 B over "), std::string::npos);
}

TEST(Assumptions, NameTheModeOfMuonUnlessItIsWritten) {
  auto s = eight_nodes();
  s.parallelism.tensor = 8;
  const std::string key = "training.muon.tensor_mode";
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "");
  s.training.optimizer_state = workload::OptimizerState::muon;
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "duplicated");
  s.training.muon.emplace();
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "");
  s.training.muon.reset();
  s.parallelism.tensor = s.parallelism.expert_tensor = 1;
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "") << "nothing is divided";
}

TEST(Assumptions, SayThatAdaptersOfExpertsRunOneByOne) {
  auto s = eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 8;
  s.model.moe->top_k = 2;
  s.model.moe->ffn = 4096;
  s.model.adapters.emplace();
  const std::string key = "model.adapters.products";
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "experts");
  s.model.adapters->products = {workload::AdaptedProduct::query};
  EXPECT_EQ(value_of(simulate_step(check(s)), key), "");
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

// Steps of small models are launches more than anything else: what one takes is said, unless graphs
// are replayed.
TEST(Assumptions, SayWhatTheCpuTakes) {
  auto s = eight_nodes();
  const std::string launch = "training.framework.host.launch";
  s.training.framework.elementwise = workload::Elementwise::eager;
  s.training.framework.host.launch = core::Seconds(8e-6);
  EXPECT_EQ(value_of(simulate_step(check(s)), launch), "8e-06 s");
  EXPECT_EQ(value_of(simulate_step(check(s)), "training.framework.host.layer"), "");
  s.training.framework.host.layer = core::Seconds(1e-4);
  EXPECT_EQ(value_of(simulate_step(check(s)), "training.framework.host.layer"), "0.0001 s");
  s.calibration.eager_launch = core::Seconds(9e-6);
  EXPECT_EQ(value_of(simulate_step(check(s)), launch), "9e-06 s");
  s.training.framework.cuda_graphs = true;
  EXPECT_EQ(value_of(simulate_step(check(s)), launch), "");
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
  EXPECT_EQ(
      value_of(step,
               "training.documents"),  // (16384^2 + 32768^2) / (2 (16384 + 32768)) = 40960 / 3
      "13653.3 keys a query in the mean, before any window; each in 16 chunks over the ring");
}

// 100,000 tokens do not fit a sequence of 4096, which attends to itself as one document: 2048 keys
// a query in the mean. With half as many tokens again in documents of 1024:
// (4096^2 + 2 x 1024^2) / (2 (4096 + 2 x 1024)) = 1536.
TEST(Assumptions, SayWhatQueriesSeeOfDocumentsAndWhatIsCutOff) {
  auto s = eight_nodes();
  EXPECT_EQ(value_of(simulate_step(check(s)), "training.documents"), "");
  s.training.documents = {{100000, 1}};
  EXPECT_EQ(
      value_of(simulate_step(check(s)), "training.documents"),
      "2048 keys a query in the mean, before any window; cut at the 4096 tokens of a sequence");
  s.training.documents = {{100000, 1}, {1024, 2}};
  EXPECT_EQ(
      value_of(simulate_step(check(s)), "training.documents"),
      "1536 keys a query in the mean, before any window; cut at the 4096 tokens of a sequence");
  s.training.documents = {{4096, 1}, {1024, 2}};
  EXPECT_EQ(value_of(simulate_step(check(s)), "training.documents"),
            "1536 keys a query in the mean, before any window");
}

}  // namespace
}  // namespace headway::training

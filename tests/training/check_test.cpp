#include "sim/training/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using testing::HasSubstr;

/// What `check` says of the scenario; empty if nothing.
std::string complaint(const Scenario& scenario) {
  try {
    check(scenario);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(Check, ResolvesDataParallelDegreeAndMicroBatches) {
  const auto checked = check(eight_nodes());
  EXPECT_EQ(checked.gpus(), 64);
  EXPECT_EQ(checked.data_parallel(), 2);   // 64 / (8 x 4)
  EXPECT_EQ(checked.micro_batches(), 16);  // 32 / (2 x 1)
  EXPECT_EQ(checked.tokens_per_step(), 32.0 * 4096);
}

TEST(Check, NamesTheProductThatDoesNotFillTheCluster) {
  auto s = eight_nodes();
  s.parallelism.data = 3;
  EXPECT_THAT(complaint(s), HasSubstr("tensor 8 x context 1 x pipeline 4 x data 3 = 96 ranks, but "
                                      "the cluster has 8 nodes x 8 GPUs = 64"));
}

TEST(Check, RefusesABatchThatDoesNotDivide) {
  auto s = eight_nodes();
  s.training.global_batch = 33;
  EXPECT_THAT(
      complaint(s),
      HasSubstr("a global batch of 33 sequences cannot be split into data 2 x micro_batch 1 = 2"));
}

TEST(Check, ShowsAllComplaintsAtOnce) {
  auto s = eight_nodes();
  s.headway = 2;
  s.name = "";
  s.training.global_batch = 33;
  s.model.key_value_heads = 5;
  try {
    check(s);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 5U)
        << error.what();  // kv heads are wrong for tensor 8 and for 32 heads
  }
}

TEST(Check, PointsAtTheLineThatIsWrong) {
  auto s = eight_nodes();
  s.training.global_batch = 33;
  const core::SourceMarks marks{
      {"training.global_batch", {"a.yaml", 7, 18, 2, "  global_batch: 33"}}};
  try {
    check(s, marks);
    FAIL() << "no error";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:7:18: a global batch of 33"));
  }
}

TEST(Check, WantsExactlyOneRateForAHazard) {
  auto s = eight_nodes();
  s.run.failures.emplace();
  s.run.failures->hazards.emplace_back().name = "gpu";
  EXPECT_THAT(complaint(s), HasSubstr("hazard 'gpu' needs exactly one of 'mtbf' and 'count'"));
  s.run.failures->hazards[0].count = 3;
  EXPECT_THAT(complaint(s), HasSubstr("so the list needs 'observed'"));
}

// 2 B of the weight, 4 B of the master weight, two bf16 moments: 10.
TEST(Check, CheckpointsHoldTheOptimizersState) {
  auto s = eight_nodes();
  s.training.optimizer_state = workload::OptimizerState::adam_bf16;
  EXPECT_EQ(complaint(s), "");  // no run, no checkpoint
  s.run.until.emplace().steps = 1000;
  EXPECT_THAT(complaint(s), HasSubstr("adam_bf16 has 10: write 'bytes_per_parameter: 10'"));
  s.run.checkpoint.bytes_per_parameter = 10;
  EXPECT_EQ(complaint(s), "");
}

TEST(Check, RefusesAPrecisionTheGpuDoesNotHave) {
  auto s = eight_nodes();
  s.training.precision = core::Precision::nvfp4;
  EXPECT_THAT(complaint(s), HasSubstr("H100 has no nvfp4; use"));
}

}  // namespace
}  // namespace headway::training

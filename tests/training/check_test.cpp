#include "sim/training/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/training/answers.h"
#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using testing::HasSubstr;

TEST(Check, ResolvesDataParallelDegreeAndMicroBatches) {
  const auto checked = check(eight_nodes());
  EXPECT_EQ(checked.gpus(), 64);
  EXPECT_EQ(checked.data_parallel(), 2);   // 64 / (8 x 4)
  EXPECT_EQ(checked.micro_batches(), 16);  // 32 / (2 x 1)
  EXPECT_EQ(checked.tokens_per_step(), 32.0 * 4096);
}

// One step saves nothing; a run does, and what it trains on is read from somewhere.
TEST(Check, StorageIsNeededByRunsAndDataAlone) {
  auto s = eight_nodes();
  s.cluster.storage.reset();
  s.run.until.reset();
  EXPECT_EQ(complaint(s), "");
  s.calibration.storage = MeasuredStorage{};
  EXPECT_THAT(check(s).scenario().cluster.storage, testing::Eq(std::nullopt));
  s.run.data = storage::DataSpec{};
  EXPECT_THAT(complaint(s), HasSubstr("the cluster has no 'storage' to read 'run.data' from"));
  s.run.until = UntilSpec{};
  s.run.until->steps = 100;
  EXPECT_THAT(complaint(s),
              HasSubstr("the cluster has no 'storage', where a run, or a drill of one, "
                        "keeps its checkpoints; name one"));
}

TEST(Check, NamesTheProductThatDoesNotFillTheCluster) {
  auto s = eight_nodes();
  s.parallelism.data = 3;
  EXPECT_THAT(complaint(s), HasSubstr("tensor 8 x context 1 x pipeline 4 x data 3 = 96 ranks, but "
                                      "the cluster has 8 nodes x 8 GPUs = 64"));
}

// A micro-batch's backward pass in two halves fills bubbles, of which one stage has none.
TEST(Check, AScheduleThatFillsBubblesNeedsAPipeline) {
  auto s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.parallelism.tensor = 8;
  s.parallelism.data = 8;
  s.parallelism.virtual_stages = 1;
  for (const auto schedule :
       {workload::ScheduleKind::zero_bubble_h1, workload::ScheduleKind::zero_bubble_h2,
        workload::ScheduleKind::zero_bubble_v, workload::ScheduleKind::dual_pipe_v}) {
    s.parallelism.schedule = schedule;
    EXPECT_THAT(complaint(s), HasSubstr("needs at least 2 pipeline stages; write schedule: 1f1b"))
        << core::to_word(schedule);
  }
  for (const auto schedule : {workload::ScheduleKind::gpipe, workload::ScheduleKind::one_f_one_b}) {
    s.parallelism.schedule = schedule;
    EXPECT_EQ(complaint(s), "");
  }
}

TEST(Check, RefusesABatchThatDoesNotDivide) {
  auto s = eight_nodes();
  s.training.global_batch = 33;
  EXPECT_THAT(
      complaint(s),
      HasSubstr("a global batch of 33 sequences cannot be split into data 2 x micro_batch 1 = 2"));
}

// 65,536 x 65,536 = 2^32 wraps to 0 in 32 bits, and 2^22 x 2^21 x 2^21 = 2^64 in 64: both divided
// by zero before.
TEST(Check, SaysWhichDegreesDoNotFitIntoTheClusterHoweverLargeTheyAre) {
  auto s = eight_nodes();
  s.parallelism = {};
  s.parallelism.tensor = 65536;
  s.parallelism.context = 65536;
  EXPECT_THAT(complaint(s), HasSubstr("tensor 65536 x context 65536 x pipeline 1 = 4294967296 does "
                                      "not divide the cluster's 8 nodes x 8 GPUs = 64"));
  s.parallelism.tensor = 1 << 22;
  s.parallelism.context = 1 << 21;
  s.parallelism.pipeline = 1 << 21;
  EXPECT_THAT(complaint(s), HasSubstr("= more than 9.2e18 does not divide"));
}

TEST(Check, AFabricThatCannotBeHasItsPlace) {
  auto s = eight_nodes();
  s.cluster.fabric.tiers = 1;
  s.cluster.fabric.ports_per_leaf = 4;
  const core::SourceMarks marks{{"cluster.fabric", {"s.yaml", 4, 3, 1, ""}},
                                {"cluster.fabric.tiers", {"s.yaml", 5, 5, 1, ""}}};
  try {
    check(s, marks);
    FAIL() << "no complaint";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("s.yaml:5:5: fabric.tiers 1 joins 4 ports; 8 nodes"));
  }
}

TEST(Check, SaysThatAClusterIsLargerThanCanBeSimulated) {
  auto s = eight_nodes();
  s.cluster.nodes = 536870912;  // x 8 = 2^32
  EXPECT_THAT(complaint(s),
              HasSubstr("536870912 nodes x 8 GPUs = 4294967296 GPUs; at most 16777216 "
                        "are simulated"));
}

TEST(Check, SaysThatExpertDegreesDoNotDivideTheRanksHoweverLargeTheyAre) {
  auto s = eight_nodes();
  s.model.moe = workload::ExpertsSpec{};
  s.model.moe->experts = 65536;
  s.model.moe->ffn = 65536;
  s.parallelism.expert = 65536;
  s.parallelism.expert_tensor = 65536;  // their product wraps to 0 in 32 bits
  EXPECT_THAT(complaint(s),
              HasSubstr("expert 65536 x expert_tensor 65536 = 4294967296 does not divide"));
}

// 2^25 sequences over data 2 x micro_batch 1 are 2^24 micro-batches, of 4 stages 2^26 chunks.
TEST(Check, SaysThatAStepHasMoreMicroBatchesThanAreSimulated) {
  auto s = eight_nodes();
  s.training.global_batch = 1 << 25;
  EXPECT_THAT(complaint(s), HasSubstr("16777216 micro-batches x pipeline 4 x virtual 1 = 67108864 "
                                      "chunks of work in a step; at most 16777216 are simulated"));
}

TEST(Check, AsksTheRulesThatNoLayoutMendsWithoutALayout) {
  auto s = eight_nodes();
  s.parallelism.data = 3;  // a layout's own fault
  EXPECT_NO_THROW(check_apart_from_layout(s));
  s.cluster.node.nic.count = 3;
  EXPECT_THROW(check_apart_from_layout(s), core::Error);
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
  const auto held = [&s] { return check(Scenario(s)).scenario().run.checkpoint; };
  s.run.until.emplace().steps = 1000;
  EXPECT_EQ(held().bytes_per_parameter, 14);
  s.training.optimizer_state = workload::OptimizerState::adam_bf16;
  EXPECT_EQ(held().bytes_per_parameter, 10);
  s.run.checkpoint.bytes_per_parameter = 11;  // more than training needs
  EXPECT_EQ(held().bytes_per_parameter, 11);
}

TEST(Check, BytesOfAnotherOptimizerAreRefusedWhereTheyAreWritten) {
  auto s = eight_nodes();
  s.run.until.emplace().steps = 1000;
  s.training.optimizer_state = workload::OptimizerState::adam_bf16;
  const core::SourceMarks marks{{"run.checkpoint.bytes_per_parameter", {"s.yaml", 8, 5, 1, ""}}};
  try {
    check(Scenario(s), marks);
    ADD_FAILURE() << "was not refused";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("s.yaml:8:5: checkpoints of 14 bytes a parameter hold"));
    EXPECT_THAT(error.what(), HasSubstr("adam_bf16 has 10: leave 'bytes_per_parameter' out"));
  }
}

TEST(Check, RefusesAPrecisionTheGpuDoesNotHave) {
  auto s = eight_nodes();
  s.training.precision = core::Precision::nvfp4;
  EXPECT_THAT(complaint(s), HasSubstr("H100 has no nvfp4; use"));
}

// No fused kernel of Megatron's or FlashAttention's runs on V100 and T4; PyTorch's own has one.
TEST(Check, GpusBeforeAmpereKeepTheirScoresInMemory) {
  using workload::AttentionKernels;
  auto s = eight_nodes();
  const auto kernels = [&](gpu::Architecture architecture, AttentionKernels asked) {
    s.cluster.node.gpu.architecture = architecture;
    s.training.framework.attention_kernels = asked;
    return check(Scenario(s)).scenario().training.framework.attention_kernels;
  };
  for (const auto old : {gpu::Architecture::volta, gpu::Architecture::turing}) {
    EXPECT_EQ(kernels(old, AttentionKernels::newest), AttentionKernels::unfused);
    EXPECT_EQ(kernels(old, AttentionKernels::flash2), AttentionKernels::unfused);
    EXPECT_EQ(kernels(old, AttentionKernels::sdpa), AttentionKernels::sdpa);
  }
  EXPECT_EQ(kernels(gpu::Architecture::ampere, AttentionKernels::newest), AttentionKernels::newest);
}

// A node of the catalogue with fewer GPUs is not half of an NVLink domain shared with the next.
TEST(Check, NodesDoNotShareTheDomainOfAServerWhoseGpusAreChanged) {
  auto s = eight_nodes();
  s.parallelism = {};
  s.cluster.node.gpus = 4;
  const core::SourceMarks apart{{"cluster.node.gpus", {"--set", 0, 0, 1, ""}},
                                {"cluster.node.scale_up.domain_gpus", {"n.yaml", 9, 3, 1, ""}}};
  const auto told = [&](const core::SourceMarks& marks) {
    try {
      check(Scenario(s), marks);
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(told(apart), HasSubstr("nodes of 4 GPUs would share the NVLink domain of 8 GPUs"));
  EXPECT_EQ(told({}), "");  // where nobody changed one of them, that is the node
  s.cluster.nodes = 1;      // has nobody to share it with
  EXPECT_EQ(told(apart), "");
  s.cluster.nodes = 8;
  s.cluster.node.scale_up.domain_gpus = 72;  // a rack
  EXPECT_EQ(told(apart), "");
}

TEST(Check, SequencesAreNoLongerThanLearnedPositions) {
  auto s = eight_nodes();
  s.model.learned_positions = s.training.sequence_length;
  EXPECT_EQ(complaint(s), "");
  s.model.learned_positions -= 1;
  EXPECT_THAT(complaint(s), HasSubstr("has learned positions for"));
}

}  // namespace
}  // namespace headway::training

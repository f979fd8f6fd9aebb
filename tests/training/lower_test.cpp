#include "sim/training/step/lower.h"

#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

LoweredStep lowered(const Scenario& s) {
  const auto checked = check(s);
  const auto graph = workload::build_step_graph(s.model, s.training, s.parallelism,
                                                checked.data_parallel(), checked.micro_batches());
  const auto fabric = build_fabric(s.cluster);
  return lower(checked, graph, fabric);
}

TEST(Lowering, MakesOneActorARankAndOneProgramAStage) {
  const auto step = lowered(eight_nodes());
  EXPECT_EQ(step.problem.actors.size(), 64U);
  EXPECT_EQ(step.problem.programs.size(), 4U);
}

// TP 8 fills a node, so its groups are timed events; DP pairs cross nodes, so theirs have flows.
TEST(Lowering, GroupsInsideADomainAreTimedAndOthersHaveFlows) {
  const auto step = lowered(eight_nodes());
  std::size_t timed = 0;
  std::size_t flowing = 0;
  for (const auto& group : step.problem.groups) {
    if (group.activity == core::Activity::tensor) {
      EXPECT_EQ(group.need, 8U);
      EXPECT_EQ(group.flows, 0U);
      EXPECT_GT(group.delay, 0);
      ++timed;
    } else if (group.activity == core::Activity::data && group.need == 2) {
      EXPECT_EQ(group.flows, 1U);
      ++flowing;
    }
  }
  EXPECT_GT(timed, 0U);
  EXPECT_GT(flowing, 0U);
}

// Every message between stages has one sender, and all 8 tensor ranks of 2 replicas send over 3
// boundaries both ways.
TEST(Lowering, StagesExchangeMessagesRankByRank) {
  const auto step = lowered(eight_nodes());
  std::size_t messages = 0;
  for (const auto& group : step.problem.groups) {
    if (group.activity == core::Activity::pipeline_p2p) {
      EXPECT_EQ(group.need, 1U);
      ++messages;
    }
  }
  EXPECT_EQ(messages, 8U * 2U * 3U * 2U);
}

TEST(Lowering, TheCalibrationReplacesCatalogueSpeeds) {
  auto s = eight_nodes();
  s.cluster.nodes = 1;
  s.cluster.node.gpus = 1;
  s.calibration.kernels.emplace();
  s.calibration.kernels->memory = 0.5;
  EXPECT_EQ(kernel_times(s).shares.memory, 0.5);
  // One GPU has no slower neighbour.
  EXPECT_EQ(kernel_times(s).shares.gemm_16bit, s.calibration.kernels->gemm_16bit);
}

TEST(Lowering, OldAttentionKernelsRunAtTheirOwnSpeed) {
  auto s = eight_nodes();
  s.cluster.node.gpu.sustained.attention_flash2 = 0.31;
  const double newest = kernel_times(s).shares.attention_forward;
  s.training.framework.attention_kernels = workload::AttentionKernels::flash2;
  EXPECT_NEAR(kernel_times(s).shares.attention_forward / newest,
              0.31 / s.cluster.node.gpu.sustained.attention_forward, 1e-12);
}

// A scale a row: CUTLASS's products of 8 bits on NVIDIA's GPUs, no others.
TEST(Lowering, ScalesOfRowsSlowNarrowProducts) {
  auto s = eight_nodes();
  s.training.framework.scaling = workload::Scaling::tensor;
  const gpu::SustainedShares tensor = kernel_times(s).shares;
  s.training.framework.scaling = workload::Scaling::row;
  EXPECT_DOUBLE_EQ(kernel_times(s).shares.gemm_8bit, 0.84 * tensor.gemm_8bit);
  EXPECT_EQ(kernel_times(s).shares.gemm_16bit, tensor.gemm_16bit);
  s.cluster.node.gpu.architecture = gpu::Architecture::cdna3;
  EXPECT_EQ(kernel_times(s).shares.gemm_8bit, tensor.gemm_8bit);
}

// PyTorch's scaled_dot_product_attention prefers FlashAttention-2, torchtitan's cuDNN on Blackwell.
TEST(Lowering, PyTorchChoosesItsAttentionByTheGpu) {
  using workload::AttentionKernels;
  auto s = eight_nodes();
  s.cluster.node.gpu.sustained.attention_flash2 = 0.31;
  const auto flash2 = [&](AttentionKernels kernels, gpu::Architecture architecture) {
    s.training.framework.attention_kernels = kernels;
    s.cluster.node.gpu.architecture = architecture;
    return kernel_times(s).shares.attention_forward < 0.4;
  };
  EXPECT_TRUE(flash2(AttentionKernels::sdpa, gpu::Architecture::hopper));
  EXPECT_FALSE(flash2(AttentionKernels::sdpa, gpu::Architecture::blackwell));
  EXPECT_TRUE(flash2(AttentionKernels::flash2, gpu::Architecture::blackwell));
  EXPECT_FALSE(flash2(AttentionKernels::flash3, gpu::Architecture::hopper));
  EXPECT_FALSE(flash2(AttentionKernels::cudnn, gpu::Architecture::hopper));
  // On AMD's PyTorch has kernels made by Triton, FlashAttention's package AMD's own library.
  EXPECT_TRUE(flash2(AttentionKernels::sdpa, gpu::Architecture::cdna3));
  EXPECT_FALSE(flash2(AttentionKernels::flash2, gpu::Architecture::cdna3));
}

}  // namespace
}  // namespace headway::training

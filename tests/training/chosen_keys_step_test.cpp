// Steps over context ranks with attention that chooses its keys, and its kernels over eight GPUs
// beside a published measurement.
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <string_view>

#include "sim/gpu/kernel_time.h"
#include "sim/training/step/step.h"
#include "sim/workload/native/native_blocks.h"

#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

/// TP 4 x CP 2 x PP 4 x DP 2, keys gathered.
Scenario gathering_nodes(bool indexer) {
  Scenario s = eight_nodes();
  s.training.sequence_length = 16384;
  s.parallelism.tensor = 4;
  s.parallelism.context = 2;
  s.parallelism.context_kind = workload::ContextKind::all_gather;
  if (indexer) {
    s.model.attention = workload::AttentionKind::multi_latent;
    s.model.latent = workload::LatentAttentionSpec{1536, 512, 128, 64, 128};
    s.model.sparse = workload::SparseAttentionSpec{32, 128, 2048};
  } else {
    s.model.native_sparse.emplace();
  }
  return s;
}

TEST(ChosenKeysStep, FoldedAndRankByRankGiveTheSameTicks) {
  for (const bool indexer : {true, false}) {
    Scenario s = gathering_nodes(indexer);
    expect_the_same_step(s);
    s.parallelism.recompute = workload::Recompute::selective;
    s.parallelism.sharding = workload::Sharding::zero3;
    s.parallelism.pipeline = 1;
    expect_the_same_step(s);
  }
}

// Twice the ranks of a sequence: each has half of its work, and what they gather is exposed.
TEST(ChosenKeysStep, DividesASequenceOverContextRanks) {
  for (const bool indexer : {true, false}) {
    Scenario s = gathering_nodes(indexer);
    s.parallelism.pipeline = 1;
    s.cluster.nodes = 1;
    const StepResult two = simulate_step(check(s));
    s.parallelism.context = 1;
    const StepResult one = simulate_step(check(s));  // two data ranks in place of two context ranks
    const auto part = [](const StepResult& step, core::Activity activity) {
      return step.breakdown.values[static_cast<std::size_t>(activity)].si();
    };
    EXPECT_EQ(part(one, core::Activity::context), 0);
    EXPECT_GT(part(two, core::Activity::context), 0);
    // As many tokens a GPU; what every context rank compresses anew and smaller kernels come on
    // top.
    const double compute = part(two, core::Activity::compute) / part(one, core::Activity::compute);
    EXPECT_GT(compute, 0.95);
    EXPECT_LT(compute, 1.25);
  }
}

// mdy666/Scalable-Flash-Native-Sparse-Attention, README.md ("1M Context") and test_cp.py (test_1M),
// 2025: 1,048,576 tokens over eight GPUs, 64 query and 4 key heads 128 wide; forward 575.6 ms,
// backward 1,509.2 ms, in which the three branches are made again, the choice is not. One set of
// keys, compressed by means. Which GPU is said of the other tables: H800. Nothing was fitted.
TEST(ChosenKeysKernels, TakeAboutAsLongAsMeasuredOverEightGpus) {
  workload::ModelSpec model = eight_nodes().model;
  model.heads = 64;
  model.key_value_heads = 4;
  model.native_sparse.emplace();
  workload::TrainingSpec training;
  training.sequence_length = 1048576;
  workload::ParallelismSpec layout;
  layout.context = 8;
  layout.context_kind = workload::ContextKind::all_gather;
  const workload::RankShape shape = workload::rank_shape(model, training, layout);
  gpu::GpuSpec gpu = eight_nodes().cluster.node.gpu;
  gpu.streaming_multiprocessors = 132;
  gpu.architecture = gpu::Architecture::hopper;
  const auto seconds = [&](const std::vector<core::Kernel>& kernels, bool choice) {
    double sum = 0;
    for (const core::Kernel& kernel : kernels) {
      const std::string_view name = kernel.name;
      if (choice || (name != "block scores" && name != "block choice")) {
        sum += gpu::kernel_time(gpu, gpu.sustained, kernel, {core::Seconds(0), false}).si();
      }
    }
    return sum;
  };
  const auto again = workload::native_attention_forward(shape);
  const double forward = seconds(again, true);
  const double backward =
      seconds(again, false) + seconds(workload::native_attention_backward(shape), true);
  std::cout << "forward " << 1e3 * forward << " of 575.6 ms, backward " << 1e3 * backward
            << " of 1509.2 ms\n";
  EXPECT_NEAR(std::log2(forward / 0.5756), 0, 0.8);
  EXPECT_NEAR(std::log2(backward / 1.5092), 0, 0.8);
}

}  // namespace
}  // namespace headway::training

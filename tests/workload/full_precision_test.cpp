// Training in fp32 and tf32: four bytes of everything, one copy of the weights, no flash kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/optimizer_state.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/number_formats.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;
using core::Precision;

TrainingSpec in(Precision precision) {
  TrainingSpec training = recipe(4096, 16);
  training.precision = precision;
  return training;
}

/// bf16 with what full precision is compared to: unfused attention and gradients of 4 bytes.
TrainingSpec unfused_bf16() {
  TrainingSpec training = in(Precision::bf16);
  training.framework.attention_kernels = AttentionKernels::unfused;
  return training;
}

// 4 B weight, 4 B gradient, 8 B of two moments: there is no master copy. Over D = 16 ranks zero1
// divides the moments, zero3 all: 8 + 8/D, 16/D (and two gathered layers of 4 B).
TEST(FullPrecision, HoldsSixteenBytesAParameterAndNoMasterWeights) {
  for (const Precision precision : {Precision::fp32, Precision::tf32}) {
    ParallelismSpec parallelism = split(1, 1);
    const auto states = [&](Sharding sharding) {
      parallelism.sharding = sharding;
      const auto memory = stage_memory(llama_8b(), in(precision), parallelism, 16, 1).front();
      return (memory.weights + memory.gradients + memory.optimizer).si();
    };
    const double n =
        stage_parameters_per_rank(llama_8b(), parallelism, StageLayout(llama_8b(), parallelism), 0)
            .total();
    EXPECT_DOUBLE_EQ(states(Sharding::zero0), 16 * n);
    EXPECT_DOUBLE_EQ(states(Sharding::zero1), (8 + 8.0 / 16) * n);
    EXPECT_DOUBLE_EQ(states(Sharding::zero3), n);
  }
  EXPECT_EQ(optimizer_bytes(OptimizerState::adam_fp32, true), 8);
  EXPECT_EQ(update_bytes(OptimizerState::adam_fp32, true), 24);  // weight and moments, both ways
}

TEST(FullPrecision, KeepsTwiceTheActivationsOfUnfusedSixteenBits) {
  for (const ModelSpec& model : {llama_8b(), deepseek_v3()}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      ParallelismSpec parallelism = split(4, 2);
      parallelism.recompute = recompute;
      const auto saved = [&](const TrainingSpec& training) {
        return saved_per_layer(model, training, parallelism).si();
      };
      EXPECT_DOUBLE_EQ(saved(in(Precision::fp32)), 2 * saved(unfused_bf16()));
      EXPECT_DOUBLE_EQ(backward_working_set(model, in(Precision::tf32), parallelism).si(),
                       2 * backward_working_set(model, unfused_bf16(), parallelism).si());
    }
  }
  // Fused cross entropy keeps logits of the run's format, the other fp32 probabilities beside them.
  TrainingSpec old = in(Precision::fp32);
  old.framework.loss = Loss::in_place;
  const double logits = 4096.0 * 128256;
  EXPECT_DOUBLE_EQ(logits_bytes(llama_8b(), in(Precision::fp32), split(1, 1)).si(), 4 * logits);
  EXPECT_DOUBLE_EQ(logits_bytes(llama_8b(), old, split(1, 1)).si(), 8 * logits);
}

// What travels in 16 bits otherwise (activations, weights) doubles; gradients have 4 bytes in both.
TEST(FullPrecision, SendsFourBytesOfEverything) {
  ParallelismSpec parallelism = split(4, 2);
  const StepGraph wide = build_step_graph(llama_8b(), in(Precision::fp32), parallelism, 4, 4);
  const StepGraph narrow = build_step_graph(llama_8b(), unfused_bf16(), parallelism, 4, 4);
  const auto ratio = [&](Group group, CollectiveKind kind) {
    return collective_bytes(wide, group, kind) / collective_bytes(narrow, group, kind);
  };
  EXPECT_DOUBLE_EQ(ratio(Group::tensor, CollectiveKind::all_gather), 2);
  EXPECT_DOUBLE_EQ(ratio(Group::tensor, CollectiveKind::reduce_scatter), 2);
  EXPECT_DOUBLE_EQ(ratio(Group::data_context, CollectiveKind::all_gather), 2);
  EXPECT_DOUBLE_EQ(ratio(Group::data_context, CollectiveKind::reduce_scatter), 1);
  double sent_wide = 0, sent_narrow = 0;
  for_each_operation(wide, [&](int, const Operation& o, int times) {
    sent_wide += o.kind == OperationKind::send ? o.bytes.si() * times : 0;
  });
  for_each_operation(narrow, [&](int, const Operation& o, int times) {
    sent_narrow += o.kind == OperationKind::send ? o.bytes.si() * times : 0;
  });
  EXPECT_DOUBLE_EQ(sent_wide, 2 * sent_narrow);
}

// A profile whose gradients are 16-bit, an expert dispatch in fp8: neither holds in fp32.
TEST(FullPrecision, LeavesNoNarrowGradientsOrTokens) {
  TrainingSpec training = in(Precision::fp32);
  training.framework.gradient_bytes = training.framework.reduce_bytes = 2;
  training.framework.dispatch_bytes = 1;
  const FrameworkSpec resolved = in_its_format(training).framework;
  EXPECT_EQ(resolved.gradient_bytes, 4);
  EXPECT_EQ(resolved.reduce_bytes, 4);
  EXPECT_EQ(resolved.dispatch_bytes, 4);
  EXPECT_FALSE(resolved.fuses_attention());
  training.precision = Precision::bf16;
  EXPECT_EQ(in_its_format(training), training);
}

TEST(FullPrecision, RunsEveryProductInItsFormatAndNoFlashKernel) {
  for (const Precision precision : {Precision::fp32, Precision::tf32}) {
    ParallelismSpec parallelism = split(2, 2);
    parallelism.expert = 2;
    const StepGraph graph = build_step_graph(mixtral_8x7b(), in(precision), parallelism, 2, 4);
    int products = 0;
    for_each_operation(graph, [&](int, const Operation& o, int) {
      for (const core::Kernel& kernel : o.kernels) {
        EXPECT_NE(kernel.kind, core::KernelKind::attention_forward);
        EXPECT_NE(kernel.kind, core::KernelKind::attention_backward);
        if (kernel.m > 0) {
          EXPECT_EQ(kernel.precision, precision) << kernel.name;
          ++products;
        }
      }
    });
    EXPECT_GT(products, 0);
  }
}

// tf32 is stored as fp32: the two step graphs differ in the format of their products alone.
TEST(FullPrecision, OfTf32MovesTheBytesOfFp32) {
  const auto traffic = [](Precision precision) {
    double bytes = 0;
    const StepGraph graph = build_step_graph(llama_8b(), in(precision), split(2, 2), 2, 4);
    for_each_operation(graph, [&](int, const Operation& o, int times) {
      bytes += o.bytes.si() * times;
      for (const core::Kernel& kernel : o.kernels) {
        bytes += kernel.traffic.si() * static_cast<double>(kernel.count) * times;
      }
    });
    return bytes;
  };
  EXPECT_EQ(traffic(Precision::tf32), traffic(Precision::fp32));
}

TEST(FullPrecision, RefusesByNameWhatNeedsAFlashKernel) {
  ParallelismSpec ring = split(1, 1);
  ring.context = 2;
  EXPECT_THAT(texts(context_problems(llama_8b(), in(Precision::tf32), ring)),
              testing::ElementsAre("context parallelism needs fused attention; tf32 has none: "
                                   "choose bf16 or fp16"));
  TrainingSpec packed = in(Precision::fp32);
  packed.documents = {{1024, 1}};
  EXPECT_THAT(texts(unsupported(llama_8b(), packed, split(1, 1))),
              testing::ElementsAre("packed documents need fused attention; fp32 has none: choose "
                                   "bf16 or fp16"));
}

}  // namespace
}  // namespace headway::workload

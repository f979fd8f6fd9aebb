// Kernels and transfers of adapters, and what is kept for them.
#include "sim/workload/trained/adapter_blocks.h"

#include <gtest/gtest.h>

#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/trained/adapter_shape.h"
#include "sim/workload/trained/trained_parameters.h"

#include "tests/workload/trained_models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(Adapters, WorkAsTheClosedFormSays) {
  // Base: forward and input gradient, 4 FLOP a weight; adapters 6 FLOP a weight; the embedding is
  // looked up and has no backward. The first layer's input gradient is made too.
  const double weights = 4 * (4 * kLayer + kTable) + 6 * 4 * kAdapters;
  const ModelSpec model = adapted(few(), 16);
  for (const int tensor : {1, 4, 8}) {
    EXPECT_NEAR(step_work(model, tensor, 2) / (2 * (weights * kS + 4 * kCore)), 1, 1e-12) << tensor;
  }
  const auto flops = training_flops_per_token(model, recipe(int(kS), 2), split(1, 1));
  EXPECT_NEAR(flops.mfu.si() / (weights + 4 * 3 * 2 * kForwardCore / kS), 1, 1e-12);
  EXPECT_NEAR(flops.mfu_causal.si() / (weights + 4 * 3 * kForwardCore / kS), 1, 1e-12);
  const auto other = training_flops_per_token(model, int(kS), Recompute::none);
  EXPECT_NEAR(other.mfu / flops.mfu, 1, 1e-12);
  EXPECT_NEAR(other.mfu_causal / flops.mfu_causal, 1, 1e-12);
}

TEST(Adapters, MoveTheBytesOfTheirAdditions) {
  // Outputs of a layer's products: 2 h + 2 g d + 2 f + h; inputs: 6 h + f. Three 16-bit arrays
  // each.
  const double outputs = 4096.0 + 2 * 1024 + 4096 + 2 * 14336 + 4096;
  const double inputs = 6 * 4096.0 + 14336;
  const double passes = 2 * 4 * kS;  // micro-batches, layers, tokens
  TrainingSpec training = recipe(int(kS), 2);
  ModelSpec model = adapted(few(), 16);
  model.adapters->dropout = true;
  const StepGraph graph = build_step_graph(model, training, split(1, 1), 1, 2);
  EXPECT_EQ(kernel_traffic(graph, "add adapter"), passes * 6 * outputs);
  EXPECT_EQ(kernel_traffic(graph, "add gradient"), passes * 6 * inputs);
  EXPECT_EQ(kernel_traffic(graph, "scale adapter"), 0);
  // Forward and backward: read, written, and a byte of mask.
  EXPECT_EQ(kernel_traffic(graph, "adapter dropout"), 2 * passes * 5 * inputs);
  training.framework.elementwise = Elementwise::eager;
  EXPECT_EQ(kernel_traffic(build_step_graph(model, training, split(1, 1), 1, 2), "scale adapter"),
            passes * 4 * outputs);
}

TEST(Adapters, OfExpertsMultiplyTheRowsOfEach) {
  ModelSpec model = mixtral_8x7b();
  model.layers = 2;
  const double before = step_work(adapted(model, 16, {P::query}), 1, 2);
  // Two experts a token; in and gate and out, 6 FLOP a weight.
  EXPECT_NEAR(step_work(adapted(model, 16, {P::query, P::experts}), 1, 2) - before,
              2 * kS * 2 * 6 * 2 * 3 * 16 * (4096.0 + 14336), 1e6);
  EXPECT_EQ(active_adapter_weights(adapted(model, 16, {P::experts}),
                                   layer_kind(adapted(model, 16), {}, 0)),
            2 * 3 * 16 * (4096.0 + 14336));
}

TEST(Adapters, TravelBetweenTensorRanksAsMegatronBridgeDoes) {
  const ModelSpec model = adapted(few(), 16);
  const StepGraph graph = build_step_graph(model, recipe(int(kS), 2), split(4, 1), 1, 2);
  const double token = 2 * 4 * 2 * kS;  // micro-batches, layers, bytes, tokens
  // A's outputs: five products by columns and two by rows; backward all seven.
  EXPECT_EQ(bytes_of(graph, "adapter gather"), token * 7 * 16);
  EXPECT_EQ(bytes_of(graph, "adapter reduce"), token * 7 * 16);
  // B's columns of output and down, and their gradients; two places' inputs once more.
  EXPECT_EQ(bytes_of(graph, "adapter output"), token * 2 * 4096);
  EXPECT_EQ(bytes_of(graph, "adapter gradient"), token * 2 * 4096);
  EXPECT_EQ(bytes_of(graph, "adapter re-gather"), token * 2 * 4096);
  // Base weights have no gradients, whose inputs would be gathered again.
  EXPECT_EQ(bytes_of(graph, "tensor re-gather"), 0);
  // Dropped copies are kept whole.
  ModelSpec dropped = model;
  dropped.adapters->dropout = true;
  EXPECT_EQ(bytes_of(build_step_graph(dropped, recipe(int(kS), 2), split(4, 1), 1, 2),
                     "adapter re-gather"),
            0);
  ParallelismSpec whole = split(4, 1);
  whole.sequence = false;
  const StepGraph other = build_step_graph(model, recipe(int(kS), 2), whole, 1, 2);
  EXPECT_EQ(bytes_of(other, "adapter re-gather") + bytes_of(other, "adapter gradient"), 0);
  EXPECT_EQ(bytes_of(other, "adapter output"), token * 2 * 4096);
}

TEST(Adapters, AloneHaveGradientsThatAreReduced) {
  ParallelismSpec parallelism = split(1, 1);
  const ModelSpec model = adapted(few(), 16);
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero3}) {
    parallelism.sharding = sharding;
    const StepGraph graph = build_step_graph(model, recipe(int(kS), 8), parallelism, 8, 1);
    EXPECT_EQ(bytes_of(graph, "gradient reduction"), 4 * 4 * kAdapters);
    EXPECT_EQ(bytes_of(graph, "parameter gather"),
              sharding == Sharding::zero0 ? 0
              : sharding == Sharding::zero1
                  ? 2 * 4 * kAdapters
                  // Forward all, backward the layers once more.
                  : 2 * (2 * 4 * (kLayer + kNorms + kAdapters) + 2 * kTable + 4096));
    const double shard = sharding == Sharding::zero0 ? 1 : 8;
    EXPECT_DOUBLE_EQ(kernel_traffic(graph, "optimizer"), 30 * 4 * kAdapters / shard);
  }
}

TEST(Adapters, KeepTheInputsOfTheirProductsAlone) {
  const TrainingSpec training = recipe(int(kS), 8);
  const auto kept = [&](const ModelSpec& model) {
    const ParallelismSpec parallelism = split(1, 1);
    return saved_per_layer(model, training, parallelism, prediction_kind(model, parallelism)).si();
  };
  const double all = kept(few());
  // Everything, and seven outputs of A.
  EXPECT_EQ(kept(adapted(few(), 16)), all + 2 * kS * 7 * 16);
  // Of query and value: not the norm's output before the MLP, nor that of its activation.
  EXPECT_EQ(kept(adapted(few(), 16, {P::query, P::value})),
            all + 2 * kS * (2 * 16 - 4096.0 - 14336.0));
  EXPECT_EQ(kept(adapted(few(), 16, {P::down})), all + 2 * kS * (16 - 2 * 4096.0));
  // Dropped copies of every adapter's own, with a mask of a byte: 5 of 4096 more and one of 14336
  // in place of what three shared; the output's is of attention's output, which stays.
  ModelSpec dropped = adapted(few(), 16);
  dropped.adapters->dropout = true;
  EXPECT_EQ(kept(dropped),
            all + kS * (2 * 7 * 16 - 2 * (2 * 4096.0 + 14336.0) + 3 * (6 * 4096.0 + 14336.0)));
  // An expert's adapters keep the rows of their products.
  ModelSpec mixture = mixtral_8x7b();
  mixture.layers = 2;
  EXPECT_EQ(
      kept(adapted(mixture, 16, {P::query, P::experts})) - kept(adapted(mixture, 16, {P::query})),
      2 * 2 * kS * (3 * 16 + 4096.0 + 14336.0));
}

TEST(Adapters, ReadWhatNarrowProductsReadInSixteenBits) {
  TrainingSpec training = recipe(int(kS), 8);
  training.precision = core::Precision::fp8;
  const auto kept = [&](const ModelSpec& model) {
    const ParallelismSpec parallelism = split(1, 1);
    return saved_per_layer(model, training, parallelism, prediction_kind(model, parallelism)).si();
  };
  // A byte more of three inputs and seven outputs of A; the projection's narrow copy is not kept.
  EXPECT_EQ(kept(adapted(few(), 16)) - kept(few()),
            kS * (2 * 4096.0 + 14336.0 + 2 * 7 * 16 - 4096.0));
}

TEST(Nf4, IsMadeWideBeforeEachProduct) {
  // Forward and input gradient of two micro-batches.
  const ModelSpec model = in_nf4(adapted(few(), 16));
  const auto traffic = [&](const ParallelismSpec& parallelism) {
    return kernel_traffic(build_step_graph(model, recipe(int(kS), 2), parallelism, 1, 2),
                          "dequantise");
  };
  EXPECT_DOUBLE_EQ(traffic(split(1, 1)), 2 * 2 * 4 * kLayer * kDequantiseBytes);
  ParallelismSpec full = split(1, 1);
  full.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(traffic(full), 2 * 3 * 4 * kLayer * kDequantiseBytes);
  // FSDP sends it as it lies there.
  ParallelismSpec sharded = split(1, 1);
  sharded.sharding = Sharding::zero3;
  const StepGraph graph = build_step_graph(model, recipe(int(kS), 8), sharded, 8, 1);
  EXPECT_DOUBLE_EQ(
      bytes_of(graph, "parameter gather"),
      2 * 4 * (kNf4Bytes * kLayer + 2 * (kNorms + kAdapters)) + 2 * (2 * kTable + 4096));
}

}  // namespace
}  // namespace headway::workload

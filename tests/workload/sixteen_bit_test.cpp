// Layers at both ends that stay in 16 bits: what is cast, kept and gathered is that of the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::Precision;
using testing::ElementsAre;
using testing::HasSubstr;

/// Llama 3.1 8B, of whose 32 layers so many stay in 16 bits.
ModelSpec kept_wide(int first, int last) {
  ModelSpec model = llama_8b();
  model.sixteen_bit_layers = SixteenBitLayersSpec{first, last};
  return model;
}

TrainingSpec in_format(Precision precision, Scaling scaling = Scaling::tensor) {
  TrainingSpec training = recipe(8192, 4);
  training.precision = precision;
  training.framework.scaling = scaling;
  return training;
}

ParallelismSpec sharded() {
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::zero3;
  return parallelism;
}

TEST(SixteenBitLayers, AreTheFirstAndTheLast) {
  const auto runs = layer_runs(kept_wide(2, 3), split(1, 1), 0, 32);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_TRUE(runs[0].kind.sixteen_bit && !runs[1].kind.sixteen_bit && runs[2].kind.sixteen_bit);
  EXPECT_EQ(runs[0].layers, 2);
  EXPECT_EQ(runs[2].layers, 3);
  // A prediction module is as narrow as most layers.
  EXPECT_FALSE(prediction_kind(kept_wide(2, 3), split(1, 1)).sixteen_bit);
}

// Of 32 equal layers 8 cast nothing: a quarter of all casts is gone, and products of the same work
// are as many.
TEST(SixteenBitLayers, CastNothing) {
  for (const Precision precision : {Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
    const TrainingSpec training = in_format(precision);
    const StepGraph narrow = build_step_graph(llama_8b(), training, split(1, 1), 1, 1);
    const StepGraph mixed = build_step_graph(kept_wide(3, 5), training, split(1, 1), 1, 1);
    EXPECT_DOUBLE_EQ(kernel_traffic(mixed, "cast"), 0.75 * kernel_traffic(narrow, "cast"));
    EXPECT_GT(kernel_traffic(narrow, "cast"), 0);
    EXPECT_DOUBLE_EQ(matrix_work(mixed), matrix_work(narrow));
  }
}

// Nor do they pass a transform, of which four bits' recipe has more traffic than its casts alone.
TEST(SixteenBitLayers, KnowNothingOfTheRecipeForFourBits) {
  TrainingSpec training = in_format(Precision::nvfp4);
  training.nvfp4 = Nvfp4Spec{};
  const StepGraph narrow = build_step_graph(llama_8b(), training, split(1, 1), 1, 1);
  const StepGraph mixed = build_step_graph(kept_wide(3, 5), training, split(1, 1), 1, 1);
  const StepGraph wide =
      build_step_graph(llama_8b(), in_format(Precision::bf16), split(1, 1), 1, 1);
  const double recipe = memory_traffic(narrow) - memory_traffic(wide);
  EXPECT_GT(recipe, 0);
  EXPECT_NEAR((memory_traffic(mixed) - memory_traffic(wide)) / recipe, 0.75, 1e-9);
}

// A layer keeps what it keeps in bf16, the others what they keep in fp8.
TEST(SixteenBitLayers, KeepWhatTheyKeepWithoutNarrowOperands) {
  TrainingSpec training = in_format(Precision::fp8);
  training.framework.narrow_activations = true;
  const auto kept = [&](Precision precision, const ModelSpec& model, int layer) {
    training.precision = precision;
    return saved_per_layer(model, training, split(1, 1), layer_kind(model, split(1, 1), layer))
        .si();
  };
  const ModelSpec model = kept_wide(1, 1);
  EXPECT_EQ(kept(Precision::fp8, model, 0), kept(Precision::bf16, llama_8b(), 0));
  EXPECT_EQ(kept(Precision::fp8, model, 1), kept(Precision::fp8, llama_8b(), 1));
  EXPECT_NE(kept(Precision::fp8, model, 0), kept(Precision::fp8, model, 1));
}

// With weights that stay in mxfp8 (33/32 B, both ways) in place of 16 bits: 2 x 33/32 - 2 B a
// weight of a layer, of 24 of the 32.
TEST(SixteenBitLayers, HaveNoNarrowCopies) {
  TrainingSpec training = in_format(Precision::mxfp8);
  training.framework.allocation.narrow_weights = true;
  const auto weights = [&](const ModelSpec& model, Precision precision) {
    training.precision = precision;
    return stage_memory(model, training, split(1, 1), 1, 1).front().weights.si();
  };
  const double wide = weights(llama_8b(), Precision::bf16);
  const double narrow = weights(llama_8b(), Precision::mxfp8) - wide;
  const double mixed = weights(kept_wide(3, 5), Precision::mxfp8) - wide;
  EXPECT_GT(narrow, 0);
  EXPECT_NEAR(mixed, 0.75 * narrow, 1e-6 * narrow);
}

// Weights of 24 of 32 layers travel in one byte instead of two.
TEST(SixteenBitLayers, AreGatheredInSixteenBits) {
  TrainingSpec training = in_format(Precision::fp8);
  const auto bytes = [&](const ModelSpec& model) {
    return collective_bytes(build_step_graph(model, training, sharded(), 4, 1), Group::data_context,
                            core::CollectiveKind::all_gather);
  };
  const double wide = bytes(llama_8b());
  training.framework.narrow_gathers = true;
  const double layer = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096;
  EXPECT_DOUBLE_EQ(wide - bytes(kept_wide(0, 8)), 2 * 24 * layer);
}

TEST(SixteenBitLayers, WithoutNarrowOnesAreAContradiction) {
  const auto broken = [](const ModelSpec& model, const TrainingSpec& training) {
    return texts(unsupported(model, training, split(1, 1)));
  };
  EXPECT_THAT(broken(kept_wide(1, 1), in_format(Precision::fp8)), ElementsAre());
  EXPECT_THAT(broken(kept_wide(1, 1), in_format(Precision::bf16)),
              ElementsAre(HasSubstr("operands are bf16 in all layers")));
  EXPECT_THAT(broken(kept_wide(1, 1), in_format(Precision::fp8, Scaling::delayed)),
              ElementsAre(HasSubstr("with delayed scales all layers are fp8")));
  EXPECT_THAT(broken(kept_wide(0, 0), in_format(Precision::fp8)),
              ElementsAre(HasSubstr("no layer stays in 16 bits")));
  EXPECT_THAT(broken(kept_wide(16, 16), in_format(Precision::nvfp4)),
              ElementsAre(HasSubstr("16 + 16 layers in 16 bits leave none of the 32")));
}

}  // namespace
}  // namespace headway::workload

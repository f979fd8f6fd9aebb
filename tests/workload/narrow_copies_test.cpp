// Copies of weights in the format of narrow products.
#include "sim/workload/memory/narrow_copies.h"

#include <gtest/gtest.h>

#include "sim/workload/layout.h"

#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::Precision;

constexpr double kWeights = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096;  // of a layer

TrainingSpec kept_narrow(Precision precision) {
  TrainingSpec training = recipe(4096, 8);
  training.precision = precision;
  training.framework.scaling = Scaling::tensor;
  training.framework.allocation.narrow_weights = true;
  return training;
}

double copies(const ModelSpec& model,
              const TrainingSpec& training,
              const ParallelismSpec& parallelism,
              int stage = 0) {
  return narrow_copies(model, training, parallelism, rank_shape(model, training, parallelism),
                       StageLayout(model, parallelism), stage);
}

// Beside the 16-bit weights two copies of 1 B, as rows and as columns; in their place 2 - 2 B a
// weight of fp8, 2 x 33/32 - 2 of mxfp8. Of nvfp4, 9/16 B, the 16-bit ones stay.
TEST(NarrowCopies, AreTwoOfEachWeightOfALayer) {
  TrainingSpec beside = recipe(4096, 8);
  beside.precision = Precision::fp8;  // delayed scales
  EXPECT_DOUBLE_EQ(copies(llama_8b(), beside, split(1, 1)), 2 * 32 * kWeights);
  EXPECT_DOUBLE_EQ(copies(llama_8b(), kept_narrow(Precision::fp8), split(1, 1)), 0);
  EXPECT_DOUBLE_EQ(copies(llama_8b(), kept_narrow(Precision::mxfp8), split(1, 1)),
                   2.0 / 32 * 32 * kWeights);
  EXPECT_DOUBLE_EQ(copies(llama_8b(), kept_narrow(Precision::nvfp4), split(1, 1)),
                   2 * 9.0 / 16 * 32 * kWeights);
  EXPECT_EQ(copies(llama_8b(), kept_narrow(Precision::bf16), split(1, 1)), 0);
}

// Two stages of 16 layers, of which the first has three in 16 bits and the last five.
TEST(NarrowCopies, AreOfTheNarrowLayersOfAStage) {
  ModelSpec model = llama_8b();
  model.sixteen_bit_layers = SixteenBitLayersSpec{3, 5};
  const TrainingSpec training = kept_narrow(Precision::mxfp8);
  EXPECT_DOUBLE_EQ(copies(model, training, split(1, 2), 0), 2.0 / 32 * 13 * kWeights);
  EXPECT_DOUBLE_EQ(copies(model, training, split(1, 2), 1), 2.0 / 32 * 11 * kWeights);
}

// Cast in every pass, or gathered layer by layer: none stays.
TEST(NarrowCopies, DoNotStayWhereWeightsAreCastInEveryPass) {
  TrainingSpec training = kept_narrow(Precision::mxfp8);
  ParallelismSpec sharded = split(1, 1);
  sharded.sharding = Sharding::zero3;
  EXPECT_EQ(copies(llama_8b(), training, sharded), 0);
  training.framework.allocation.narrow_weights = false;
  EXPECT_EQ(copies(llama_8b(), training, split(1, 1)), 0);
}

}  // namespace
}  // namespace headway::workload

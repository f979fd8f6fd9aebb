// Weights without states, and weights of four bits.
#include "sim/workload/trained/trained_parameters.h"

#include <gtest/gtest.h>

#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/trained_models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(Adapters, LeaveWeightsWithoutStates) {
  const ModelSpec model = adapted(few(), 16);
  const double base = 4 * (kLayer + kNorms) + 2 * kTable + 4096;
  const double adapters = 4 * kAdapters;
  ParallelismSpec parallelism = split(1, 1);
  const StageStates one = stage_states(model, recipe(int(kS), 8), parallelism, 8).front();
  EXPECT_EQ(one.weights.si(), 2 * (base + adapters));
  EXPECT_EQ(one.gradients.si(), 4 * adapters);
  EXPECT_EQ(one.optimizer.si(), 12 * adapters / 8);
  // FSDP: the base in shards of 16 bits, masters of adapters.
  parallelism.sharding = Sharding::zero3;
  const StageStates three = stage_states(model, recipe(int(kS), 8), parallelism, 8).front();
  EXPECT_EQ(three.weights.si(), (2 * base + 4 * adapters) / 8);
  EXPECT_EQ(three.gradients.si(), 4 * adapters / 8);
  EXPECT_EQ(three.optimizer.si(), 8 * adapters / 8);
}

TEST(Nf4, TakesTheBitsOfThePaper) {
  // Dettmers et al. 2023: double quantization leaves 0.127 bits a parameter of scales.
  EXPECT_NEAR(8 * kNf4Bytes, 4.127, 5e-4);
  const ModelSpec model = in_nf4(adapted(few(), 16));
  const double wide = 4 * kNorms + 2 * kTable + 4096 + 4 * kAdapters;
  const StageStates states = stage_states(model, recipe(int(kS), 8), split(1, 1), 1).front();
  EXPECT_DOUBLE_EQ(states.weights.si(), 2 * wide + kNf4Bytes * 4 * kLayer);
  EXPECT_EQ(states.at_layers.si(), 2 * 4096.0 * 14336);
  ModelSpec wider = model;  // 32 heads of values 1,024 wide make the output's matrix the largest
  wider.value_dim = 1024;
  EXPECT_EQ(stage_states(wider, recipe(int(kS), 8), split(1, 1), 1).front().at_layers.si(),
            2 * 4096.0 * 32 * 1024);
}

}  // namespace
}  // namespace headway::workload

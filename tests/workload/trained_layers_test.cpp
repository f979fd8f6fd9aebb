// Frozen layers: who has a backward pass, and of what.
#include "sim/workload/trained/trained_layers.h"

#include <gtest/gtest.h>

#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/trained/trained_parameters.h"

#include "tests/workload/trained_models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(Frozen, LayersBelowAllThatIsTrainedHaveNoBackward) {
  const ModelSpec model = frozen(4, {3, true, false});
  const double forward = 2 * (4 * kLayer + kTable) * kS + 4 * kForwardCore;
  const double backward = 4 * (kLayer + kTable) * kS + kCore - kForwardCore;
  EXPECT_NEAR(step_work(model, 1, 2) / (2 * (forward + backward)), 1, 1e-12);
  const auto flops = training_flops_per_token(model, recipe(int(kS), 2), split(1, 1));
  EXPECT_NEAR(flops.mfu.si() * kS /
                  (2 * (4 * kLayer + kTable) * kS + 4 * (kLayer + kTable) * kS +
                   2 * kForwardCore * (4 + 2)),
              1, 1e-12);
  // Recomputation makes nothing again there.
  ParallelismSpec full = split(1, 1);
  full.recompute = Recompute::full;
  const auto again = training_flops_per_token(model, recipe(int(kS), 2), full);
  EXPECT_NEAR((again.hfu - again.mfu).si() * kS / (2 * kLayer * kS + 2 * kForwardCore), 1, 1e-12);
  // Nothing of them is kept.
  const LayerKind still = layer_kind(model, split(1, 1), 0);
  EXPECT_EQ(still.learning, Learning::still);
  EXPECT_EQ(saved_per_layer(model, recipe(int(kS), 2), split(1, 1), still).si(), 0);
  EXPECT_EQ(backward_working_set(model, recipe(int(kS), 2), split(1, 1), still).si(), 0);
  EXPECT_EQ(trained_parameters(model), kLayer + kNorms + kTable + 4096);
}

TEST(Frozen, LayersPassGradientsToATrainedEmbedding) {
  const ModelSpec model = frozen(4, {3, false, false});
  const double all = 6 * (4 * kLayer + kTable) * kS + 4 * kCore;
  EXPECT_NEAR(step_work(model, 1, 2) / (2 * (all - 2 * 3 * kLayer * kS)), 1, 1e-12);
  const LayerKind passes = layer_kind(model, split(1, 1), 0);
  EXPECT_EQ(passes.learning, Learning::passes);
  // Inputs of matrices are not kept: two norms' outputs and the activation's.
  EXPECT_EQ(saved_per_layer(few(), recipe(int(kS), 2), split(1, 1)).si() -
                saved_per_layer(model, recipe(int(kS), 2), split(1, 1), passes).si(),
            2 * kS * (2 * 4096 + 14336));
}

TEST(Frozen, HeadsPassGradientsOn) {
  const ModelSpec model = frozen(4, {0, true, true});
  const double all = 6 * (4 * kLayer + kTable) * kS + 4 * kCore;
  EXPECT_NEAR(step_work(model, 1, 2) / (2 * (all - 2 * kTable * kS)), 1, 1e-12);
  EXPECT_EQ(trained_parameters(model), 4 * (kLayer + kNorms));
  EXPECT_EQ(kept_by_head(model, rank_shape(model, recipe(int(kS), 2), split(1, 1))), 2 * kS * 4096);
}

TEST(Frozen, StagesWithoutTrainedWeightsHaveNothingToUpdate) {
  const ModelSpec model = frozen(8, {4, true, false});
  ParallelismSpec parallelism = split(2, 2);
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero3}) {
    parallelism.sharding = sharding;
    const auto states = stage_states(model, recipe(int(kS), 8), parallelism, 2);
    EXPECT_EQ(states[0].gradients.si() + states[0].optimizer.si(), 0);
    EXPECT_GT(states[1].optimizer.si(), 0);
    const StepGraph graph = build_step_graph(model, recipe(int(kS), 8), parallelism, 2, 4);
    double first = 0;
    for_each_operation(graph, [&](int stage, const Operation& operation, int times) {
      const bool reduces = operation.name == std::string_view("gradient reduction") ||
                           operation.name == std::string_view("optimizer");
      first += stage == 0 && reduces ? times : 0;
    });
    EXPECT_EQ(first, 0);
  }
}

}  // namespace
}  // namespace headway::workload

// The block that ends a stage's step, by itself and in the graph.
#include "sim/workload/schedule/end_blocks.h"

#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_kind.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(EndBlocks, AreTheLastOfEachStage) {
  const ModelSpec model = llama_8b();
  const ParallelismSpec parallelism = split(8, 4);
  const StepGraph graph = build_step_graph(model, recipe(8192, 16), parallelism, 2, 8);
  const auto ends = end_blocks(model, recipe(8192, 16), parallelism, 2);
  ASSERT_EQ(ends.size(), graph.stages.size());
  for (std::size_t stage = 0; stage < ends.size(); ++stage) {
    const int last = graph.stages[stage].calls.back().block;
    EXPECT_EQ(ends[stage], graph.blocks[static_cast<std::size_t>(last)]);
  }
}

// ZeRO-1 in fp8: 2 B of every weight, 1 of the layers' where no wider ones are held; mxfp8 is cast
// after the gather.
TEST(EndBlocks, GatherWeightsAsTheyAreHeld) {
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::zero1;
  TrainingSpec training = recipe(4096, 8);
  training.precision = core::Precision::fp8;
  const ModelSpec model = llama_8b();
  const double layers =
      32 * layer_parameters_per_rank(model, parallelism, layer_kind(model, parallelism, 0)).shared;
  for (const bool overlap : {false, true}) {
    training.framework.data_overlap = training.framework.gather_overlap = overlap;
    const auto gathered = [&] {
      return bytes_of(build_step_graph(model, training, parallelism, 8, 1), "parameter gather");
    };
    training.framework.allocation.narrow_weights = false;
    const double wide = gathered();
    EXPECT_DOUBLE_EQ(wide, 2 * count_parameters(model).total());
    training.framework.allocation.narrow_weights = true;
    EXPECT_DOUBLE_EQ(wide - gathered(), layers);
    training.precision = core::Precision::mxfp8;
    EXPECT_DOUBLE_EQ(gathered(), wide);
    training.precision = core::Precision::fp8;
  }
}

}  // namespace
}  // namespace headway::workload

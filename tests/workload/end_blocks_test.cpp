// The block that ends a stage's step, by itself and in the graph.
#include "sim/workload/schedule/end_blocks.h"

#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"

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

}  // namespace
}  // namespace headway::workload

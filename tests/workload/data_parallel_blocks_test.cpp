// What data-parallel ranks reduce and gather, in which pieces and when.
#include "sim/workload/blocks/data_parallel_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>

#include "sim/workload/blocks/build.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/parameters_per_rank.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DataCollectives, MoveEveryGradientAndWeightOnce) {
  const ModelSpec model = llama_8b();
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(8192, 64);
    training.framework.data_overlap = overlap;
    ParallelismSpec parallelism = split(2, 4);
    parallelism.virtual_stages = 2;
    const StepGraph graph = build_step_graph(model, training, parallelism, 8, 8);
    double parameters = 0;
    for (int stage = 0; stage < 4; ++stage) {
      parameters += parameters_per_rank(model, parallelism, stage);
    }
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::reduce_scatter),
                4 * parameters, 1);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::all_gather),
                2 * parameters, 1);
    parallelism.sharding = Sharding::zero0;
    const StepGraph whole = build_step_graph(model, training, parallelism, 8, 8);
    EXPECT_NEAR(collective_bytes(whole, Group::data_context, CollectiveKind::all_reduce),
                4 * parameters, 1);
    EXPECT_EQ(collective_bytes(whole, Group::data_context, CollectiveKind::all_gather), 0);
  }
}

// Updated weights: beside the next forward pass, or at the end of the step in one gather.
TEST(DataCollectives, OfWeightsAreBesideForwardOrAtTheEnd) {
  TrainingSpec training = recipe(4096, 64);
  const ParallelismSpec parallelism = split(1, 2);
  for (const bool beside : {true, false}) {
    training.framework.data_overlap = true;
    training.framework.gather_overlap = beside;
    const StepGraph graph = build_step_graph(llama_8b(), training, parallelism, 4, 8);
    int gathers = 0;
    for (const Block& block : graph.blocks) {
      for (const Operation& operation : block.operations) {
        if (operation.kind == OperationKind::collective &&
            operation.collective == CollectiveKind::all_gather) {
          EXPECT_EQ(operation.asynchronous, beside) << block.name;
          gathers += block.name == "finish step" ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(gathers, beside ? 0 : 2);  // a stage each
  }
}

// Gradients that are scattered: beside the last backward pass, or after it; all-reduces of zero0
// run beside it either way. The bytes are the same.
TEST(DataCollectives, OfScatteredGradientsAreBesideBackwardOrAfterIt) {
  TrainingSpec training = recipe(4096, 64);
  training.framework.data_overlap = true;
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1}) {
    for (const bool beside : {true, false}) {
      training.framework.scatter_overlap = beside;
      ParallelismSpec parallelism = split(1, 2);
      parallelism.sharding = sharding;
      const StepGraph graph = build_step_graph(llama_8b(), training, parallelism, 4, 8);
      const bool scatters = sharding == Sharding::zero1;
      const auto kind = scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
      for (const Block& block : graph.blocks) {
        for (const Operation& operation : block.operations) {
          if (operation.kind == OperationKind::collective && operation.collective == kind &&
              operation.group == Group::data_context) {
            EXPECT_EQ(operation.asynchronous, beside || !scatters) << block.name;
            EXPECT_EQ(block.name == "finish step", !(beside || !scatters)) << block.name;
          }
        }
      }
      EXPECT_NEAR(collective_bytes(graph, Group::data_context, kind),
                  4 * (parameters_per_rank(llama_8b(), parallelism, 0) +
                       parameters_per_rank(llama_8b(), parallelism, 1)),
                  1);
    }
  }
}

// Buckets of 25 MiB of 16-bit gradients: a layer of Llama 8B on 4 tensor ranks is 54.5 million
// parameters in floor(109.1 / 26.2) = 4 equal pieces, embedding and head are a tensor each; of
// small layers a bucket holds as many as reach its size.
TEST(DataCollectives, OfGradientsAreInBuckets) {
  TrainingSpec training = recipe(4096, 64);
  training.framework.data_overlap = true;
  training.framework.gradient_bucket = core::Bytes(25 * 1048576.0);
  ParallelismSpec parallelism = split(4, 1);
  parallelism.sharding = Sharding::zero0;
  const auto reductions = [&](const ModelSpec& model) {
    int count = 0;
    const StepGraph graph = build_step_graph(model, training, parallelism, 4, 1);
    for (const Stage& stage : graph.stages) {
      for (const Call& call : stage.calls) {
        for (const Operation& operation :
             graph.blocks[static_cast<std::size_t>(call.block)].operations) {
          count += operation.ticket == kGradientTicket ? call.repeat : 0;
        }
      }
    }
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::all_reduce),
                4 * parameters_per_rank(model, parallelism, 0), 1);
    return count;
  };
  EXPECT_EQ(reductions(llama_8b()), 32 * 4 + 2);
  ModelSpec small = llama_8b();
  small.hidden = 512;
  small.ffn = 2048;
  small.heads = 4;
  small.key_value_heads = 4;
  // 4 x 512^2 + 3 x 512 x 2048 over 4 ranks and two norms: 1.05 million a layer, 13 in a bucket of
  // 13.1 million: two of them and a rest of six layers.
  EXPECT_EQ(reductions(small), 3 + 2);
}

// Copied back one by one: of half of Llama 8B 16 layers of queries, keys, values, output, gate with
// up, down and two norms, and the embedding, or the output matrix and its norm; of each a piece of
// every one of 4 data ranks.
TEST(DataCollectives, OfPiecesOfWeightsTakeTheCpu) {
  TrainingSpec training = recipe(4096, 64);
  training.framework.data_overlap = true;
  training.framework.host.piece = core::Seconds(1e-6);
  const auto seconds = [&] {
    std::vector<double> found;
    const StepGraph graph = build_step_graph(llama_8b(), training, split(1, 2), 4, 8);
    for (const Block& block : graph.blocks) {
      for (const Operation& operation : block.operations) {
        if (std::string_view(operation.name) == "pieces of weights") {
          found.push_back(operation.duration.si());
        }
      }
    }
    return found;
  };
  EXPECT_THAT(seconds(), IsEmpty());  // gathered in place, beside the forward pass
  training.framework.gather_overlap = false;
  EXPECT_THAT(seconds(), ElementsAre(DoubleNear(4e-6 * (16 * 8 + 1), 1e-12),
                                     DoubleNear(4e-6 * (16 * 8 + 2), 1e-12)));
}

TEST(DataCollectives, OfShardedGradientsAndWeightsRepeatForEveryMicroBatch) {
  // ZeRO-2: a reduce-scatter a micro-batch, one gather a step. ZeRO-3: forward and backward gather
  // the layers for every micro-batch; the head stays gathered for its backward, the embedding's
  // backward needs no weights.
  const ModelSpec model = llama_8b();
  const double m = 4;
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(8192, 64);
    training.framework.data_overlap = overlap;
    ParallelismSpec parallelism = split(1, 1);
    const double all = parameters_per_rank(model, parallelism, 0);
    const double layers = all - 2.0 * 128256 * 4096 - 4096;
    parallelism.sharding = Sharding::zero2;
    StepGraph graph = build_step_graph(model, training, parallelism, 16, 4);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::reduce_scatter),
                m * 4 * all, 1);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::all_gather), 2 * all,
                1);
    parallelism.sharding = Sharding::zero3;
    graph = build_step_graph(model, training, parallelism, 16, 4);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::reduce_scatter),
                m * 4 * all, 1);
    EXPECT_NEAR(collective_bytes(graph, Group::data_context, CollectiveKind::all_gather),
                m * 2 * (all + layers), 1);
  }
}

// FSDP2 keeps gathered weights where stages pass many micro-batches; without stages every
// micro-batch gathers and reduces, and what shards no weights never gathers them.
TEST(GatherOnce, IsOfPipelines) {
  FrameworkSpec framework;
  framework.gather_once = true;
  ParallelismSpec parallelism;
  parallelism.sharding = Sharding::zero3;
  EXPECT_FALSE(gathers_once(framework, parallelism));
  EXPECT_TRUE(reduces_every_micro_batch(framework, parallelism));
  parallelism.pipeline = 2;
  EXPECT_TRUE(gathers_once(framework, parallelism));
  EXPECT_FALSE(reduces_every_micro_batch(framework, parallelism));
  parallelism.sharding = Sharding::zero1;
  EXPECT_FALSE(gathers_once(framework, parallelism));
  parallelism.sharding = Sharding::hsdp;
  framework.gather_once = false;
  EXPECT_FALSE(gathers_once(framework, parallelism));
}

TEST(DataCollectives, OfShardGroupsReduceInsideThemAndBetweenThem) {
  // HSDP in groups of 4 of 16: gathers and reduce-scatters inside a group, then each rank's quarter
  // is summed over the 4 groups. Without resharding the backward gathers nothing.
  const ModelSpec model = llama_8b();
  const double m = 4;
  ParallelismSpec parallelism = split(1, 1);
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 4;
  const double all = parameters_per_rank(model, parallelism, 0);
  const double layers = all - 2.0 * 128256 * 4096 - 4096;
  for (const bool overlap : {false, true}) {
    TrainingSpec training = recipe(8192, 64);
    training.framework.data_overlap = overlap;
    for (const bool reshard : {false, true}) {
      parallelism.reshard = reshard;
      const StepGraph graph = build_step_graph(model, training, parallelism, 16, 4);
      EXPECT_NEAR(collective_bytes(graph, Group::shard, CollectiveKind::reduce_scatter),
                  m * 4 * all, 1);
      EXPECT_NEAR(collective_bytes(graph, Group::replica, CollectiveKind::all_reduce), m * all, 1);
      EXPECT_NEAR(collective_bytes(graph, Group::shard, CollectiveKind::all_gather),
                  m * 2 * (all + (reshard ? layers : 0)), 1);
    }
  }
}

}  // namespace
}  // namespace headway::workload

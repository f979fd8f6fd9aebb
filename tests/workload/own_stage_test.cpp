// An encoder on a pipeline stage of its own: layout, messages, work, states, memory.
#include <gmock/gmock.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/layout.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/vision/encoder_memory.h"
#include "sim/workload/vision/encoder_problems.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/parameters_per_rank.h"
#include "tests/workload/seeing_models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::HasSubstr;

ModelSpec on_own_stage() {
  ModelSpec model = qwen2_5_vl_7b();
  model.vision->stage = EncoderStage::own;
  return model;
}

/// Bytes that stage `from` sends to stage `to`, one rank.
double bytes_sent(const StepGraph& graph, int from, int to) {
  double bytes = 0;
  for_each_operation(graph, [&](int stage, const Operation& operation, int times) {
    const bool meant = operation.kind == OperationKind::send && stage == from;
    bytes += meant && operation.peer_stage == to ? operation.bytes.si() * times : 0;
  });
  return bytes;
}

/// Calls of a stage whose blocks are of the encoder, and of one kind.
int calls_of_encoder(const StepGraph& graph, int stage, CallKind kind) {
  int count = 0;
  for (const Call& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
    const Block& block = graph.blocks[static_cast<std::size_t>(call.block)];
    count += block.encoder && call.kind == kind ? call.repeat : 0;
  }
  return count;
}

TEST(OwnStage, IsInFrontOfThoseWithLayers) {
  const ModelSpec model = on_own_stage();
  const StageLayout even(model, split(1, 3));
  EXPECT_EQ(even.at(0, 0), (ChunkLayout{0, 0, 0, 0, false, false, true}));
  EXPECT_EQ(even.at(1, 0), (ChunkLayout{1, 0, 0, 14, true, false, false}));
  EXPECT_EQ(even.at(2, 0), (ChunkLayout{2, 0, 14, 14, false, true, false}));
  ParallelismSpec uneven = split(1, 4);  // three stages: 10, 9, 9
  uneven.first_stage_layers = 10;
  EXPECT_THAT(layers_of_chunks(model, uneven), ElementsAre(0, 10, 9, 9));
  uneven.first_stage_layers = 0;
  uneven.chunk_layers = {0, 9, 10, 9};
  EXPECT_EQ(StageLayout(model, uneven).layers(2), 10);
  // On the first stage it is beside the embedding.
  EXPECT_EQ(StageLayout(qwen2_5_vl_7b(), split(1, 2)).at(0, 0),
            (ChunkLayout{0, 0, 0, 14, true, false, true}));
  EXPECT_TRUE(ends_share_stage(model, split(1, 2)));
  EXPECT_FALSE(ends_share_stage(model, split(1, 3)));
}

TEST(OwnStage, IsRefusedByNameWhereItDoesNotGo) {
  const auto told = [](const ParallelismSpec& layout) {
    return text(layout_problem(on_own_stage(), layout));
  };
  EXPECT_THAT(told(split(1, 4)),
              HasSubstr("28 layers do not divide over 3 pipeline stages behind the encoder's; set "
                        "first_stage_layers and last_stage_layers to 9"));
  ParallelismSpec listed = split(1, 2);
  listed.chunk_layers = {1, 27};
  EXPECT_THAT(told(listed), HasSubstr("let chunk_layers begin with 0"));
  EXPECT_THAT(texts(encoder_problems(on_own_stage(), seeing(8), split(1, 1))),
              ElementsAre(HasSubstr("needs parallelism.pipeline of 2 or more")));
  for (const ScheduleKind schedule :
       {ScheduleKind::interleaved, ScheduleKind::zero_bubble_h1, ScheduleKind::zero_bubble_v}) {
    ParallelismSpec other = split(1, 4);
    other.schedule = schedule;
    other.virtual_stages = schedule == ScheduleKind::interleaved ? 2 : 1;
    EXPECT_THAT(texts(encoder_problems(on_own_stage(), seeing(8), other)),
                ElementsAre(HasSubstr("no framework says where its chunks would lie")));
  }
  EXPECT_TRUE(encoder_problems(on_own_stage(), seeing(8), split(4, 3)).empty());
}

// All of the model, each part once; the stages with layers as without an encoder.
TEST(OwnStage, HoldsTheEncoderAlone) {
  const ModelSpec model = on_own_stage();
  ModelSpec blind = model;
  blind.vision.reset();
  const StageLayout stages(model, split(2, 3));
  const StageLayout without(blind, split(2, 2));
  EXPECT_EQ(stage_parameters_per_rank(model, split(2, 3), stages, 0).total(),
            held_by_encoder(model, split(2, 3)).stored.total());
  EXPECT_EQ(held_by_stage(model, split(2, 3), stages, 0).trained.total(),
            held_by_encoder(model, split(2, 3)).trained.total());
  for (int stage = 0; stage < 2; ++stage) {
    EXPECT_EQ(stage_parameters_per_rank(model, split(2, 3), stages, stage + 1).total(),
              stage_parameters_per_rank(blind, split(2, 2), without, stage).total());
  }
  // One stage with layers has embedding and head: tied, they are one table.
  ModelSpec tied = model;
  tied.tied_embeddings = true;
  EXPECT_EQ(parameters_per_rank(model, split(1, 2), 1) - parameters_per_rank(tied, split(1, 2), 1),
            152064.0 * 3584);
}

// Image tokens of 4 x 1,024 on, and their gradients back, of 16 bits, a micro-batch; the other
// stages pass all 8,192.
TEST(OwnStage, SendsTokensOfImages) {
  ModelSpec model = on_own_stage();
  const double images = 4.0 * 1024 * 3584 * 2;
  const double all = 8192.0 * 3584 * 2;
  const auto graph = [&](int tensor) {
    TrainingSpec training = seeing(6);
    training.framework.scatter_gather_p2p = false;
    return build_step_graph(model, training, split(tensor, 3), 1, 6);
  };
  EXPECT_EQ(bytes_sent(graph(1), 0, 1), 6 * images);
  EXPECT_EQ(bytes_sent(graph(1), 1, 0), 6 * images);
  EXPECT_EQ(bytes_sent(graph(1), 1, 2), 6 * all);
  EXPECT_EQ(bytes_sent(graph(1), 2, 1), 6 * all);
  EXPECT_EQ(bytes_sent(graph(2), 0, 1), 6 * images);  // whole on each tensor rank
  EXPECT_EQ(bytes_sent(graph(2), 1, 2), 6 * all / 2);
  model.vision->projectors = 4;
  EXPECT_EQ(bytes_sent(graph(1), 0, 1), 4 * 6 * images);
  // As the schedule has it, whatever is trained.
  model.vision->trained = EncoderTraining::none;
  EXPECT_EQ(bytes_sent(graph(1), 1, 0), 4 * 6 * images);
}

TEST(OwnStage, SendsSharesWhereTensorRanksDivideMessages) {
  const TrainingSpec training = seeing(6);
  ASSERT_TRUE(training.framework.scatter_gather_p2p);
  const StepGraph graph = build_step_graph(on_own_stage(), training, split(2, 3), 1, 6);
  const double images = 4.0 * 1024 * 3584 * 2;
  EXPECT_EQ(bytes_sent(graph, 0, 1), 6 * images / 2);
  // Both receivers put them together.
  EXPECT_EQ(bytes_of(graph, "gather received"), 2 * 6 * images);
}

// The same work and the same kernels as on the first stage, on other GPUs.
TEST(OwnStage, DoesTheSameWork) {
  for (const EncoderTraining trained :
       {EncoderTraining::all, EncoderTraining::projector, EncoderTraining::none}) {
    for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
      ModelSpec own = on_own_stage();
      own.vision->trained = trained;
      ModelSpec first = own;
      first.vision->stage = EncoderStage::first;
      ParallelismSpec layout = split(2, 3);
      layout.sharding = sharding;
      const StepGraph graph = build_step_graph(own, seeing(8), layout, 2, 4);
      layout.pipeline = 2;
      const StepGraph beside = build_step_graph(first, seeing(8), layout, 2, 4);
      EXPECT_NEAR(matrix_work(graph) / matrix_work(beside), 1, 1e-12);
      for (const char* kernel : {"insert images", "take images", "patches", "embedding"}) {
        EXPECT_EQ(kernel_traffic(graph, kernel), kernel_traffic(beside, kernel)) << kernel;
      }
      EXPECT_GT(kernel_traffic(graph, "insert images"), 0);
      EXPECT_EQ(calls_of_encoder(graph, 0, CallKind::forward), 4 * 34);
      const int back = trained == EncoderTraining::all         ? 34
                       : trained == EncoderTraining::projector ? 1
                                                               : 0;
      EXPECT_EQ(calls_of_encoder(graph, 0, CallKind::backward), 4 * back);
      EXPECT_EQ(calls_of_encoder(graph, 1, CallKind::forward), 0);
      EXPECT_EQ(calls_of_encoder(graph, 2, CallKind::backward), 0);
      const auto gathered = [](const StepGraph& one) {
        return collective_bytes(one, Group::data_context, core::CollectiveKind::all_gather);
      };
      EXPECT_NEAR(gathered(graph) / gathered(beside), 1, 1e-12);
    }
  }
}

// Embedding and head exchange gradients of a tied table where they are on different stages.
TEST(OwnStage, LeavesATiedTableToTheStagesThatHoldIt) {
  ModelSpec model = on_own_stage();
  model.tied_embeddings = true;
  const auto reduced = [&](int pipeline) {
    return collective_bytes(build_step_graph(model, seeing(8), split(1, pipeline), 1, 8),
                            Group::embedding, core::CollectiveKind::all_reduce);
  };
  EXPECT_EQ(reduced(2), 0);
  EXPECT_GT(reduced(3), 0);
}

// 1F1B of three stages: the first has three micro-batches of its encoder, the second two of what
// came from it.
TEST(OwnStage, KeepsItsActivationsOfAsManyMicroBatchesAsStages) {
  const ModelSpec model = on_own_stage();
  ModelSpec blind = model;
  blind.vision.reset();
  TrainingSpec text = seeing(8);
  text.images.reset();
  const auto with = stage_memory(model, seeing(8), split(1, 3), 1, 8);
  const auto without = stage_memory(blind, text, split(1, 2), 1, 8);
  const double held = held_by_encoder(model, {}).stored.total();
  EXPECT_NEAR(with[0].weights.si() / (2 * held), 1, 1e-9);
  EXPECT_NEAR(with[0].optimizer.si() / (12 * held), 1, 1e-9);
  const EncoderMemory encoder = encoder_memory(model, seeing(8), {});
  EXPECT_NEAR(with[0].activations.si(), 3 * encoder.kept + encoder.backward, encoder.forward);
  EXPECT_GE(with[0].activations.si(), 3 * encoder.kept);
  EXPECT_EQ(with[0].logits, core::Bytes(0));
  const double images = 4.0 * 1024 * 3584 * 2;
  EXPECT_NEAR((with[1].activations - without[0].activations).si() / (2 * images), 1, 1e-6);
  EXPECT_EQ(with[1].weights, without[0].weights);
  EXPECT_EQ(with[2].activations, without[1].activations);
  // Messages: two each way, of images or of all tokens.
  EXPECT_EQ((with[1].buffers - with[0].buffers).si(), 4 * 2 * 3584.0 * (8192 - 4096));
}

}  // namespace
}  // namespace headway::workload

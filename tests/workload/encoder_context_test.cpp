// An encoder of images beside context ranks: what each encodes, gathers, embeds and holds.
#include <gmock/gmock.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/schedule/schedule.h"
#include "sim/workload/vision/encoder_memory.h"
#include "sim/workload/vision/encoder_problems.h"
#include "sim/workload/vision/image_places.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/seeing_models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using core::CollectiveKind;

/// Four images of 1,024 tokens a sequence of 8,192, of a language model 3,584 wide.
constexpr double kImages = 4.0 * 1024 * 3584;
constexpr double kStream = 8192.0 * 3584;

ModelSpec seeing_model(EncoderContext context, EncoderStage stage = EncoderStage::first) {
  ModelSpec model = qwen2_5_vl_7b();
  model.vision->context = context;
  model.vision->stage = stage;
  return model;
}

ParallelismSpec over(int context, int tensor = 1, int pipeline = 1) {
  ParallelismSpec layout = split(tensor, pipeline);
  layout.context = context;
  return layout;
}

/// Work of the kernels of the encoder's blocks in a step of one micro-batch, one rank.
double work_of_encoder(const ModelSpec& model, int context) {
  const StepGraph graph = build_step_graph(model, seeing(1), over(context), 1, 1);
  double work = 0;
  for (const Call& call : graph.stages[0].calls) {
    const Block& block = graph.blocks[static_cast<std::size_t>(call.block)];
    for (const Operation& operation : block.operations) {
      for (const core::Kernel& kernel : operation.kernels) {
        work += block.encoder ? call.repeat * kernel.work.si() : 0.0;
      }
    }
  }
  return work;
}

/// Bytes that one rank of stage `from` sends to stage `to`.
double stage_message(const StepGraph& graph, int from, int to) {
  double bytes = 0;
  for_each_operation(graph, [&](int stage, const Operation& operation, int times) {
    const bool meant =
        operation.kind == OperationKind::send && operation.group != Group::context && stage == from;
    bytes += meant && operation.peer_stage == to ? operation.bytes.si() * times : 0;
  });
  return bytes;
}

// Whole images: of four on three ranks one has two; of 4.5 in the mean half of the micro-batches
// have five, on two ranks two or three.
TEST(EncoderContext, DealsWholeImages) {
  const ModelSpec dealt = seeing_model(EncoderContext::split);
  const auto share = [&](double images, int context, int micro_batch) {
    TrainingSpec training = seeing(8);
    training.images->per_sequence = images;
    ParallelismSpec layout = over(context);
    layout.micro_batch = micro_batch;
    return share_of_images(dealt, training, layout);
  };
  EXPECT_EQ(share(4, 1, 1), 1);
  EXPECT_EQ(share(4, 2, 1), 0.5);
  EXPECT_EQ(share(4, 3, 1), 2.0 / 4);
  EXPECT_EQ(share(4, 8, 1), 1.0 / 4);
  EXPECT_EQ(share(4, 3, 2), 3.0 / 8);
  EXPECT_DOUBLE_EQ(share(4.5, 2, 1), (0.5 * 2 + 0.5 * 3) / 4.5);
  EXPECT_EQ(share(0.5, 4, 1), 1);
  EXPECT_EQ(share_of_images(seeing_model(EncoderContext::whole), seeing(8), over(4)), 1);
}

// The same on each rank, or its own images alone.
TEST(EncoderContext, ComputesAllImagesOrItsShare) {
  const double alone = work_of_encoder(seeing_model(EncoderContext::whole), 1);
  for (const int context : {2, 4, 8}) {
    EXPECT_EQ(work_of_encoder(seeing_model(EncoderContext::whole), context), alone);
    EXPECT_NEAR(work_of_encoder(seeing_model(EncoderContext::split), context) /
                    (alone / std::min(context, 4)),
                1, 1e-12);
  }
  EXPECT_EQ(work_of_encoder(seeing_model(EncoderContext::split), 1), alone);
}

// In 16 bits, of every projector and micro-batch: all tokens gathered forward, their gradients
// summed on all ranks backward, whether or not the encoder learns.
TEST(EncoderContext, GathersTokensAndSumsTheirGradients) {
  for (const EncoderTraining trained :
       {EncoderTraining::all, EncoderTraining::projector, EncoderTraining::none}) {
    ModelSpec model = seeing_model(EncoderContext::split);
    model.vision->trained = trained;
    model.vision->projectors = 3;
    const auto bytes = [&](CollectiveKind kind) {
      return collective_bytes(build_step_graph(model, seeing(4), over(2), 1, 4), Group::context,
                              kind);
    };
    EXPECT_EQ(bytes(CollectiveKind::all_gather), 4 * 3 * 2 * kImages);
    EXPECT_EQ(bytes(CollectiveKind::all_reduce), 4 * 3 * 2 * kImages);
    model.vision->context = EncoderContext::whole;
    EXPECT_EQ(bytes(CollectiveKind::all_gather), 0);
    EXPECT_EQ(bytes(CollectiveKind::all_reduce), 0);
  }
}

// An image may lie across two parts of a sequence: each rank embeds all of it. Of two context
// ranks each takes half of its tokens, and backward half of them have gradients.
TEST(EncoderContext, EmbedsWholeSequences) {
  const auto graph = [](const ModelSpec& model, const ParallelismSpec& layout) {
    TrainingSpec training = seeing(1);
    if (!model.vision) {
      training.images.reset();
    }
    return build_step_graph(model, training, layout, 1, 1);
  };
  ModelSpec blind = qwen2_5_vl_7b();
  blind.vision.reset();
  const auto rows = [&](const ModelSpec& model, int context) {
    return kernel_traffic(graph(model, over(context)), "embedding");
  };
  EXPECT_EQ(rows(blind, 2), rows(blind, 1) / 2);
  for (const EncoderContext context : {EncoderContext::whole, EncoderContext::split}) {
    const ModelSpec model = seeing_model(context);
    EXPECT_EQ(rows(model, 2), rows(model, 1));
    const StepGraph two = graph(model, over(2));
    EXPECT_EQ(kernel_traffic(two, "split sequence"), 2 * 2 * kStream / 2);
    EXPECT_EQ(kernel_traffic(two, "spread sequence"), 2 * (kStream / 2 + kStream));
    EXPECT_EQ(kernel_traffic(two, "insert images"), 2 * 2 * kImages);
    EXPECT_EQ(kernel_traffic(two, "take images"), 2 * 2 * kImages);
    EXPECT_EQ(kernel_traffic(graph(model, over(1)), "split sequence"), 0);
    // All of it is reduced over tensor ranks; without context ranks shares are scattered.
    const StepGraph tensor = graph(model, over(2, 2));
    EXPECT_EQ(bytes_of(tensor, "embedding reduce"), 2 * kStream);
    EXPECT_EQ(bytes_of(graph(blind, over(2, 2)), "embedding reduce"), 2 * kStream / 2);
  }
}

// From a stage in front each context rank's peer sends what it encoded; dealt images are gathered
// behind it.
TEST(EncoderContext, SendsWhatARankEncodedToTheNextStage) {
  for (const EncoderContext context : {EncoderContext::whole, EncoderContext::split}) {
    const ModelSpec model = seeing_model(context, EncoderStage::own);
    EXPECT_TRUE(encoder_problems(model, seeing(6), over(2, 1, 3)).empty());
    const StepGraph graph = build_step_graph(model, seeing(6), over(2, 1, 3), 1, 6);
    const double part = context == EncoderContext::split ? 0.5 : 1.0;
    EXPECT_EQ(stage_message(graph, 0, 1), 6 * 2 * kImages * part);
    EXPECT_EQ(stage_message(graph, 1, 0), 6 * 2 * kImages * part);
    EXPECT_EQ(stage_message(graph, 1, 2), 6 * 2 * kStream / 2);
    const double gathered = context == EncoderContext::split ? 6 * 2 * kImages : 0;
    EXPECT_EQ(bytes_of(graph, "gather images"), gathered);
    EXPECT_EQ(bytes_of(graph, "sum image gradients"), gathered);
    EXPECT_EQ(kernel_traffic(graph, "insert images"), 6 * 2 * 2 * kImages);
  }
}

TEST(EncoderContext, KeepsActivationsOfItsImages) {
  const auto kept = [](EncoderContext context, int ranks) {
    return encoder_memory(seeing_model(context), seeing(8), over(ranks)).kept;
  };
  const double alone = kept(EncoderContext::whole, 1);
  EXPECT_EQ(kept(EncoderContext::whole, 4), alone);
  EXPECT_NEAR(kept(EncoderContext::split, 2) / alone, 0.5, 1e-12);
  EXPECT_NEAR(kept(EncoderContext::split, 4) / alone, 0.25, 1e-12);
}

// Two arrays of whole sequences, and gathered images, while the embedding runs.
TEST(EncoderContext, HoldsWholeSequencesWhileItEmbeds) {
  const auto elements = [](EncoderContext context, int ranks) {
    return embedding_working_elements(seeing_model(context), seeing(8), over(ranks));
  };
  EXPECT_EQ(elements(EncoderContext::whole, 1), 0);
  EXPECT_EQ(elements(EncoderContext::whole, 4), 2 * kStream);
  EXPECT_EQ(elements(EncoderContext::split, 4), 2 * kStream + kImages);
  // Of a small model over many ranks that is the most that is alive.
  ModelSpec model = seeing_model(EncoderContext::whole);
  model.layers = 1;
  model.vision->layers = 1;
  model.vision->hidden = model.vision->ffn = 64;
  model.vision->heads = 1;
  model.vision->projector_ffn = 0;
  model.vision->trained = EncoderTraining::none;
  ModelSpec blind = model;
  blind.vision.reset();
  TrainingSpec text = seeing(8);
  text.images.reset();
  const auto activations = [](const ModelSpec& m, const TrainingSpec& training) {
    const auto schedule = pipeline_schedule(ScheduleKind::one_f_one_b, 1, 1, 8);
    return stage_activations(m, training, over(64), schedule)[0].at_layers.activations.si();
  };
  EXPECT_LT(activations(blind, text), 2 * 2 * kStream);
  EXPECT_GE(activations(model, seeing(8)), 2 * 2 * kStream);
  EXPECT_LT(activations(model, seeing(8)), 1.5 * 2 * 2 * kStream);
}

// States and gradients are sharded and averaged over context ranks as the rest's: each has seen
// gradients of its own tokens alone.
TEST(EncoderContext, IsReducedOverContextRanks) {
  const auto reduced = [](const ModelSpec& model, int context) {
    ParallelismSpec layout = over(context);
    layout.sharding = Sharding::zero1;
    TrainingSpec training = seeing(2);
    if (!model.vision) {
      training.images.reset();
    }
    const StepGraph graph = build_step_graph(model, training, layout, 1, 2);
    return collective_bytes(graph, Group::data_context, CollectiveKind::reduce_scatter) +
           collective_bytes(graph, Group::data_context, CollectiveKind::all_reduce);
  };
  const ModelSpec model = seeing_model(EncoderContext::whole);
  ModelSpec blind = model;
  blind.vision.reset();
  const double trained = held_by_encoder(model, {}).trained.total();
  EXPECT_NEAR(
      (reduced(model, 2) - reduced(blind, 2)) / (TrainingSpec{}.framework.reduce_bytes * trained),
      1, 1e-9);
}

}  // namespace
}  // namespace headway::workload

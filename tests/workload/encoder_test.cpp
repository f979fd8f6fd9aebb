// An encoder of images: parameters, floating-point operations, what ranks hold and send, memory.
#include "sim/workload/vision/encoder.h"

#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/vision/encoder_memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/parameters_per_rank.h"
#include "tests/workload/seeing_models.h"

namespace headway::workload {
namespace {

using namespace tests;

constexpr double kH = 1280, kF = 3420, kInner = 5120, kLanguage = 3584;
// Matrices of a layer: 4 h^2 and three of the MLP.
constexpr double kEncoderLayer = 4 * kH * kH + 3 * kH * kF;
constexpr double kPixels = 3 * 2 * 14 * 14;

// As the modules print themselves (modeling_qwen2_5_vl.py): Conv3d without bias, 32 blocks whose
// linear layers have biases, a merger of two. RMSNorms have no biases; here they do, 83,200
// parameters in all.
TEST(Encoder, HasThePublishedParameters) {
  const double block = kEncoderLayer + (3 * kH + kH + 2 * kF + kH) + 2 * kH;
  const double merger = kH + kInner * kInner + kInner + kInner * kLanguage + kLanguage;
  const double published = kPixels * kH + 32 * block + merger;
  EXPECT_EQ(published, 676'550'144);
  const ParameterCount count = count_parameters(qwen2_5_vl_7b());
  EXPECT_EQ(count.vision, published + (2 * 32 + 1) * kH);
  ModelSpec blind = qwen2_5_vl_7b();
  blind.vision.reset();
  EXPECT_EQ(count.total(), count_parameters(blind).total() + count.vision);
  // The model card says 8.29 billion; biases of queries, keys and values are left out.
  EXPECT_NEAR(count.total() / 8.292e9, 1, 1e-4);
}

// Qwen3-VL 8B: 27 layers of 1152, a table of 2304 positions, three more mergers.
TEST(Encoder, OfQwen3HasPositionsAndFurtherProjectors) {
  ModelSpec model = qwen2_5_vl_7b();
  model.hidden = 4096;
  VisionSpec& vision = *model.vision;
  vision = {27, 1152, 16, 4304, false, true, true, 16, 2, 2304, 0, 1, 2, false, 4608, 4};
  const double h = 1152;
  const double block = 4 * h * h + 2 * h * 4304 + (4 * h + 4304 + h) + 4 * h;
  const double merger = 4608.0 * 4608 + 4608 + 4608.0 * 4096 + 4096;
  // Norms of the three further mergers are 4,608 wide; here as wide as a patch.
  const double published =
      (3 * 2 * 256 + 1) * h + 2304 * h + 27 * block + 4 * merger + 2 * h + 3 * 2 * 4608;
  EXPECT_NEAR(count_parameters(model).vision / published, 1, 1e-4);
}

TEST(Encoder, IsDividedOverTensorRanksOrWholeOnEach) {
  ModelSpec model = qwen2_5_vl_7b();
  ParallelismSpec layout = split(4, 2);
  const double all = held_by_encoder(model, {}).stored.total();
  const double part = held_by_encoder(model, layout).stored.total();
  // Whole on each: the matrix of patches, norms, biases of rows.
  const double whole = kPixels * kH + 32 * (4 * kH + 2 * kH) + 2 * kH + kLanguage;
  EXPECT_EQ(part, (all - whole) / 4 + whole);
  EXPECT_EQ(averaged_parameters(model, layout), 0);
  model.vision->tensor = EncoderTensor::whole;
  EXPECT_EQ(held_by_encoder(model, layout).stored.total(), all);
  EXPECT_EQ(averaged_parameters(model, layout), all);
  // On the first stage alone.
  ModelSpec blind = model;
  blind.vision.reset();
  EXPECT_EQ(parameters_per_rank(model, layout, 0), parameters_per_rank(blind, layout, 0) + all);
  EXPECT_EQ(parameters_per_rank(model, layout, 1), parameters_per_rank(blind, layout, 1));
}

TEST(Encoder, IsTrainedAsAsked) {
  ModelSpec model = qwen2_5_vl_7b();
  const double total = count_parameters(model).total();
  EXPECT_EQ(trained_parameters(model), total);
  model.vision->trained = EncoderTraining::none;
  EXPECT_EQ(trained_parameters(model), total - count_parameters(model).vision);
  model.vision->trained = EncoderTraining::projector;
  const double projector = 2 * kH + kInner * kInner + kInner + kInner * kLanguage + kLanguage;
  EXPECT_EQ(trained_parameters(model), total - count_parameters(model).vision + projector);
  // The projector alone, below a language model that only passes gradients on.
  model.frozen = FrozenSpec{28, true, true};
  EXPECT_EQ(trained_parameters(model), projector);
  EXPECT_EQ(layer_kind(model, {}, 0).learning, Learning::passes);
  model.vision->trained = EncoderTraining::none;
  EXPECT_EQ(layer_kind(model, {}, 0).learning, Learning::still);
}

/// Work of the kernels of encoder blocks in one step of one micro-batch and GPU.
double encoder_work(const ModelSpec& model, const TrainingSpec& training, Recompute recompute) {
  ParallelismSpec layout;
  layout.recompute = recompute;
  const StepGraph graph = build_step_graph(model, training, layout, 1, 1);
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

// 2 FLOP a weight and patch, three times; attention of four layers over 4,096 patches, of the
// others over 64; its backward makes the scores again: 3.5 times its forward where the model counts
// 3.
TEST(Encoder, ComputesItsClosedForm) {
  const ModelSpec model = qwen2_5_vl_7b();
  const TrainingSpec training = seeing(1);
  const double patches = 4 * 4096, tokens = 4 * 1024;
  const double first = 2 * patches * kPixels * kH;
  const double layers = 2 * patches * 32 * kEncoderLayer;
  const double projector = 2 * tokens * kInner * (kInner + kLanguage);
  const double core = 4 * patches * kH * (4 * 4096.0 + 28 * 64.0);
  const EncoderFlops flops = encoder_flops_per_token(model, training, {});
  EXPECT_NEAR(flops.forward.si() * 8192 / (first + layers + projector), 1, 1e-12);
  EXPECT_NEAR(flops.core.si() * 8192 / core, 1, 1e-12);
  EXPECT_NEAR(flops.trained.si() * 8192 / (2 * first + 3 * (layers + projector + core)), 1, 1e-12);
  EXPECT_NEAR(encoder_work(model, training, Recompute::none) /
                  (2 * first + 3 * (layers + projector) + 3.5 * core),
              1, 1e-9);
  EXPECT_NEAR(encoder_work(model, training, Recompute::full) /
                  (2 * first + 4 * layers + 3 * projector + 4.5 * core),
              1, 1e-9);
  ModelSpec still = model;
  still.vision->trained = EncoderTraining::none;
  EXPECT_NEAR(encoder_work(still, training, Recompute::none) / (first + layers + projector + core),
              1, 1e-9);
  still.vision->trained = EncoderTraining::projector;
  const double inputs = 2 * tokens * kInner * kInner;  // no gradient of the projector's inputs
  EXPECT_NEAR(encoder_work(still, training, Recompute::full) /
                  (first + layers + core + 3 * projector - inputs),
              1, 1e-9);
  const auto of_step = [&](const ModelSpec& m) {
    return training_flops_per_token(m, training, {}).mfu.si();
  };
  ModelSpec blind = model;
  blind.vision.reset();
  EXPECT_NEAR((of_step(model) - of_step(blind)) / flops.trained.si(), 1, 1e-9);
}

// Images of several sizes: attention goes by their squares.
TEST(Encoder, OfImagesOfSeveralSizesAttendsWithinEach) {
  TrainingSpec training = seeing(1);
  training.images = ImagesSpec{2, 1, {{256, 3}, {1024, 1}}};
  EXPECT_EQ(image_tokens(*training.images), 2 * (3 * 256 + 1024) / 4.0);
  ModelSpec model = qwen2_5_vl_7b();
  model.vision->window = 0;
  const double keys = 4 * (3 * 256.0 * 256 + 1024.0 * 1024) / (3 * 256 + 1024);
  const double patches = 4 * 2 * (3 * 256 + 1024) / 4.0;
  EXPECT_NEAR(encoder_flops_per_token(model, training, {}).core.si() * 8192 /
                  (4 * patches * kH * 32 * keys),
              1, 1e-12);
}

// Column products reduce their inputs' gradients, row products their outputs, all whole (no
// sequence parallelism): two a layer and pass over patches, and of the projector over tokens.
TEST(Encoder, ReducesOverTensorRanks) {
  const TrainingSpec training = seeing(1);
  ModelSpec model = qwen2_5_vl_7b();
  ModelSpec blind = model;
  blind.vision.reset();
  const auto reduced = [&](const ModelSpec& m) {
    TrainingSpec own = training;
    if (!m.vision) {
      own.images.reset();
    }
    return collective_bytes(build_step_graph(m, own, split(4, 1), 1, 1), Group::tensor,
                            core::CollectiveKind::all_reduce);
  };
  const double patches = 4 * 4096, tokens = 4 * 1024;
  const double layers = 2.0 * 32 * 4 * patches * kH;
  const double projector = 2.0 * tokens * (kLanguage + kInner);
  EXPECT_NEAR((reduced(model) - reduced(blind)) / (layers + projector), 1, 1e-12);
  model.vision->tensor = EncoderTensor::whole;
  // Gradients of all of it, in fp32, once a step.
  EXPECT_NEAR((reduced(model) - reduced(blind)) / (4 * averaged_parameters(model, split(4, 1))), 1,
              1e-9);
}

// Every trained parameter is in one bucket, in the order in which backward meets the parts.
TEST(Encoder, IsReducedInBuckets) {
  ModelSpec model = qwen2_5_vl_7b();
  const TrainingSpec training = seeing(64);
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
    for (const EncoderTraining trained :
         {EncoderTraining::all, EncoderTraining::projector, EncoderTraining::none}) {
      ParallelismSpec layout = split(2, 2);
      layout.sharding = sharding;
      model.vision->trained = trained;
      const StageLayout stages(model, layout);
      RankParameters sum, learns;
      std::vector<EncoderRun> order;
      for (const Bucket& bucket : chunk_buckets(model, training, layout, stages.at(0, 0), 8)) {
        sum += bucket.parameters;
        learns += bucket.trained;
        for (auto run = bucket.encoder.rbegin(); run != bucket.encoder.rend(); ++run) {
          order.push_back(*run);
        }
      }
      EXPECT_EQ(sum.total(), stage_parameters_per_rank(model, layout, stages, 0).total());
      EXPECT_EQ(learns.total(), held_by_stage(model, layout, stages, 0).trained.total());
      EXPECT_EQ(order.front().part, EncoderPart::projector);
      EXPECT_EQ(order.back().part, EncoderPart::patches);
    }
  }
}

// Sharded weights are gathered for every forward, those of parts with a backward once more.
TEST(Encoder, IsGatheredWhereWeightsAreSharded) {
  ModelSpec model = qwen2_5_vl_7b();
  ModelSpec blind = model;
  blind.vision.reset();
  ParallelismSpec layout;
  layout.sharding = Sharding::zero3;
  const auto gathered = [&](const ModelSpec& m) {
    TrainingSpec own = seeing(4);
    if (!m.vision) {
      own.images.reset();
    }
    return collective_bytes(build_step_graph(m, own, layout, 2, 2), Group::data_context,
                            core::CollectiveKind::all_gather);
  };
  const double all = held_by_encoder(model, layout).stored.total();
  EXPECT_NEAR((gathered(model) - gathered(blind)) / (2 * 2 * 2 * all), 1, 1e-9);
  model.vision->trained = EncoderTraining::none;
  EXPECT_NEAR((gathered(model) - gathered(blind)) / (2 * 2 * all), 1, 1e-9);
}

TEST(Encoder, KeepsActivationsOfWhatIsTrained) {
  ModelSpec model = qwen2_5_vl_7b();
  const TrainingSpec training = seeing(8);
  const double patches = 4 * 4096, tokens = 4 * 1024;
  const double projector = 2 * (patches * kH + tokens * (kInner + 2 * kInner));
  // A layer: two norms' inputs and outputs; queries, keys, values, output and the statistics of 16
  // heads; gate, up and their product.
  const double layer = patches * (2 * (2 + 2) * kH + 2 * 4 * kH + 4 * 16 + 2 * 3 * kF);
  EXPECT_NEAR(
      encoder_memory(model, training, {}).kept / (32 * layer + projector + 2 * patches * kPixels),
      1, 1e-9);
  ParallelismSpec full;
  full.recompute = Recompute::full;
  EXPECT_NEAR(encoder_memory(model, training, full).kept /
                  (32 * 2 * patches * kH + projector + 2 * patches * kPixels),
              1, 1e-9);
  model.vision->trained = EncoderTraining::projector;
  EXPECT_EQ(encoder_memory(model, training, {}).kept, projector);
  model.vision->trained = EncoderTraining::none;
  EXPECT_EQ(encoder_memory(model, training, {}).kept, 0);
  EXPECT_NEAR(encoder_memory(model, training, {}).forward / layer, 1, 1e-9);
  // Further projectors, of layers in between, keep as much as the first.
  model.vision->trained = EncoderTraining::projector;
  model.vision->projectors = 4;
  EXPECT_EQ(encoder_memory(model, training, {}).kept, 4 * projector);
}

// Two stages: the first has two micro-batches of its encoder at once, and its states.
TEST(Encoder, LiesOnTheFirstStage) {
  const ModelSpec model = qwen2_5_vl_7b();
  ModelSpec blind = model;
  blind.vision.reset();
  TrainingSpec text = seeing(8);
  text.images.reset();
  const auto with = stage_memory(model, seeing(8), split(1, 2), 1, 8);
  const auto without = stage_memory(blind, text, split(1, 2), 1, 8);
  const double held = held_by_encoder(model, {}).stored.total();
  EXPECT_NEAR((with[0].weights - without[0].weights).si() / (2 * held), 1, 1e-9);
  EXPECT_NEAR((with[0].optimizer - without[0].optimizer).si() / (12 * held), 1, 1e-9);
  EXPECT_NEAR((with[0].activations - without[0].activations).si() /
                  (2 * encoder_memory(model, seeing(8), {}).kept),
              1, 0.02);
  EXPECT_EQ(with[1].weights, without[1].weights);
  EXPECT_EQ(with[1].activations, without[1].activations);
}

}  // namespace
}  // namespace headway::workload

// Models of which only a part is trained: low-rank adapters, frozen layers, weights in nf4.
#include <gtest/gtest.h>

#include "sim/workload/blocks/build.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/trained/adapter_blocks.h"
#include "sim/workload/trained/adapter_shape.h"
#include "sim/workload/trained/trained_layers.h"
#include "sim/workload/trained/trained_parameters.h"
#include "sim/workload/trained/trained_problems.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using Products = std::vector<AdaptedProduct>;
using P = AdaptedProduct;

constexpr double kS = 4096;  // tokens of a sequence

ModelSpec adapted(ModelSpec model, int rank, Products products = {}) {
  model.adapters = AdaptersSpec{rank, std::move(products), BaseWeights::full, false};
  return model;
}

ModelSpec few(int layers = 4) {
  ModelSpec model = llama_8b();
  model.layers = layers;
  return model;
}

ModelSpec frozen(int layers, FrozenSpec spec) {
  ModelSpec model = few(layers);
  model.frozen = spec;
  return model;
}

ModelSpec in_nf4(ModelSpec model) {
  model.adapters->base = BaseWeights::nf4;
  return model;
}

// Llama 8B, a layer: query and output 4096^2, key and value 4096 x 1024, three of 4096 x 14336.
constexpr double kLayer = 2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336;
constexpr double kNorms = 2 * 4096.0;
constexpr double kTable = 4096.0 * 128256;
// An adapter has r (inputs + outputs) weights: a layer's seven with r = 16.
constexpr double kAdapters = 16 * (2 * 8192.0 + 2 * 5120.0 + 3 * (4096.0 + 14336.0));

double step_work(const ModelSpec& model, int tensor, int batch) {
  return tensor *
         matrix_work(build_step_graph(model, recipe(int(kS), batch), split(tensor, 1), 1, batch));
}

// Attention of a layer and micro-batch: two products forward, five backward, of s^2 / 2 pairs of 32
// heads of 128, 2 FLOP an element.
constexpr double kForwardCore = 2 * 2 * kS * kS / 2 * 32 * 128;
constexpr double kCore = kForwardCore * 3.5;

TEST(Adapters, HaveThePublishedNumberOfParameters) {
  // Hu et al. 2021, table 4: GPT-3 with adapters of query and value, 4.7 M and 37.7 M.
  EXPECT_EQ(trained_parameters(adapted(gpt_175b(), 1, {P::query, P::value})), 4'718'592);
  EXPECT_EQ(trained_parameters(adapted(gpt_175b(), 8, {P::query, P::value})), 37'748'736);
  // "trainable params" that Hugging Face PEFT prints for Llama 2 7B and Llama 3.1 8B.
  ModelSpec llama_2 = llama("Llama 2 7B", 32, 4096, 32, 11008);
  llama_2.key_value_heads = 32;
  EXPECT_EQ(trained_parameters(adapted(llama_2, 8, {P::query, P::value})), 4'194'304);
  EXPECT_EQ(trained_parameters(adapted(llama_2, 16)), 39'976'960);
  EXPECT_EQ(trained_parameters(adapted(llama_8b(), 16)), 41'943'040);
  EXPECT_EQ(32 * kAdapters, 41'943'040);
  // Each of Mixtral's eight experts has three of its own.
  EXPECT_EQ(trained_parameters(adapted(mixtral_8x7b(), 8, {P::experts})),
            32 * 8 * 3 * 8 * (4096.0 + 14336));
  EXPECT_EQ(trained_parameters(llama_8b()), count_parameters(llama_8b()).total());
}

TEST(Adapters, AreDividedOverTensorRanks) {
  const ModelSpec model = adapted(llama_8b(), 16);
  LayerKind kind;
  kind.learning = Learning::adapters;
  EXPECT_EQ(8 * adapter_parameters_per_rank(model, split(8, 1), kind).shared, kAdapters);
  // 16 tensor ranks share eight heads of keys: each has a whole one, copies are twice as many.
  EXPECT_EQ(16 * adapter_parameters_per_rank(model, split(16, 1), kind).shared,
            kAdapters + 2 * 16 * 1024.0);
}

TEST(Adapters, WorkAsTheClosedFormSays) {
  // Base: forward and input gradient, 4 FLOP a weight; adapters 6 FLOP a weight; the embedding is
  // looked up and has no backward. The first layer's input gradient is made too.
  const double weights = 4 * (4 * kLayer + kTable) + 6 * 4 * kAdapters;
  const ModelSpec model = adapted(few(), 16);
  for (const int tensor : {1, 4, 8}) {
    EXPECT_NEAR(step_work(model, tensor, 2) / (2 * (weights * kS + 4 * kCore)), 1, 1e-12) << tensor;
  }
  const auto flops = training_flops_per_token(model, recipe(int(kS), 2), split(1, 1));
  EXPECT_NEAR(flops.mfu.si() / (weights + 4 * 3 * 2 * kForwardCore / kS), 1, 1e-12);
  EXPECT_NEAR(flops.mfu_causal.si() / (weights + 4 * 3 * kForwardCore / kS), 1, 1e-12);
  const auto other = training_flops_per_token(model, int(kS), Recompute::none);
  EXPECT_NEAR(other.mfu / flops.mfu, 1, 1e-12);
  EXPECT_NEAR(other.mfu_causal / flops.mfu_causal, 1, 1e-12);
}

TEST(Adapters, MoveTheBytesOfTheirAdditions) {
  // Outputs of a layer's products: 2 h + 2 g d + 2 f + h; inputs: 6 h + f. Three 16-bit arrays
  // each.
  const double outputs = 4096.0 + 2 * 1024 + 4096 + 2 * 14336 + 4096;
  const double inputs = 6 * 4096.0 + 14336;
  const double passes = 2 * 4 * kS;  // micro-batches, layers, tokens
  TrainingSpec training = recipe(int(kS), 2);
  ModelSpec model = adapted(few(), 16);
  model.adapters->dropout = true;
  const StepGraph graph = build_step_graph(model, training, split(1, 1), 1, 2);
  EXPECT_EQ(kernel_traffic(graph, "add adapter"), passes * 6 * outputs);
  EXPECT_EQ(kernel_traffic(graph, "add gradient"), passes * 6 * inputs);
  EXPECT_EQ(kernel_traffic(graph, "scale adapter"), 0);
  // Forward and backward: read, written, and a byte of mask.
  EXPECT_EQ(kernel_traffic(graph, "adapter dropout"), 2 * passes * 5 * inputs);
  training.framework.elementwise = Elementwise::eager;
  EXPECT_EQ(kernel_traffic(build_step_graph(model, training, split(1, 1), 1, 2), "scale adapter"),
            passes * 4 * outputs);
}

TEST(Adapters, OfExpertsMultiplyTheRowsOfEach) {
  ModelSpec model = mixtral_8x7b();
  model.layers = 2;
  const double before = step_work(adapted(model, 16, {P::query}), 1, 2);
  // Two experts a token; in and gate and out, 6 FLOP a weight.
  EXPECT_NEAR(step_work(adapted(model, 16, {P::query, P::experts}), 1, 2) - before,
              2 * kS * 2 * 6 * 2 * 3 * 16 * (4096.0 + 14336), 1e6);
  EXPECT_EQ(active_adapter_weights(adapted(model, 16, {P::experts}),
                                   layer_kind(adapted(model, 16), {}, 0)),
            2 * 3 * 16 * (4096.0 + 14336));
}

TEST(Adapters, TravelBetweenTensorRanksAsMegatronBridgeDoes) {
  const ModelSpec model = adapted(few(), 16);
  const StepGraph graph = build_step_graph(model, recipe(int(kS), 2), split(4, 1), 1, 2);
  const double token = 2 * 4 * 2 * kS;  // micro-batches, layers, bytes, tokens
  // A's outputs: five products by columns and two by rows; backward all seven.
  EXPECT_EQ(bytes_of(graph, "adapter gather"), token * 7 * 16);
  EXPECT_EQ(bytes_of(graph, "adapter reduce"), token * 7 * 16);
  // B's columns of output and down, and their gradients; two places' inputs once more.
  EXPECT_EQ(bytes_of(graph, "adapter output"), token * 2 * 4096);
  EXPECT_EQ(bytes_of(graph, "adapter gradient"), token * 2 * 4096);
  EXPECT_EQ(bytes_of(graph, "adapter re-gather"), token * 2 * 4096);
  // Base weights have no gradients, whose inputs would be gathered again.
  EXPECT_EQ(bytes_of(graph, "tensor re-gather"), 0);
  // Dropped copies are kept whole.
  ModelSpec dropped = model;
  dropped.adapters->dropout = true;
  EXPECT_EQ(bytes_of(build_step_graph(dropped, recipe(int(kS), 2), split(4, 1), 1, 2),
                     "adapter re-gather"),
            0);
  ParallelismSpec whole = split(4, 1);
  whole.sequence = false;
  const StepGraph other = build_step_graph(model, recipe(int(kS), 2), whole, 1, 2);
  EXPECT_EQ(bytes_of(other, "adapter re-gather") + bytes_of(other, "adapter gradient"), 0);
  EXPECT_EQ(bytes_of(other, "adapter output"), token * 2 * 4096);
}

TEST(Adapters, AloneHaveGradientsThatAreReduced) {
  ParallelismSpec parallelism = split(1, 1);
  const ModelSpec model = adapted(few(), 16);
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero3}) {
    parallelism.sharding = sharding;
    const StepGraph graph = build_step_graph(model, recipe(int(kS), 8), parallelism, 8, 1);
    EXPECT_EQ(bytes_of(graph, "gradient reduction"), 4 * 4 * kAdapters);
    EXPECT_EQ(bytes_of(graph, "parameter gather"),
              sharding == Sharding::zero0 ? 0
              : sharding == Sharding::zero1
                  ? 2 * 4 * kAdapters
                  // Forward all, backward the layers once more.
                  : 2 * (2 * 4 * (kLayer + kNorms + kAdapters) + 2 * kTable + 4096));
    const double shard = sharding == Sharding::zero0 ? 1 : 8;
    EXPECT_DOUBLE_EQ(kernel_traffic(graph, "optimizer"), 30 * 4 * kAdapters / shard);
  }
}

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

TEST(Adapters, KeepTheInputsOfTheirProductsAlone) {
  const TrainingSpec training = recipe(int(kS), 8);
  const auto kept = [&](const ModelSpec& model) {
    const ParallelismSpec parallelism = split(1, 1);
    return saved_per_layer(model, training, parallelism, last_layer_kind(model, parallelism)).si();
  };
  const double all = kept(few());
  // Everything, and seven outputs of A.
  EXPECT_EQ(kept(adapted(few(), 16)), all + 2 * kS * 7 * 16);
  // Of query and value: not the norm's output before the MLP, nor that of its activation.
  EXPECT_EQ(kept(adapted(few(), 16, {P::query, P::value})),
            all + 2 * kS * (2 * 16 - 4096.0 - 14336.0));
  EXPECT_EQ(kept(adapted(few(), 16, {P::down})), all + 2 * kS * (16 - 2 * 4096.0));
  // Dropped copies of every adapter's own, with a mask of a byte: 5 of 4096 more and one of 14336
  // in place of what three shared; the output's is of attention's output, which stays.
  ModelSpec dropped = adapted(few(), 16);
  dropped.adapters->dropout = true;
  EXPECT_EQ(kept(dropped),
            all + kS * (2 * 7 * 16 - 2 * (2 * 4096.0 + 14336.0) + 3 * (6 * 4096.0 + 14336.0)));
  // An expert's adapters keep the rows of their products.
  ModelSpec mixture = mixtral_8x7b();
  mixture.layers = 2;
  EXPECT_EQ(
      kept(adapted(mixture, 16, {P::query, P::experts})) - kept(adapted(mixture, 16, {P::query})),
      2 * 2 * kS * (3 * 16 + 4096.0 + 14336.0));
}

TEST(Adapters, ReadWhatNarrowProductsReadInSixteenBits) {
  TrainingSpec training = recipe(int(kS), 8);
  training.precision = core::Precision::fp8;
  const auto kept = [&](const ModelSpec& model) {
    const ParallelismSpec parallelism = split(1, 1);
    return saved_per_layer(model, training, parallelism, last_layer_kind(model, parallelism)).si();
  };
  // A byte more of three inputs and seven outputs of A; the projection's narrow copy is not kept.
  EXPECT_EQ(kept(adapted(few(), 16)) - kept(few()),
            kS * (2 * 4096.0 + 14336.0 + 2 * 7 * 16 - 4096.0));
}

TEST(Adapters, AreCountedAsPublishedModelFlops) {
  // Megatron-Bridge's performance summary: LoRA of Llama 3 70B on packed documents, 735 model
  // TFLOP/s at 2,643 tokens/s on H100, 2,086 at 7,481 on GB300: forward and input gradients alone.
  // Three times the forward would be half as much again.
  TrainingSpec training = recipe(4096, 32);
  training.documents = {{200, 1}};
  const auto flops = training_flops_per_token(
      adapted(llama_70b(), 16, {P::query, P::key, P::value}), training, split(1, 1));
  EXPECT_NEAR(flops.mfu.si() / (735e12 / 2643), 1, 0.01);
  EXPECT_NEAR(flops.mfu.si() / (2086e12 / 7481), 1, 0.01);
}

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

TEST(Nf4, TakesTheBitsOfThePaper) {
  // Dettmers et al. 2023: double quantization leaves 0.127 bits a parameter of scales.
  EXPECT_NEAR(8 * kNf4Bytes, 4.127, 5e-4);
  const ModelSpec model = in_nf4(adapted(few(), 16));
  const double wide = 4 * kNorms + 2 * kTable + 4096 + 4 * kAdapters;
  const StageStates states = stage_states(model, recipe(int(kS), 8), split(1, 1), 1).front();
  EXPECT_DOUBLE_EQ(states.weights.si(), 2 * wide + kNf4Bytes * 4 * kLayer);
  EXPECT_EQ(states.at_layers.si(), 2 * 4096.0 * 14336);
}

TEST(Nf4, IsMadeWideBeforeEachProduct) {
  // Forward and input gradient of two micro-batches.
  const ModelSpec model = in_nf4(adapted(few(), 16));
  const auto traffic = [&](const ParallelismSpec& parallelism) {
    return kernel_traffic(build_step_graph(model, recipe(int(kS), 2), parallelism, 1, 2),
                          "dequantise");
  };
  EXPECT_DOUBLE_EQ(traffic(split(1, 1)), 2 * 2 * 4 * kLayer * kDequantiseBytes);
  ParallelismSpec full = split(1, 1);
  full.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(traffic(full), 2 * 3 * 4 * kLayer * kDequantiseBytes);
  // FSDP sends it as it lies there.
  ParallelismSpec sharded = split(1, 1);
  sharded.sharding = Sharding::zero3;
  const StepGraph graph = build_step_graph(model, recipe(int(kS), 8), sharded, 8, 1);
  EXPECT_DOUBLE_EQ(
      bytes_of(graph, "parameter gather"),
      2 * 4 * (kNf4Bytes * kLayer + 2 * (kNorms + kAdapters)) + 2 * (2 * kTable + 4096));
}

TEST(Trained, InPartIsRefusedWhereItIsNotKnown) {
  TrainingSpec training = recipe(int(kS), 8);
  const auto said = [&](const ModelSpec& model, const ParallelismSpec& parallelism = {}) {
    return texts(trained_problems(model, training, parallelism));
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(said(llama_8b()), Texts{});
  EXPECT_EQ(said(adapted(llama_8b(), 16)), Texts{});
  EXPECT_EQ(said(frozen(4, {4, true, false})), Texts{});
  EXPECT_EQ(said(frozen(4, {4, true, true})),
            Texts{"nothing of model 'Llama 3.1 8B' is trained; leave some layers or the head out"});
  EXPECT_EQ(said(frozen(4, {5, true, false})),
            Texts{"5 frozen layers are more than the 4 of model 'Llama 3.1 8B'"});
  EXPECT_EQ(
      said(adapted(gpt_175b(), 16, {P::gate, P::experts, P::gate})),
      (Texts{"the MLP of model 'GPT-3 175B' has no gate", "model 'GPT-3 175B' has no experts",
             "the MLP of model 'GPT-3 175B' has no gate", "adapter product gate is named twice"}));
  EXPECT_EQ(
      said(adapted(llama_8b(), 4), split(8, 1)),
      Texts{"adapters of rank 4 do not divide over 8 tensor-parallel ranks, each of which has "
            "some of their columns"});
  EXPECT_EQ(said(in_nf4(adapted(llama_8b(), 16)), split(2, 1)),
            Texts{"weights in nf4 do not divide over 2 tensor-parallel ranks: no software does "
                  "that; choose tensor: 1 or base: full"});
  EXPECT_EQ(said(adapted(deepseek_v3(), 16)),
            (Texts{"adapters of model 'DeepSeek-V3' with latent attention are not simulated",
                   "prediction modules of a model that is trained in part are not simulated; write "
                   "multi_token_prediction: 0"}));
  ModelSpec tied = gpt_175b();
  tied.frozen = FrozenSpec{2, true, false};
  EXPECT_EQ(said(tied), Texts{"model 'GPT-3 175B' shares the weights of embedding and head: freeze "
                              "both or neither"});
  ModelSpec both = adapted(few(), 16);
  both.frozen = FrozenSpec{4, false, false};
  EXPECT_EQ(
      said(both),
      (Texts{"adapters leave the embedding as it is; an embedding that is trained beside them "
             "is not simulated",
             "no layer of model 'Llama 3.1 8B' is left to have adapters"}));
  ParallelismSpec moved;
  moved.offload = Offload::activations;
  moved.recompute_parts = {RecomputePart::norms, RecomputePart::operators};
  training.optimizer_state = OptimizerState::muon;
  EXPECT_EQ(said(adapted(llama_8b(), 16), moved),
            (Texts{"optimizer_state muon of a model that is trained in part is not simulated",
                   "offload with a model that is trained in part is not simulated; choose none",
                   "recompute part operators of a model that is trained in part is not simulated: "
                   "which products it leaves is known of whole layers"}));
}

}  // namespace
}  // namespace headway::workload

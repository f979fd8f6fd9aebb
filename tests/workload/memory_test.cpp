#include "sim/workload/memory/memory.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/rank_parameters.h"

#include "tests/workload/models.h"
#include "tests/workload/parameters_per_rank.h"

namespace headway::workload {
namespace {

using namespace tests;
using K = ScheduleKind;

TEST(SavedPerLayer, IsThatOfKorthikanti) {
  // Table 2 of Korthikanti et al. 2022, bytes a layer; s b h = 1 unit.
  const ModelSpec model = gpt_175b();
  const double s = 2048, b = 4, h = 12288, a = 96, t = 8;
  const double sbh = s * b * h;
  const TrainingSpec training = recipe_2021(2048, 64);
  const auto saved = [&](int tensor, bool sequence, Recompute recompute) {
    ParallelismSpec parallelism = split(tensor, 1);
    parallelism.micro_batch = 4;
    parallelism.sequence = sequence;
    parallelism.recompute = recompute;
    return saved_per_layer(model, training, parallelism).si();
  };
  EXPECT_DOUBLE_EQ(saved(1, false, Recompute::none), sbh * (34 + 5 * a * s / h));
  EXPECT_DOUBLE_EQ(saved(8, false, Recompute::none), sbh * (10 + 24 / t + 5 * a * s / (h * t)));
  EXPECT_DOUBLE_EQ(saved(8, true, Recompute::none), sbh / t * (34 + 5 * a * s / h));
  EXPECT_DOUBLE_EQ(saved(8, false, Recompute::selective), sbh * (10 + 24 / t));
  EXPECT_DOUBLE_EQ(saved(8, true, Recompute::selective), sbh / t * 34);
  EXPECT_DOUBLE_EQ(saved(8, false, Recompute::full), 2 * sbh);
}

TEST(SavedPerLayer, OfALlamaLayerIsItsTensors) {
  // Two norm inputs and two norm outputs (8 s b h), queries and output (4), keys and values, gate
  // and up (4f), product (2f).
  const ModelSpec model = llama_8b();
  const double tokens = 8192;
  const double expected = tokens * (8.0 * 4096 + 4.0 * 4096 + 4.0 * 1024 + 6.0 * 14336 + 4.0 * 32);
  EXPECT_DOUBLE_EQ(saved_per_layer(model, recipe(8192, 8), split(1, 1)).si(), expected);
  EXPECT_DOUBLE_EQ(saved_per_layer(model, recipe(8192, 8), split(8, 1)).si(), expected / 8);
}

TEST(SavedPerLayer, KeepsNarrowWhatOnlyBackwardNeeds) {
  // fp8: gate and up 2f in one byte an element for two, and attention's output in 12 bits for 16
  // and a copy of 8. In bf16 nothing changes.
  TrainingSpec training = recipe(8192, 8);
  const double wide = saved_per_layer(llama_8b(), training, split(1, 1)).si();
  training.framework.narrow_activations = true;
  EXPECT_DOUBLE_EQ(saved_per_layer(llama_8b(), training, split(1, 1)).si(), wide);
  training.precision = core::Precision::fp8;
  const double narrow = saved_per_layer(llama_8b(), training, split(1, 1)).si();
  training.framework.narrow_activations = false;
  const double two_copies = saved_per_layer(llama_8b(), training, split(1, 1)).si();
  EXPECT_DOUBLE_EQ(two_copies - narrow, 8192 * (2.0 * 14336 + 1.5 * 4096));
}

TEST(SavedPerLayer, DropsWhatIsCheapToMakeAgain) {
  // Norm outputs (4 s b h) and the MLP's product (2 s b f) are recomputed: 4h + 4h + 4 x 1024 + 4f
  // are left.
  TrainingSpec training = recipe(8192, 8);
  training.framework.recompute_elementwise = true;
  const double expected = 8192 * (4.0 * 4096 + 4.0 * 4096 + 4.0 * 1024 + 4.0 * 14336 + 4.0 * 32);
  EXPECT_DOUBLE_EQ(saved_per_layer(llama_8b(), training, split(1, 1)).si(), expected);
  // With full recompute only the layer's input is kept, and the layer at work needs the same in
  // all.
  ParallelismSpec full = split(1, 1);
  full.recompute = Recompute::full;
  EXPECT_EQ(saved_per_layer(llama_8b(), training, full),
            saved_per_layer(llama_8b(), recipe(8192, 8), full));
  EXPECT_EQ(backward_working_set(llama_8b(), training, full),
            backward_working_set(llama_8b(), recipe(8192, 8), full));
}

/// Bytes at their largest.
struct Peak {
  double gpu = 0, host = 0;
};

/// Activations that are copied: one of each direction at a time.
class Copies {
 public:
  /// @param live  on the GPU; changed
  void run(const Block& block, double& live, Peak& peak) {
    for (const Operation& o : block.operations) {
      const bool out = block.name == "offload activations";
      double& moving = out ? leaving_ : arriving_;
      if (!o.await.empty()) {  // whole on the other side: the copy on this one goes
        (out ? live : host_) -= moving;
        moving = 0;
      }
      if (o.kind == OperationKind::copy) {
        EXPECT_EQ(moving, 0);
        moving = o.bytes.si();
        (out ? host_ : live) += moving;
      }
      peak.host = std::max(peak.host, host_);
    }
  }
  [[nodiscard]] double left() const { return host_ + leaving_ + arriving_; }

 private:
  double host_ = 0, leaving_ = 0, arriving_ = 0;
};

/// The peaks of activations and logits by walking the calls of the step graph one by one.
Peak brute_force(const ModelSpec& model,
                 const TrainingSpec& training,
                 const ParallelismSpec& parallelism,
                 int micro_batches,
                 int stage);

double brute_force_peak(const ModelSpec& model,
                        const TrainingSpec& training,
                        const ParallelismSpec& parallelism,
                        int micro_batches,
                        int stage) {
  return brute_force(model, training, parallelism, micro_batches, stage).gpu;
}

Peak brute_force(const ModelSpec& model,
                 const TrainingSpec& training,
                 const ParallelismSpec& parallelism,
                 int micro_batches,
                 int stage) {
  const StepGraph graph = build_step_graph(model, training, parallelism, 2, micro_batches);
  std::map<std::string, LayerKind> kinds;
  for (const LayerRun& run : layer_runs(model, parallelism, 0, model.layers)) {
    kinds[kind_name(run.kind)] = run.kind;
  }
  const auto saved = [&](const std::string& name) {
    return saved_per_layer(model, training, parallelism, kinds.at(name)).si();
  };
  const auto working = [&](const std::string& name) {
    return backward_working_set(model, training, parallelism, kinds.at(name)).si();
  };
  const double logits = logits_bytes(model, training, parallelism).si();
  const double tokens =
      static_cast<double>(parallelism.micro_batch) * training.sequence_length / parallelism.context;
  const int shards = parallelism.sequence ? parallelism.tensor : 1;
  const double stream = tokens * model.hidden / shards;
  const double logit_gradient = 2.0 * tokens * model.vocabulary / parallelism.tensor;
  const double mask = model.biases ? stream : 0.0;  // dropout of the embedding
  double live = 0;
  Peak peak;
  Copies copies;
  const auto see = [&](double extra) { peak.gpu = std::max(peak.gpu, live + extra); };
  for (const Call& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
    const std::string& name = graph.blocks[static_cast<std::size_t>(call.block)].name;
    for (int i = 0; i < call.repeat; ++i) {
      const std::string kind = name.substr(0, name.rfind(' '));
      if (name.ends_with("layer forward")) {
        live += saved(kind);
      } else if (name == "embedding forward") {
        live += mask;
      } else if (name == "prediction forward") {
        live += 2 * 4.0 * stream;  // two norm inputs, and both parts of the matrix's input
      } else if (name == "prediction backward") {
        live -= 2 * 4.0 * stream;
      } else if (name == "head forward") {
        live += logits + 4.0 * stream;
      } else if (name == "head backward") {
        see(logit_gradient);
        live -= logits + 4.0 * stream;
      } else if (name.ends_with("layer backward")) {
        see(working(kind));
        live -= saved(kind);
      } else if (name.ends_with("layer input gradient")) {
        see(working(name.substr(0, name.rfind(" input"))));
      } else if (name.ends_with("layer weight gradient")) {
        live -= saved(name.substr(0, name.rfind(" weight")));
      } else if (name.ends_with("load activations")) {
        copies.run(graph.blocks[static_cast<std::size_t>(call.block)], live, peak);
      } else if (name == "embedding backward") {
        live -= mask;
      }
      see(0);
    }
  }
  EXPECT_NEAR(live, 0, 1);
  EXPECT_NEAR(copies.left(), 0, 1);
  return peak;
}

/// Activations and logits of four stages are what the interpreter finds, 16 micro-batches.
void expect_interpreted(const ModelSpec& model,
                        const TrainingSpec& training,
                        const ParallelismSpec& parallelism) {
  const auto stages = stage_memory(model, training, parallelism, 2, 16);
  for (int stage = 0; stage < 4; ++stage) {
    const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
    const double counted = (memory.activations + memory.logits).si();
    EXPECT_NEAR(counted / brute_force_peak(model, training, parallelism, 16, stage), 1, 1e-12)
        << "stage " << stage;
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraph) {
  for (const auto recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const int v : {1, 2}) {
      for (const bool old : {false, true}) {
        const ModelSpec model = old ? gpt_175b() : llama_70b();
        const TrainingSpec training = old ? recipe_2021(2048, 32) : recipe(4096, 32);
        ParallelismSpec parallelism = split(8, 4);
        parallelism.virtual_stages = v;
        parallelism.recompute = recompute;
        expect_interpreted(model, training, parallelism);
      }
    }
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphOfTwoDirections) {
  for (const K kind : {K::dual_pipe, K::dual_pipe_v}) {
    for (const bool experts : {false, true}) {
      ModelSpec model = experts ? mixtral_8x7b() : llama_70b();
      ParallelismSpec parallelism = split(2, 4);
      parallelism.schedule = kind;
      parallelism.expert = experts ? 2 : 1;
      const TrainingSpec training = recipe(4096, 32);
      SCOPED_TRACE(core::to_word(kind));
      expect_interpreted(model, training, parallelism);
    }
  }
}

// FIELD notes A: p + 1 activations and twice the parameters. Weights and gradients of a stage are
// those of 1F1B's stages i and p-1-i together; the optimizer, divided over twice the ranks, is
// their mean.
TEST(StageMemory, OfTwoDirectionsHoldsTheWeightsTwiceAndTheOptimizerOnce) {
  const ModelSpec model = llama_70b();
  const TrainingSpec training = recipe(4096, 32);
  ParallelismSpec parallelism = split(8, 4);
  const auto once = stage_memory(model, training, parallelism, 2, 16);
  parallelism.schedule = K::dual_pipe;
  const auto twice = stage_memory(model, training, parallelism, 2, 16);
  const double layer = saved_per_layer(model, training, parallelism).si();
  for (std::size_t i = 0; i < 4; ++i) {
    const StageMemory& own = once[i];
    const StageMemory& mirror = once[3 - i];
    EXPECT_DOUBLE_EQ(twice[i].weights.si(), (own.weights + mirror.weights).si());
    EXPECT_DOUBLE_EQ(twice[i].gradients.si(), (own.gradients + mirror.gradients).si());
    EXPECT_DOUBLE_EQ(twice[i].optimizer.si(), 0.5 * (own.optimizer + mirror.optimizer).si());
    // Five micro-batches of 20 layers, and what one layer's backward needs beside them.
    const double kept = twice[i].activations.si() / layer;
    EXPECT_GT(kept, 5 * 20);
    EXPECT_LT(kept, 5 * 20 + 4);
  }
}

// The same layers on as many ranks: four stages with both directions, and two folded into a V with
// twice the replicas.
TEST(StageMemory, OfDualPipeIsThatOfDualPipeVOnHalfTheStages) {
  const ModelSpec model = llama_70b();
  const TrainingSpec training = recipe(4096, 32);
  ParallelismSpec parallelism = split(8, 4);
  parallelism.schedule = K::dual_pipe;
  const auto both_ways = stage_memory(model, training, parallelism, 2, 16);
  parallelism.pipeline = 2;
  parallelism.schedule = K::dual_pipe_v;
  const auto folded = stage_memory(model, training, parallelism, 4, 8);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(both_ways[i], folded[i]);
    EXPECT_EQ(both_ways[3 - i], folded[i]);
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphWithExperts) {
  for (const auto recompute : {Recompute::none, Recompute::full}) {
    for (const int period : {1, 2}) {
      ModelSpec model = mixtral_8x7b();
      model.moe->leading_dense_layers = 2;
      model.moe->period = period;
      model.moe->shared_experts = 1;
      ParallelismSpec parallelism = split(2, 4);
      parallelism.virtual_stages = 2;
      parallelism.expert = 4;
      parallelism.recompute = recompute;
      const TrainingSpec training = recipe(4096, 32);
      expect_interpreted(model, training, parallelism);
    }
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphForLatentAttentionWindowsAndPrediction) {
  using P = RecomputePart;
  for (const auto& parts : {std::vector<P>{}, std::vector<P>{P::latent_up, P::mlp},
                            std::vector<P>{P::experts, P::norms}}) {
    ModelSpec model = deepseek_v3();
    model.layers = 60;
    model.window = 1024;
    model.window_period = 3;
    ParallelismSpec parallelism = split(2, 4);
    parallelism.chunk_layers = {16, 16, 16, 12};
    parallelism.expert = 4;
    parallelism.recompute = Recompute::selective;
    parallelism.recompute_parts = parts;
    parallelism.recompute_period = 2;
    const TrainingSpec training = recipe(4096, 32);
    const auto stages = stage_memory(model, training, parallelism, 2, 8);
    for (int stage = 0; stage < 4; ++stage) {
      const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
      const double counted = (memory.activations + memory.logits).si();
      EXPECT_NEAR(counted / brute_force_peak(model, training, parallelism, 8, stage), 1, 1e-12)
          << "stage " << stage;
    }
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphWithOffloadedActivations) {
  for (const auto recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (const int v : {1, 2}) {
      for (const int layers : {0, 1, 3}) {
        ModelSpec model = mixtral_8x7b();
        model.moe->leading_dense_layers = 2;
        model.moe->period = 2;
        model.multi_token_prediction = 1;
        ParallelismSpec parallelism = split(2, 4);
        parallelism.virtual_stages = v;
        parallelism.expert = 4;
        parallelism.recompute = recompute;
        parallelism.recompute_period = recompute == Recompute::none ? 1 : 2;
        parallelism.offload = Offload::activations;
        if (layers > 0) {
          parallelism.offload_layers = layers;
        }
        const TrainingSpec training = recipe(4096, 32);
        const auto stages = stage_memory(model, training, parallelism, 2, 16);
        for (int stage = 0; stage < 4; ++stage) {
          const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
          const Peak peak = brute_force(model, training, parallelism, 16, stage);
          EXPECT_NEAR((memory.activations + memory.logits).si() / peak.gpu, 1, 1e-12)
              << "stage " << stage;
          EXPECT_NEAR(memory.host.si() / peak.host, 1, 1e-12) << "stage " << stage;
        }
      }
    }
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphWithOffloadAndHalvesOfBackward) {
  for (const auto schedule : {ScheduleKind::zero_bubble_h1, ScheduleKind::zero_bubble_h2,
                              ScheduleKind::zero_bubble_v, ScheduleKind::dual_pipe_v}) {
    ParallelismSpec parallelism = split(8, 4);
    parallelism.schedule = schedule;
    parallelism.offload = Offload::activations;
    const ModelSpec model = llama_70b();
    const TrainingSpec training = recipe(4096, 32);
    const auto stages = stage_memory(model, training, parallelism, 2, 16);
    for (int stage = 0; stage < 4; ++stage) {
      const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
      const Peak peak = brute_force(model, training, parallelism, 16, stage);
      EXPECT_NEAR((memory.activations + memory.logits).si() / peak.gpu, 1, 1e-12)
          << "stage " << stage;
      EXPECT_NEAR(memory.host.si() / peak.host, 1, 1e-12) << "stage " << stage;
    }
  }
}

TEST(SavedPerLayer, OfLatentAttentionIsItsTensors) {
  // DeepSeek-V3's dense layers, bytes a token: norm inputs and outputs 8h, compressed forms before
  // and after their norms 4 (1536 + 512), shared keys 2 x 64, queries and keys 2 a 192 each, values
  // and output 2 a 128 each, statistics 4a, MLP 6f.
  const ModelSpec model = deepseek_v3();
  const double attention = 4.0 * 2048 + 2.0 * 64 + 128 * (4.0 * 192 + 4.0 * 128 + 4);
  const double expected = 4096 * (8.0 * 7168 + attention + 6.0 * 18432);
  ParallelismSpec parallelism = split(1, 1);
  EXPECT_DOUBLE_EQ(saved_per_layer(model, recipe(4096, 8), parallelism).si(), expected);
  // Expanding again drops queries, keys and values.
  parallelism.recompute = Recompute::selective;
  parallelism.recompute_parts = {RecomputePart::latent_up};
  EXPECT_DOUBLE_EQ(saved_per_layer(model, recipe(4096, 8), parallelism).si(),
                   expected - 4096 * 128 * 2.0 * (192 + 192 + 128));
}

TEST(SavedPerLayer, OfAMixtureIsItsTensors) {
  // Attention as a dense layer of these sizes; then, bytes a token: norm output 2h, arrived tokens
  // 2 k h, first products 4 k f, activation 2 k f, router's probabilities and map 5 E.
  const ModelSpec model = mixtral_8x7b();
  const double tokens = 4096;
  ParallelismSpec parallelism = split(1, 1);
  parallelism.expert = 8;
  const double attention = 4.0 * 4096 + 2.0 * 4096 + 4.0 * 4096 + 4.0 * 1024 + 4.0 * 32;
  const double mixture = 2.0 * 4096 + 2 * (2.0 * 4096 + 6.0 * 14336) + 5.0 * 8;
  EXPECT_DOUBLE_EQ(saved_per_layer(model, recipe(4096, 8), parallelism, {true}).si(),
                   tokens * (attention + mixture));
}

TEST(StageMemory, CountsExpertStatesOverTheirOwnRanks) {
  // 6 + 12/D bytes a shared parameter, D = 16; 6 + 12/4 a parameter of the experts of 4-fold
  // expert parallelism.
  const ModelSpec model = mixtral_8x7b();
  ParallelismSpec parallelism = split(1, 1);
  parallelism.expert = 4;
  const RankParameters held =
      stage_parameters_per_rank(model, parallelism, StageLayout(model, parallelism), 0);
  const StageMemory memory = stage_memory(model, recipe(4096, 64), parallelism, 16, 4).front();
  EXPECT_NEAR((memory.weights + memory.gradients + memory.optimizer).si(),
              held.shared * (6 + 12.0 / 16) + held.experts * (6 + 12.0 / 4), 1);
}

TEST(StageMemory, DividesExpertStatesOverTheRanksOfOneCopy) {
  // HSDP: 16 bytes of weights, gradients and optimizer a parameter, over 8 ranks of a copy for the
  // shared ones and over 2 x 8 / 4 = 4 for the experts. Beside them two gathered buckets of 2 bytes
  // and two in reduction of 4, of the largest.
  const ModelSpec model = mixtral_8x7b();
  ParallelismSpec parallelism = split(2, 1);
  parallelism.expert = 4;
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 8;
  const StageLayout layout(model, parallelism);
  const RankParameters held = stage_parameters_per_rank(model, parallelism, layout, 0);
  const RankParameters layer = layer_parameters_per_rank(model, parallelism, {true});
  const StageMemory memory = stage_memory(model, recipe(4096, 64), parallelism, 16, 4).front();
  EXPECT_NEAR((memory.weights + memory.gradients + memory.optimizer).si(),
              held.shared * 16.0 / 8 + held.experts * 16.0 / 4, 1);
  EXPECT_NEAR(memory.buffers.si(), (2 * 2 + 2 * 4) * layer.total(), 1);
  // What the copies hold together is the model's state once a copy: 2 copies, 2 tensor ranks with
  // the replicated parts whole.
  const double copy = 8 * 2 * (memory.weights + memory.gradients + memory.optimizer).si() / 16;
  const double replicated = replicated_parameters(model, {true}) * 32 + 4096;
  EXPECT_NEAR(copy, count_parameters(model).total() + replicated, 8);
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphWithContextParallelism) {
  for (const auto kind : {ContextKind::ring, ContextKind::all_gather, ContextKind::all_to_all}) {
    for (const int v : {1, 2}) {
      const ModelSpec model = llama_70b();
      const TrainingSpec training = recipe(32768, 32);
      ParallelismSpec parallelism = split(4, 4);
      parallelism.context = 4;
      parallelism.context_kind = kind;
      parallelism.virtual_stages = v;
      SCOPED_TRACE(core::to_word(kind));
      expect_interpreted(model, training, parallelism);
    }
  }
}

TEST(StageMemory, EqualsAnInterpreterOfTheStepGraphWithWindowsAndDocumentsOverARing) {
  for (const bool chunked : {false, true}) {
    ModelSpec model = llama_70b();
    model.window = 2048;
    model.window_period = 4;
    model.chunked_window = chunked;
    TrainingSpec training = recipe(32768, 32);
    training.documents = {{1024, 4}, {16384, 1}};
    ParallelismSpec parallelism = split(4, 4);
    parallelism.context = 4;
    expect_interpreted(model, training, parallelism);
    // What a rank keeps does not depend on the mask: tokens, their keys and values.
    EXPECT_EQ(saved_per_layer(model, training, parallelism, {false, true}),
              saved_per_layer(llama_70b(), recipe(32768, 32), parallelism));
  }
}

TEST(StageMemory, OfTheFirstStageHoldsInFlightTimesLayers) {
  // 1f1b: stage i keeps min(m, p - i) micro-batches of L/p layers, plus the working set of one.
  const ModelSpec model = llama_70b();
  const TrainingSpec training = recipe(4096, 32);
  const ParallelismSpec parallelism = split(8, 4);
  const auto stages = stage_memory(model, training, parallelism, 2, 16);
  const double layer = saved_per_layer(model, training, parallelism).si();
  const double working = backward_working_set(model, training, parallelism).si();
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_DOUBLE_EQ(stages[static_cast<std::size_t>(stage)].activations.si(),
                     (4 - stage) * 20 * layer + working);
  }
}

TEST(StageMemory, CountsStatesAsMegatronDoes) {
  // 6 + 12/D bytes a parameter with the distributed optimizer, 18 without.
  const ModelSpec model = llama_8b();
  ParallelismSpec parallelism = split(1, 1);
  const double parameters = parameters_per_rank(model, parallelism, 0);
  const auto states = [&](int data) {
    const StageMemory memory = stage_memory(model, recipe(8192, 64), parallelism, data, 8).front();
    return (memory.weights + memory.gradients + memory.optimizer).si() / parameters;
  };
  EXPECT_DOUBLE_EQ(states(8), 6 + 12.0 / 8);
  parallelism.sharding = Sharding::zero0;
  EXPECT_DOUBLE_EQ(states(8), 18);
  // With fp32 gradients ZeRO-2 has 2 + 16/D, ZeRO-3 16/D and what it gathers.
  parallelism.sharding = Sharding::zero2;
  EXPECT_DOUBLE_EQ(states(8), 2 + 16.0 / 8);
  parallelism.sharding = Sharding::zero3;
  EXPECT_DOUBLE_EQ(states(8), 16.0 / 8);
  parallelism.sharding = Sharding::hsdp;
  parallelism.shard_group_size = 4;
  EXPECT_DOUBLE_EQ(states(8), 16.0 / 4);
}

// Peaks of a step with thousands of micro-batches are those of one with few: of every schedule, for
// every number that is left over.
TEST(StageMemory, HasTheSamePeaksInAnyLaterRound) {
  const ModelSpec model = gpt_175b();
  const TrainingSpec training = recipe_2021(2048, 64);
  for (const K schedule : {K::gpipe, K::one_f_one_b, K::interleaved, K::zero_bubble_h1,
                           K::zero_bubble_h2, K::zero_bubble_v, K::dual_pipe, K::dual_pipe_v}) {
    for (const int stages : {2, 4, 8}) {
      ParallelismSpec p = split(8, stages);
      p.schedule = schedule;
      p.virtual_stages = schedule == K::interleaved ? 3 : 1;
      for (int micro_batches = 2 * stages; micro_batches < 11 * stages; micro_batches += 2) {
        const int few = peak_micro_batches(schedule, stages, micro_batches);
        EXPECT_LE(few, micro_batches);
        const auto peaks = [&](int count) {
          return stage_activations(model, training, p,
                                   pipeline_schedule(schedule, stages, p.virtual_stages, count));
        };
        const auto all = peaks(micro_batches), short_step = peaks(few);
        for (std::size_t stage = 0; stage < all.size(); ++stage) {
          const auto same = [&](LiveActivations StageActivations::*moment) {
            const double whole = (all[stage].*moment).total().si();
            EXPECT_NEAR((short_step[stage].*moment).total().si(), whole, 1e-12 * whole)
                << core::to_word(schedule) << " " << stages << " " << micro_batches;
          };
          same(&StageActivations::at_head);
          same(&StageActivations::at_layers);
        }
      }
    }
  }
}

}  // namespace
}  // namespace headway::workload

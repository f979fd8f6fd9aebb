#include "sim/workload/memory.h"

#include <gtest/gtest.h>
#include <string>

#include "sim/workload/build.h"
#include "sim/workload/closed_form.h"

#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

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

/// The peak of activations and logits by walking the calls of the step graph one by one.
double brute_force_peak(const ModelSpec& model,
                        const TrainingSpec& training,
                        const ParallelismSpec& parallelism,
                        int micro_batches,
                        int stage) {
  const StepGraph graph = build_step_graph(model, training, parallelism, 2, micro_batches);
  const double layer = saved_per_layer(model, training, parallelism).si();
  const double working = backward_working_set(model, training, parallelism).si();
  const double logits = logits_bytes(model, training, parallelism).si();
  const double tokens =
      static_cast<double>(parallelism.micro_batch) * training.sequence_length / parallelism.context;
  const int shards = parallelism.sequence ? parallelism.tensor : 1;
  const double stream = tokens * model.hidden / shards;
  const double logit_gradient = 2.0 * tokens * model.vocabulary / parallelism.tensor;
  const double mask = model.biases ? stream : 0.0;  // dropout of the embedding
  double live = 0, peak = 0;
  const auto see = [&](double extra) { peak = std::max(peak, live + extra); };
  for (const Call& call : graph.stages[static_cast<std::size_t>(stage)].calls) {
    const std::string& name = graph.blocks[static_cast<std::size_t>(call.block)].name;
    for (int i = 0; i < call.repeat; ++i) {
      if (name == "layer forward") {
        live += layer;
      } else if (name == "embedding forward") {
        live += mask;
      } else if (name == "head forward") {
        live += logits + 4.0 * stream;
      } else if (name == "head backward") {
        see(logit_gradient);
        live -= logits + 4.0 * stream;
      } else if (name == "layer backward") {
        see(working);
        live -= layer;
      } else if (name == "embedding backward") {
        live -= mask;
      }
      see(0);
    }
  }
  EXPECT_NEAR(live, 0, 1);
  return peak;
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
        const auto stages = stage_memory(model, training, parallelism, 2, 16);
        for (int stage = 0; stage < 4; ++stage) {
          const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
          const double counted = (memory.activations + memory.logits).si();
          EXPECT_NEAR(counted / brute_force_peak(model, training, parallelism, 16, stage), 1, 1e-12)
              << "stage " << stage;
        }
      }
    }
  }
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
      const auto stages = stage_memory(model, training, parallelism, 2, 16);
      for (int stage = 0; stage < 4; ++stage) {
        const StageMemory& memory = stages[static_cast<std::size_t>(stage)];
        const double counted = (memory.activations + memory.logits).si();
        EXPECT_NEAR(counted / brute_force_peak(model, training, parallelism, 16, stage), 1, 1e-12)
            << core::to_word(kind) << " stage " << stage;
      }
    }
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
}

}  // namespace
}  // namespace headway::workload

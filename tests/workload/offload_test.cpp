// Offload of activations in the step graph: which copies run, when, and how many bytes.
#include "sim/workload/memory/offload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sim/workload/blocks/build.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"

#include "tests/workload/graph_sums.h"
#include "tests/workload/models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;

std::vector<int> windows(int layers, int offloaded) {
  const OffloadedChunk chunk(layers, offloaded);
  std::vector<int> ends;
  for (int place = 0; place < layers; ++place) {
    if (chunk.after_forward(place).awaits >= 0) {
      ends.push_back(place);
    }
  }
  return ends;
}

// Transformer Engine's layer_window_map: (c + 1) floor(n / k) - 1 + min(c + 1, n mod k).
TEST(OffloadedChunk, SpreadsItsCopiesOverTheLayersAsTransformerEngine) {
  EXPECT_THAT(windows(8, 7), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(windows(8, 4), testing::ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(windows(9, 4), testing::ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(windows(8, 5), testing::ElementsAre(1, 3, 5, 6, 7));
  EXPECT_THAT(windows(8, 1), testing::ElementsAre(7));
}

// A copy goes after its layer's forward and is back before its backward; on each stream one copy
// runs at a time, and none is left when the pass ends.
TEST(OffloadedChunk, CopiesEachLayerOnceAndInTime) {
  for (int layers = 2; layers <= 24; ++layers) {
    for (int offloaded = 1; offloaded < layers; ++offloaded) {
      const OffloadedChunk chunk(layers, offloaded);
      int running = -1;
      int next = 0;
      for (int place = 0; place < layers; ++place) {
        const CopyStep step = chunk.after_forward(place);
        if (step.awaits >= 0) {
          EXPECT_EQ(step.awaits, running);
          running = -1;
        }
        if (step.starts >= 0) {
          EXPECT_EQ(step.starts, next++);
          EXPECT_LE(step.starts, place);
          EXPECT_EQ(running, -1);
          running = step.starts;
        }
      }
      EXPECT_EQ(next, offloaded);
      EXPECT_EQ(running, -1);
      std::set<int> here;
      for (int place = layers - 1; place >= 0; --place) {
        const CopyStep step = chunk.before_backward(place);
        if (step.awaits >= 0) {
          EXPECT_EQ(step.awaits, running);
          here.insert(running);
          running = -1;
        }
        if (step.starts >= 0) {
          EXPECT_EQ(step.starts, --next);
          EXPECT_EQ(running, -1);
          running = step.starts;
        }
        EXPECT_TRUE(place >= offloaded || here.contains(place)) << layers << " " << offloaded;
      }
      EXPECT_EQ(next, 0);
      EXPECT_EQ(running, -1);
    }
  }
}

ParallelismSpec offloaded(int tensor, int pipeline, int virtual_stages = 1) {
  ParallelismSpec parallelism = split(tensor, pipeline);
  parallelism.virtual_stages = virtual_stages;
  parallelism.offload = Offload::activations;
  return parallelism;
}

double copied(const StepGraph& graph, int ticket) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& o, int times) {
    bytes += o.kind == OperationKind::copy && o.ticket == ticket ? o.bytes.si() * times : 0;
  });
  return bytes;
}

// 32 layers in 4 x 2 chunks of 4: of each chunk 3 go out and come back, for each of 8
// micro-batches; what is recomputed is not kept, so it is not copied.
TEST(Offload, CopiesWhatTheLayersKeepOutAndBack) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    ParallelismSpec parallelism = offloaded(4, 4, 2);
    parallelism.recompute = recompute;
    const TrainingSpec training = recipe(4096, 16);
    const double kept = saved_per_layer(llama_8b(), training, parallelism).si();
    const StepGraph graph = build_step_graph(llama_8b(), training, parallelism, 2, 8);
    EXPECT_DOUBLE_EQ(copied(graph, kToHostTicket), 8 * 8 * 3 * kept);
    EXPECT_DOUBLE_EQ(copied(graph, kFromHostTicket), 8 * 8 * 3 * kept);
    parallelism.offload_layers = 1;
    EXPECT_DOUBLE_EQ(
        copied(build_step_graph(llama_8b(), training, parallelism, 2, 8), kToHostTicket),
        8 * 8 * kept);
  }
}

// All else is as without: the same work, the same collectives.
TEST(Offload, AddsNothingButTheCopies) {
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero3}) {
    ParallelismSpec parallelism = offloaded(2, 2);
    parallelism.sharding = sharding;
    ModelSpec model = deepseek_v3();
    model.layers = 16;
    model.window = 1024;
    model.window_period = 3;
    parallelism.expert = 4;
    const TrainingSpec training = recipe(4096, 16);
    const StepGraph with = build_step_graph(model, training, parallelism, 4, 4);
    parallelism.offload = Offload::none;
    const StepGraph without = build_step_graph(model, training, parallelism, 4, 4);
    EXPECT_DOUBLE_EQ(matrix_work(with), matrix_work(without));
    for (std::size_t stage = 0; stage < 2; ++stage) {
      std::vector<Call> rest;
      for (const Call& call : with.stages[stage].calls) {
        const auto& name = with.blocks[static_cast<std::size_t>(call.block)].name;
        if (name != "offload activations" && name != "reload activations") {
          for (int i = 0; i < call.repeat; ++i) {
            rest.push_back(call);
            rest.back().repeat = 1;
          }
        }
      }
      std::vector<Call> expected;
      for (const Call& call : without.stages[stage].calls) {
        for (int i = 0; i < call.repeat; ++i) {
          expected.push_back(call);
          expected.back().repeat = 1;
        }
      }
      EXPECT_EQ(rest, expected);
    }
  }
}

TEST(Offload, RefusesByNameWhatItCannotMove) {
  const auto problem = [](const ParallelismSpec& parallelism) {
    return text(offload_problem(llama_8b(), parallelism));
  };
  EXPECT_EQ(problem(offloaded(1, 4)), "");
  EXPECT_THAT(problem(offloaded(1, 4, 8)), testing::HasSubstr("chunks have one layer"));
  ParallelismSpec all = offloaded(1, 4);
  all.offload_layers = 8;
  EXPECT_THAT(problem(all), testing::HasSubstr("leaves no layer of a chunk of 8 behind"));
  all.offload_layers = 7;
  EXPECT_EQ(problem(all), "");
  all.offload = Offload::optimizer;
  EXPECT_EQ(problem(all), "offload_layers belongs to offload: activations or all");
}

// One stage of 32 layers, one micro-batch: 31 layers of activations meet on the host when the last
// copy has begun; the GPU holds two layers of them at a time, three while one runs backward: its
// own, the one that arrives, and its working set.
TEST(Offload, LeavesTwoLayersOnTheGpuAndTheRestOnTheHost) {
  const TrainingSpec training = recipe(4096, 16);
  const ParallelismSpec parallelism = offloaded(1, 1);
  const StageMemory memory = stage_memory(llama_8b(), training, parallelism, 4, 1).front();
  const double kept = saved_per_layer(llama_8b(), training, parallelism).si();
  const double working = backward_working_set(llama_8b(), training, parallelism).si();
  EXPECT_DOUBLE_EQ(memory.host.si(), 31 * kept);
  const double head = 4.0 * 4096 * 4096;
  const double logits = memory.logits.si();
  EXPECT_DOUBLE_EQ(
      memory.activations.si() + logits,
      std::max(2 * kept + working,
               kept + head + 2 * logits_bytes(llama_8b(), training, parallelism).si()));
}

TEST(Offload, OfAllPutsTheOptimizerBesideTheActivations) {
  const TrainingSpec training = recipe(4096, 16);
  ParallelismSpec parallelism = offloaded(1, 1);
  const auto host = [&](Offload offload) {
    parallelism.offload = offload;
    return stage_memory(llama_8b(), training, parallelism, 4, 1).front().host.si();
  };
  EXPECT_DOUBLE_EQ(host(Offload::all), host(Offload::activations) + host(Offload::optimizer));
}

}  // namespace
}  // namespace headway::workload

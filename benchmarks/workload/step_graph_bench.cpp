// How fast step graphs and memory are made: what the planner pays for each layout.
#include <benchmark/benchmark.h>
#include <stdexcept>

#include "sim/workload/blocks/build.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/memory/memory.h"

namespace headway::workload {
namespace {

ModelSpec llama_405b() {
  ModelSpec model;
  model.name = "Llama 3.1 405B";
  model.layers = 126;
  model.hidden = 16384;
  model.heads = 128;
  model.key_value_heads = 8;
  model.head_dim = 128;
  model.ffn = 53248;
  model.vocabulary = 128256;
  return model;
}

TrainingSpec recipe() {
  TrainingSpec training;
  training.sequence_length = 8192;
  training.global_batch = 2048;
  return training;
}

ParallelismSpec layout() {
  ParallelismSpec parallelism;
  parallelism.tensor = 8;
  parallelism.pipeline = 16;
  parallelism.virtual_stages = 8;
  parallelism.first_stage_layers = parallelism.last_stage_layers = 7;
  return parallelism;
}

void BuildStepGraph(benchmark::State& state) {
  const int micro_batches = static_cast<int>(state.range(0));
  std::size_t calls = 0;
  for (auto _ : state) {
    const StepGraph graph = build_step_graph(llama_405b(), recipe(), layout(), 64, micro_batches);
    calls = 0;
    for (const Stage& stage : graph.stages) {
      calls += stage.calls.size();
    }
    // Every chunk runs forward and backward for every micro-batch, in two calls at least.
    if (calls < static_cast<std::size_t>(micro_batches) * 16 * 8 * 2) {
      throw std::logic_error("the graph lacks calls");
    }
  }
  state.counters["calls"] = static_cast<double>(calls);
}
BENCHMARK(BuildStepGraph)->Arg(16)->Arg(32)->Arg(128)->Unit(benchmark::kMicrosecond);

void StageMemoryOfAllStages(benchmark::State& state) {
  for (auto _ : state) {
    const auto stages = stage_memory(llama_405b(), recipe(), layout(), 64, 32);
    if (stages.size() != 16) {
      throw std::logic_error("a stage is missing");
    }
    benchmark::DoNotOptimize(stages.data());
  }
}
BENCHMARK(StageMemoryOfAllStages)->Unit(benchmark::kMicrosecond);

void TrainingFlopsOfAModel(benchmark::State& state) {
  const ModelSpec model = llama_405b();
  for (auto _ : state) {
    benchmark::DoNotOptimize(training_flops_per_token(model, 8192, Recompute::none).mfu);
  }
}
BENCHMARK(TrainingFlopsOfAModel);

}  // namespace
}  // namespace headway::workload

BENCHMARK_MAIN();

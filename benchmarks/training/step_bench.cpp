// One training step from checked scenario to result, and its parts: Llama 3.1 405B, tensor 8 x
// pipeline 16 x data N.
#include <benchmark/benchmark.h>

#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/workload/blocks/build.h"

#include "tests/training/fixture.h"

namespace {

using namespace headway;

/// @param data  data-parallel degree; 16 micro-batches each
training::CheckedScenario llama(int data) {
  auto s = training::eight_nodes();
  s.name = "405B";
  s.cluster.nodes = 16 * data;
  s.model.layers = 126;
  s.model.hidden = 16384;
  s.model.heads = 128;
  s.model.key_value_heads = 8;
  s.model.ffn = 53248;
  s.training.sequence_length = 8192;
  s.training.global_batch = 16 * data;
  s.parallelism.pipeline = 16;
  s.parallelism.virtual_stages = 8;
  s.parallelism.schedule = workload::ScheduleKind::interleaved;
  s.parallelism.first_stage_layers = 7;
  s.parallelism.last_stage_layers = 7;
  return training::check(std::move(s));
}

workload::StepGraph graph_of(const training::CheckedScenario& checked) {
  const auto& s = checked.scenario();
  return workload::build_step_graph(s.model, s.training, s.parallelism, checked.data_parallel(),
                                    checked.micro_batches());
}

void step(benchmark::State& state, bool fold, bool trace) {
  const auto checked = llama(static_cast<int>(state.range(0)));
  training::StepResult result;
  for (auto _ : state) {
    result = training::simulate_step(checked, {.fold = fold, .trace = trace});
  }
  if (result.mfu < 0.2 || result.mfu > 0.7 || result.ranks != checked.gpus()) {
    state.SkipWithError("the step is not what it should be");
  }
  state.counters["gpus"] = static_cast<double>(checked.gpus());
  state.counters["classes"] = static_cast<double>(result.rank_classes);
}

void step_folded(benchmark::State& state) { step(state, true, true); }
void step_unfolded(benchmark::State& state) { step(state, false, false); }

void build_graph(benchmark::State& state) {
  const auto checked = llama(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(graph_of(checked));
  }
}

void build_fabric(benchmark::State& state) {
  const auto checked = llama(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(training::build_fabric(checked.scenario().cluster));
  }
}

void lower(benchmark::State& state) {
  const auto checked = llama(static_cast<int>(state.range(0)));
  const auto graph = graph_of(checked);
  const auto fabric = training::build_fabric(checked.scenario().cluster);
  for (auto _ : state) {
    benchmark::DoNotOptimize(training::lower(checked, graph, fabric));
  }
}

void run_problem(benchmark::State& state) {
  const auto checked = llama(static_cast<int>(state.range(0)));
  const auto fabric = training::build_fabric(checked.scenario().cluster);
  const auto lowered = training::lower(checked, graph_of(checked), fabric);
  for (auto _ : state) {
    benchmark::DoNotOptimize(network::run(lowered.problem, {.fold = true, .trace = true}));
  }
}

BENCHMARK(step_folded)->Arg(8)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(step_unfolded)->Arg(8)->Unit(benchmark::kMillisecond);
BENCHMARK(build_graph)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(build_fabric)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(lower)->Arg(128)->Unit(benchmark::kMillisecond);
BENCHMARK(run_problem)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

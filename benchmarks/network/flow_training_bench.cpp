// Hierarchical all-reduce and whole training steps through the flow engine, folded and unfolded.
#include <benchmark/benchmark.h>

#include "tests/network/patterns/patterns.h"

namespace {

using namespace headway::network;
using headway::core::BytesPerSecond;
using headway::core::Tick;

RunOptions every_iteration() {
  RunOptions options;
  options.fold = options.skip_repeats = false;
  return options;
}

const RunOptions kFolded{};  ///< what callers get: in space, and iterations that repeat
const RunOptions kUnfolded = every_iteration();

void hierarchical(benchmark::State& state) {
  patterns::Hierarchical shape;
  shape.nodes = static_cast<std::uint32_t>(state.range(0)) / shape.gpus_per_node;
  // A straggler (5 % slower) and a NIC at half speed on another node: the rail of that NIC is
  // slowest.
  const double slow_rail_s =
      shape.size.si() * 2 * (shape.nodes - 1) / shape.nodes / shape.gpus_per_node / 25e9;
  const double node_s =
      shape.size.si() * (shape.gpus_per_node - 1) / shape.gpus_per_node / shape.nvlink.si();
  const double latency_s = (2 + 2.0 * (shape.nodes - 1)) * 4e-6;
  const double expected_s = 1.05e-3 + 2 * node_s + slow_rail_s + latency_s;
  for (auto _ : state) {
    Problem problem = patterns::hierarchical_all_reduce(shape);
    problem.actors[5].slowdown_ppm = 50'000;
    problem.links[3 * 77 + 1].capacity = BytesPerSecond(25e9);
    const RunResult result = run(problem, kFolded);
    const double error_ps = static_cast<double>(result.end) - expected_s * 1e12;
    if (error_ps > 10 || error_ps < -10) {
      state.SkipWithError("wrong end tick");
    }
    state.counters["classes"] = static_cast<double>(result.classes);
  }
}
BENCHMARK(hierarchical)->Arg(131'072)->Unit(benchmark::kMillisecond);

/// Every rank computes all its micro-batches, and the step lasts at least as long as the fill, all
/// work of the last stage and the drain of a 1F1B pipeline.
bool plausible(const patterns::TrainingStep& step, const RunResult& result) {
  const Tick work = 3 * step.micro_batches * 2 * step.layers * step.layer_half;
  const Tick collectives = 2 * 2 * step.layers * step.tensor_collective;
  const Tick one_batch = 3 * 2 * step.layers * step.layer_half + collectives;
  const Tick path = (step.micro_batches + step.stages - 1) * one_batch;
  for (std::size_t actor = 0; actor < result.actor_end.size(); ++actor) {
    Tick sum = 0;
    for (const Tick ticks : result.actor_activity[actor].values) {
      sum += ticks;
    }
    if (sum != result.actor_end[actor] ||
        result.actor_activity[actor][headway::core::Activity::compute] < work) {
      return false;
    }
  }
  return result.end > path;
}

void training_step(benchmark::State& state, const RunOptions& options, bool straggler) {
  patterns::TrainingStep step;
  step.replicas = static_cast<std::uint32_t>(state.range(0)) / (step.stages * step.tensor);
  std::uint64_t digest = 0;
  if (!options.fold) {  // folded and unfolded runs agree on every operation
    Problem problem = patterns::training_step(step);
    problem.actors[0].slowdown_ppm = straggler ? 50'000 : 0;
    digest = run(problem, kFolded).result_digest;
  }
  for (auto _ : state) {
    Problem problem = patterns::training_step(step);
    problem.actors[0].slowdown_ppm = straggler ? 50'000 : 0;
    const RunResult result = run(problem, options);
    if (!plausible(step, result) || (!options.fold && result.result_digest != digest)) {
      state.SkipWithError("wrong ticks");
    }
    state.counters["classes"] = static_cast<double>(result.classes);
    state.counters["events"] = static_cast<double>(result.events);
    state.counters["end_ms"] = static_cast<double>(result.end) * 1e-9;
  }
}
BENCHMARK_CAPTURE(training_step, folded, kFolded, false)
    ->Arg(16'384)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(training_step, folded_straggler, kFolded, true)
    ->Arg(16'384)
    ->Arg(131'072)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(training_step, unfolded, kUnfolded, false)
    ->Arg(16'384)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(training_step, unfolded_straggler, kUnfolded, true)
    ->Arg(131'072)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

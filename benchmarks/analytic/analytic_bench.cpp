// The analytic tier over all layouts of GPT-3 175B on 1,024 A100: layouts a second, from an empty
// memory and from a full one.
#include <benchmark/benchmark.h>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace {

using namespace headway;

training::Scenario gpt3() {
  using namespace core::literals;
  auto s = training::eight_nodes();
  s.name = "GPT-3 175B";
  s.cluster.nodes = 128;
  auto& gpu = s.cluster.node.gpu;
  gpu.name = "A100";
  gpu.architecture = gpu::Architecture::ampere;
  gpu.peak = {156_TFLOPs, 312_TFLOPs, 312_TFLOPs, core::FlopsPerSecond(0), core::FlopsPerSecond(0)};
  gpu.streaming_multiprocessors = 108;
  gpu.memory_bandwidth = 2039_GBps;
  gpu.power = core::Watts(400);
  s.cluster.node.scale_up.bandwidth = 300_GBps;
  s.cluster.node.scale_up.in_switch_reduction = false;
  s.cluster.node.nic = {8, 200_Gbps, 1_us};
  s.cluster.fabric.link_bandwidth = 200_Gbps;
  auto& m = s.model;
  m.layers = 96;
  m.hidden = 12288;
  m.heads = m.key_value_heads = 96;
  m.ffn = 49152;
  m.gated_mlp = false;
  m.biases = m.tied_embeddings = true;
  m.vocabulary = 51200;
  m.learned_positions = 2048;
  s.training.sequence_length = 2048;
  s.training.global_batch = 1536;
  return s;
}

/// Every layout that keeps the rules: tensor, pipeline, chunks, micro-batch, recompute, sharding,
/// sequence parallelism.
std::vector<training::CheckedScenario> all_layouts() {
  using workload::Recompute;
  using workload::Sharding;
  std::vector<training::CheckedScenario> layouts;
  for (const int tensor : {1, 2, 4, 8}) {
    for (const int pipeline : {1, 2, 4, 8, 16, 32}) {
      for (int chunks = 1; chunks <= (pipeline == 1 ? 1 : 8); ++chunks) {
        for (const int micro_batch : {1, 2, 4, 8}) {
          for (const auto recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
            for (const auto sharding : {Sharding::zero0, Sharding::zero1}) {
              for (const bool sequence : {false, true}) {
                auto s = gpt3();
                auto& p = s.parallelism;
                p.tensor = tensor;
                p.pipeline = pipeline;
                p.virtual_stages = chunks;
                p.schedule = chunks > 1 ? workload::ScheduleKind::interleaved
                                        : workload::ScheduleKind::one_f_one_b;
                p.micro_batch = micro_batch;
                p.recompute = recompute;
                p.sharding = sharding;
                p.sequence = sequence;
                try {
                  layouts.push_back(training::check(std::move(s)));
                } catch (const core::Error&) {
                  continue;  // a rule is broken
                }
              }
            }
          }
        }
      }
    }
  }
  return layouts;
}

double sum_of(const std::vector<analytic::AnalyticStep>& steps) {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const auto& step) { return sum + step.time.si(); });
}

/// As a search asks: of all layouts that follow one another.
double evaluate_all(analytic::AnalyticTier& tier,
                    const std::vector<training::CheckedScenario>& layouts) {
  std::vector<analytic::LayoutAsked> asked;
  for (const auto& layout : layouts) {
    asked.push_back(
        {&layout.scenario().parallelism, layout.data_parallel(), layout.micro_batches()});
  }
  std::vector<analytic::AnalyticStep> steps(layouts.size());
  tier.evaluate(asked, steps);
  return sum_of(steps);
}

/// The same one by one, each from its checked scenario.
double evaluate_each(analytic::AnalyticTier& tier,
                     const std::vector<training::CheckedScenario>& layouts) {
  std::vector<analytic::AnalyticStep> steps;
  for (const auto& layout : layouts) {
    steps.push_back(tier.evaluate(layout));
  }
  return sum_of(steps);
}

/// Some of the layouts, simulated event by event with every transfer alone, must agree.
bool agrees(analytic::AnalyticTier& tier, const std::vector<training::CheckedScenario>& layouts) {
  for (std::size_t i = layouts.size() / 6; i < layouts.size(); i += layouts.size() / 3) {
    const double simulated =
        training::simulate_step(layouts[i], {.trace = false, .contention = false}).time.si();
    if (std::abs(tier.evaluate(layouts[i]).time.si() / simulated - 1) > 0.03) {
      return false;
    }
  }
  return true;
}

void analytic(benchmark::State& state, bool remembers) {
  static const auto layouts = all_layouts();
  analytic::AnalyticTier kept(gpt3());
  const bool right =
      agrees(kept, layouts) && evaluate_all(kept, layouts) == evaluate_each(kept, layouts);
  for (auto _ : state) {
    if (remembers) {
      benchmark::DoNotOptimize(evaluate_all(kept, layouts));
    } else {
      analytic::AnalyticTier fresh(gpt3());
      benchmark::DoNotOptimize(evaluate_all(fresh, layouts));
    }
  }
  if (!right || layouts.size() < 2000) {
    state.SkipWithError("the tier and the simulation differ, or layouts are missing");
  }
  state.counters["layouts"] = static_cast<double>(layouts.size());
  state.counters["layouts/s"] = benchmark::Counter(static_cast<double>(layouts.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void from_nothing(benchmark::State& state) { analytic(state, false); }
void with_memory(benchmark::State& state) { analytic(state, true); }

BENCHMARK(from_nothing)->Unit(benchmark::kMillisecond);
BENCHMARK(with_memory)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

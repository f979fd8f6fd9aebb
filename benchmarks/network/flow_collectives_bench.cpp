// Rings, all-to-alls and permutations through the flow engine; each benchmark checks its own
// answer.
#include <benchmark/benchmark.h>

#include "tests/network/patterns/patterns.h"

namespace {

using namespace headway::network;
using headway::core::Bytes;
using headway::core::Tick;

constexpr Bytes k64MiB{67108864};

/// Every message one by one: neither folded nor jumped over.
const RunOptions kEveryEvent{false, false, false};
const RunOptions kFolded{};  ///< what callers get: in space, and iterations that repeat
const RunOptions kFoldedEveryIteration{true, false, false, false};

void require(benchmark::State& state, const RunResult& result, Tick end) {
  if (result.end != end) {
    state.SkipWithError("wrong end tick");
  }
  state.counters["events"] = static_cast<double>(result.events);
  state.counters["classes"] = static_cast<double>(result.classes);
}

/// 2 (N - 1) steps, each of the longest hop (four links of 1 us) and 64 MiB / N at 50 GB/s.
Tick blocking_ring_end(std::int64_t hosts) {
  const double chunk_ps = 67108864.0 / static_cast<double>(hosts) / 50e9 * 1e12;
  return 2 * (hosts - 1) * (4'000'000 + static_cast<Tick>(chunk_ps + 0.5));
}

void ring(benchmark::State& state, const RunOptions& options) {
  patterns::FatTree tree;
  tree.hosts = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) {
    const Problem problem = patterns::ring_all_reduce(tree, k64MiB, patterns::Dependency::blocking);
    require(state, run(problem, options), blocking_ring_end(state.range(0)));
  }
  const double messages =
      2.0 * static_cast<double>(state.range(0)) * static_cast<double>(state.range(0) - 1);
  state.counters["messages/s"] =
      benchmark::Counter(messages, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(ring, every_message, kEveryEvent)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, repeats_jumped, (RunOptions{.fold = false}))
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, folded, kFolded)->Arg(131'072)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring, folded_every_iteration, kFoldedEveryIteration)
    ->Arg(131'072)
    ->Unit(benchmark::kMillisecond);

/// (N - 1) / N x 64 MiB at 50 GB/s, begun 2 us after the start.
Tick all_to_all_end(std::int64_t hosts) {
  const double share = 67108864.0 * static_cast<double>(hosts - 1) / static_cast<double>(hosts);
  return 2'000'000 + static_cast<Tick>(share / 50e9 * 1e12 + 0.5);
}

void all_to_all(benchmark::State& state, const RunOptions& options) {
  patterns::FatTree tree;
  tree.hosts = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) {
    const Problem problem = patterns::all_to_all(tree, k64MiB);
    require(state, run(problem, options), all_to_all_end(state.range(0)));
  }
}
BENCHMARK_CAPTURE(all_to_all, every_flow, kEveryEvent)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, folded, kFolded)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

void all_to_all_by_leaf(benchmark::State& state) {
  patterns::FatTree tree;
  tree.hosts = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) {
    const Problem problem = patterns::all_to_all_classes(tree, k64MiB);
    require(state, run(problem, kEveryEvent), all_to_all_end(state.range(0)));
  }
}
BENCHMARK(all_to_all_by_leaf)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

/// Rounds of four links of 1 us and 8 bytes at 50 GB/s: some host crosses leaves in each of them.
void dissemination(benchmark::State& state, const RunOptions& options) {
  patterns::FatTree tree;
  tree.hosts = static_cast<std::uint32_t>(state.range(0));
  Tick end = 0;
  double messages = 0;
  for (std::int64_t stride = 1; stride < state.range(0); stride *= 2) {
    end += 4'000'160;
    messages += static_cast<double>(state.range(0));
  }
  for (auto _ : state) {
    const Problem problem = patterns::dissemination(tree, Bytes(8));
    require(state, run(problem, options), end);
  }
  state.counters["messages/s"] =
      benchmark::Counter(messages, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(dissemination, every_message, kEveryEvent)
    ->Arg(65'536)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(dissemination, folded, kFolded)->Arg(65'536)->Unit(benchmark::kMillisecond);

/// Ends found once, and confirmed by a solve from scratch after every event on smaller cases
/// (tests).
void permutation(benchmark::State& state, bool equal_sizes) {
  patterns::Permutation shape;
  shape.hosts = 65'536;
  shape.tiers = static_cast<std::uint32_t>(state.range(0));
  shape.equal_sizes = equal_sizes;
  for (auto _ : state) {
    const Problem problem = patterns::permutation(shape);
    const RunResult result = run(problem, kEveryEvent);
    double bytes = 0;  // conservation: hosts' up links carry what was sent
    double sent = 0;
    for (std::uint32_t host = 0; host < shape.hosts; ++host) {
      bytes += result.link_bytes[host];
    }
    for (const Flow& flow : problem.flows) {
      sent += flow.size.si();
    }
    if (bytes != sent || result.events < problem.flows.size()) {
      state.SkipWithError("bytes are missing");
    }
    state.counters["flows"] = static_cast<double>(problem.flows.size());
  }
}
BENCHMARK_CAPTURE(permutation, equal_sizes, true)->Arg(2)->Arg(3)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(permutation, random_sizes, false)->Arg(2)->Arg(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

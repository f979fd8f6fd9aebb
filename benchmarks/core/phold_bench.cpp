// PHOLD, the standard load of discrete-event engines: processes that pass events on at random.
//
// 65,536 processes with one event each at the start. Every event schedules one: after an
// exponential time of mean 1 us to the process itself (90 %), or to a process drawn from all of
// them (10 %) after the lookahead more, which is 1 us or less. Source: Fujimoto, "Performance of
// Time Warp under synthetic workloads", SCS Multiconference 1990. Each run checks its own answer:
// the number of events expected of the load, and the digest of one thread.
// Arguments: threads, lookahead in thousandths of the mean.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/core/engine/engine.h"
#include "sim/core/random.h"

namespace headway::core {
namespace {

constexpr std::uint32_t kProcesses = 65'536;
constexpr Tick kMean = 1'000'000;  // 1 us in ps

/// The end of a run; an early one where only the answer is checked (CTest sets
/// HEADWAY_BENCHMARK_SMALL).
Tick end_of_run() { return (std::getenv("HEADWAY_BENCHMARK_SMALL") != nullptr ? 20 : 50) * kMean; }

constexpr std::uint32_t kRemote = 429'496'730;  // 10 % of 2^32

class Phold final : public Process {
 public:
  Phold(std::uint32_t position, Tick lookahead)
      : random_(mix(position)), lookahead_(static_cast<std::uint32_t>(lookahead)) {}

  void start(Context& context) override {
    first_ = context.find({"phold", 0}).index();
    pass_on(context, 0);
  }

  void handle(Context& context, const Event& event) override { pass_on(context, event.a + 1); }

 private:
  void pass_on(Context& context, std::uint64_t hops) {
    const auto delay =
        static_cast<Tick>(exponential_from(unit_interval(draw()), static_cast<double>(kMean)));
    const std::uint64_t choice = draw();
    if (static_cast<std::uint32_t>(choice) < kRemote) {
      const ProcessId target(first_ + static_cast<std::uint32_t>(index_below(choice, kProcesses)));
      context.send(ChannelId(0), target, lookahead_ + delay, {.a = hops});
    } else {
      context.schedule(delay, {.a = hops});
    }
  }

  /// SplitMix64: the engine is measured here, not the generator.
  std::uint64_t draw() { return mix(random_ += 0x9e3779b97f4a7c15U); }

  std::uint64_t random_;
  std::uint32_t first_ = 0;
  std::uint32_t lookahead_;
};

struct Outcome {
  RunSummary summary;
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads: says more than `seconds` on a machine that is shared
  double heap_bytes = 0;   ///< of engine and processes, at the end
};

double heap_bytes() {
  const auto heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);  // small blocks and large ones
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

Outcome run_phold(int threads, Tick lookahead) {
  const double heap_before = heap_bytes();
  std::vector<Phold> processes;
  processes.reserve(kProcesses);
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    processes.emplace_back(i, lookahead);
  }
  Engine engine({.threads = threads});
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    engine.add({"phold", i}, processes[i]);
  }
  engine.connect({"phold"}, {"phold"}, lookahead);
  engine.run(1);  // starts the processes; no event is that early
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  outcome.summary = engine.run(end_of_run());
  outcome.cpu_seconds = cpu_seconds() - cpu_begin;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.heap_bytes = heap_bytes() - heap_before;
  return outcome;
}

/// Empty, or what is wrong. An event lasts 1 mean and 10 % of the lookahead on average, and each
/// process has one.
std::string complaint(const RunSummary& summary, Tick lookahead) {
  static std::map<Tick, RunSummary> references;
  if (references.count(lookahead) == 0) {
    references[lookahead] = run_phold(1, lookahead).summary;
  }
  const RunSummary& reference = references[lookahead];
  const double expected = static_cast<double>(kProcesses) * static_cast<double>(end_of_run()) /
                          static_cast<double>(kMean + lookahead / 10);
  if (std::abs(static_cast<double>(summary.events) / expected - 1) > 0.01) {
    return "the number of events is more than 1 % off what the load implies";
  }
  if (summary.event_digest != reference.event_digest || summary.events != reference.events) {
    return "the events differ from those of one thread";
  }
  return {};
}

void phold(benchmark::State& state) {
  double seconds = 0;
  double cpu_seconds = 0;
  double events = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Tick lookahead = kMean / 1000 * state.range(1);
    const Outcome outcome = run_phold(static_cast<int>(state.range(0)), lookahead);
    if (const std::string wrong = complaint(outcome.summary, lookahead); !wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      return;
    }
    seconds += outcome.seconds;
    cpu_seconds += outcome.cpu_seconds;
    events += static_cast<double>(outcome.summary.events);
    state.counters["bytes_per_event"] =
        outcome.heap_bytes / kProcesses;  // one event is pending a process
    state.counters["windows"] = static_cast<double>(outcome.summary.windows);
  }
  state.counters["cpu_ns_per_event"] = 1e9 * cpu_seconds / events;
  state.counters["items_per_second"] = events / seconds;  // of wall time, the set-up left out
}
BENCHMARK(phold)
    ->ArgNames({"threads", "lookahead"})
    ->ArgsProduct({{1, 2, 4, 8}, {1000}})
    ->ArgsProduct({{1, 2}, {100, 10, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway::core

BENCHMARK_MAIN();

// The discrete-event engine: the same events in the same order on one thread or many.
//
//     class Clockwork : public core::Process {
//       void start(core::Context& c) override { c.schedule(10, {.kind = 1}); }
//       void handle(core::Context& c, const core::Event&) override { c.schedule(10, {.kind = 1}); }
//     };
//     Clockwork clockwork;
//     core::Engine engine;
//     engine.add({"clockwork", 0}, clockwork);
//     const core::RunSummary summary = engine.run(1000);  // 99 events
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/engine/executor.h"
#include "sim/core/engine/partition_group.h"
#include "sim/core/engine/process.h"

namespace headway::core {

/// Some processes of the description: one, or all of a kind.
struct ProcessSet {
  std::string kind;
  std::int64_t position = kAll;

  static constexpr std::int64_t kAll = -1;
};

/// How to run; nothing here changes any result.
struct EngineOptions {
  int threads = 1;  ///< 0: all cores
  std::size_t processes_per_partition =
      0;  ///< consecutive ids; 0: as many as keep a queue in the first-level cache
  std::vector<std::uint32_t> partition_of_process =
      {};  ///< by process id, in place of the rule above; empty: by the rule
  /// Called now and then between two windows, by the thread that called `run`; what it throws ends
  /// the run. May be empty.
  std::function<void()> look = {};
};

/// What a run did.
struct RunSummary {
  std::uint64_t events = 0;  ///< handled, over all calls of `run`
  Tick end = 0;              ///< tick of the last event handled
  bool finished = false;     ///< no event is left
  std::uint64_t event_digest =
      0;  ///< every event of every process, in order; equal for any threads and partitions
  std::uint64_t windows = 0;  ///< conservative windows it took; depends on the partitions
};

/// Processes, channels between them, and the loop that runs them.
///
/// Processes form partitions, each with one event queue; partitions form groups, each run by one
/// thread at a time. In each window every partition may handle all events earlier than
///     (earliest event anywhere) + (least latency of a channel into this partition from another),
/// since nothing that happens elsewhere can reach it sooner (conservative, no rollback). Source:
/// Nicol, "The cost of conservative synchronization in parallel discrete event simulations", JACM
/// 1993.
class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Adds a process, which must outlive the engine.
  void add(ProcessName name, Process& process);

  /// Declares that `from` may send to `to`. May come before or after `add`.
  /// @param minimum_latency  least delay of a message, at least 1 tick: the lookahead of parallel
  /// runs
  ChannelId connect(ProcessSet from, ProcessSet to, Tick minimum_latency);

  /// Starts all processes at the first call, then handles the events earlier than `until`.
  /// May be called again with a later `until`; nothing may be added after the first call.
  /// @throws InternalError for a doubled name, a channel of unknown processes or what a process
  /// throws
  RunSummary run(Tick until = kEndOfTime);

 private:
  struct Description;

  void seal();
  void start_processes();
  void build_partitions();
  [[nodiscard]] Partition& partition(std::uint32_t index);
  void set_lookahead(const Channel& channel);
  [[nodiscard]] Tick earliest_event() const;
  [[nodiscard]] RunSummary summary();

  EngineOptions options_;
  std::unique_ptr<Description> description_;
  std::unique_ptr<Directory> directory_;
  PostOffice office_;
  std::unique_ptr<Executor> executor_;
  std::uint64_t windows_ = 0;
};

}  // namespace headway::core

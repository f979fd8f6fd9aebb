// Processes that share one event queue, small enough for it to stay in the first-level cache.
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/digest.h"
#include "sim/core/engine/directory.h"
#include "sim/core/engine/event_queue.h"
#include "sim/core/engine/process.h"

namespace headway::core {

/// What the engine keeps of a process: 32 bytes, half a cache line.
struct ProcessSlot {
  Process* process = nullptr;
  std::uint64_t digest = 0;    ///< running hash of the events it has handled
  std::uint64_t sequence = 0;  ///< events it has sent
  std::uint64_t events = 0;    ///< events it has handled
};

class PartitionGroup;

/// Owns the event queue of its processes; one thread runs it at a time.
class Partition {
 public:
  /// @param slots  of all processes, by id
  /// @param group  carries its messages to other partitions
  Partition(const Directory& directory,
            std::span<ProcessSlot> slots,
            PartitionGroup& group,
            std::uint32_t index)
      : directory_(directory), slots_(slots), group_(group), index_(index) {}

  /// Calls the process's `start` at tick 0.
  void start(ProcessId id);
  /// Handles all pending events earlier than `end`, those that arise meanwhile included.
  void run(Tick end);
  /// Takes an event from a process of another partition.
  void deliver(const Event& event) { queue_.push(event); }

  /// Tick of the earliest pending event.
  [[nodiscard]] Tick first_tick() { return queue_.first_tick(); }
  /// Tick of the last event handled.
  [[nodiscard]] Tick last_tick() const { return last_tick_; }

 private:
  friend class Context;

  Event make_event(const Context& context, ProcessId target, Tick delay, const Message& message);
  [[noreturn]] void refuse_time(ProcessId source, Tick now, Tick delay) const;
  [[noreturn]] void refuse_sequence(ProcessId source) const;

  const Directory& directory_;
  std::span<ProcessSlot> slots_;
  PartitionGroup& group_;
  std::uint32_t index_;
  EventQueue queue_;
  Tick last_tick_ = 0;
};

inline Event Partition::make_event(const Context& context,
                                   ProcessId target,
                                   Tick delay,
                                   const Message& message) {
  const ProcessId source = context.self();
  Tick tick = 0;
  if (delay < 0 || __builtin_add_overflow(context.now(), delay, &tick) || tick == kEndOfTime)
      [[unlikely]] {
    refuse_time(source, context.now(), delay);
  }
  const std::uint64_t sequence = slots_[source.index()].sequence++;
  if (sequence > EventOrder::kMaxSequence || message.priority > kLastPriority) [[unlikely]] {
    refuse_sequence(source);
  }
  return {tick,     EventOrder(message.priority, source, sequence), target, message.kind, message.a,
          message.b};
}

inline void Context::schedule(Tick delay, const Message& message) {
  partition_.queue_.push(partition_.make_event(*this, self_, delay, message));
}

}  // namespace headway::core

// A group of processes that one thread runs at a time, with their pending events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

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

/// Owns the event queue of its processes. Only `deliver` may be called by another thread.
class alignas(64) Partition {
 public:
  /// @param slots       of all processes, by id
  /// @param partitions  all of the engine, by index; may still be filling
  Partition(const Directory& directory,
            std::span<ProcessSlot> slots,
            const std::vector<std::unique_ptr<Partition>>& partitions,
            std::uint32_t index);

  /// Calls the process's `start` at tick 0.
  void start(ProcessId id);
  /// Handles all pending events earlier than `end`, those that arise meanwhile included.
  void run(Tick end);
  /// Takes an event from a process of another partition.
  void deliver(const Event& event);

  /// Tick of the earliest pending event, delivered ones included. Only while no thread runs this
  /// partition.
  [[nodiscard]] Tick first_tick();
  /// Tick of the last event handled.
  [[nodiscard]] Tick last_tick() const { return last_tick_; }

  /// Least latency of a channel into this partition from another: how far it may run ahead of them.
  Tick lookahead = kEndOfTime;

 private:
  friend class Context;

  void take_inbox();
  Event make_event(const Context& context, ProcessId target, Tick delay, const Message& message);
  [[noreturn]] void refuse_time(ProcessId source, Tick now, Tick delay) const;
  [[noreturn]] void refuse_sequence(ProcessId source) const;

  const Directory& directory_;
  std::span<ProcessSlot> slots_;
  const std::vector<std::unique_ptr<Partition>>& partitions_;
  std::uint32_t index_;
  EventQueue queue_;
  Tick last_tick_ = 0;
  Context context_{*this};

  alignas(64) std::mutex inbox_mutex_;  // apart from what the owning thread writes all the time
  std::vector<Event> inbox_;
  std::atomic<Tick> inbox_first_ = kEndOfTime;  // tick of its earliest event
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

inline void Context::send(ChannelId channel, ProcessId to, Tick delay, const Message& message) {
  (void)partition_.directory_.checked(channel, self_, to, delay);
  const Event event = partition_.make_event(*this, to, delay, message);
  const std::uint32_t place = partition_.directory_.partition_of(to);
  if (place == partition_.index_) {
    partition_.queue_.push(event);
  } else {
    partition_.partitions_[place]->deliver(event);
  }
}

}  // namespace headway::core

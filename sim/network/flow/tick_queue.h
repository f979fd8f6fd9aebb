// The pending events of a run, kept as arrays of those that share a tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/tick.h"

namespace headway::network {

/// A priority queue of ticks, each with the events that are due then, the last to come first.
/// Scheduling at a tick that was used lately costs no heap operation.
class TickQueue {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;
  static constexpr core::Tick kNotDue = -1;

  struct Event {
    std::uint32_t entity = kNone;  ///< whose it is; kNone: cancelled
    std::uint32_t seat = kNone;    ///< where the state is that it concerns, if not the entity's own

    bool operator==(const Event&) const = default;
  };
  /// Where a pending event stands, for who may cancel it.
  struct Place {
    std::uint32_t bucket = 0, position = 0;
  };

  TickQueue();

  /// INVARIANT: `tick` is not before the last popped one.
  Place schedule(Event event, core::Tick tick);
  /// INVARIANT: the event that was given this place is pending.
  void cancel(Place place);
  /// The tick each of the first `entities` is due; kNotDue: it is not pending. Looks at all events.
  [[nodiscard]] std::vector<core::Tick> due(std::size_t entities) const;

  /// Moves every event of the earliest tick into `batch` (replacing its content).
  /// @returns that tick; meaningless if `batch` comes back empty: nothing is pending
  core::Tick pop(std::vector<Event>& batch);

  /// Moves all pending events `shift` ticks later.
  void postpone_all(core::Tick shift);

 private:
  struct Bucket {
    core::Tick tick = 0;
    std::vector<Event> events;
  };
  struct HeapEntry {
    core::Tick tick;
    std::uint32_t bucket;
  };

  std::uint32_t bucket_at(core::Tick tick);
  void push_heap(HeapEntry entry);
  HeapEntry pop_heap();
  void drain(std::uint32_t bucket, std::vector<Event>& batch);

  static constexpr std::size_t kCached = 4096;
  static constexpr std::size_t kRoom = 1024;  ///< events for which a free bucket keeps its room
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<HeapEntry> heap_;  // 4-ary
  std::array<std::uint32_t, kCached> cache_{};
};

}  // namespace headway::network

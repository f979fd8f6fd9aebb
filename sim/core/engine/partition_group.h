// Partitions that one thread runs one after the other, and their mail to other groups.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/engine/partition.h"

namespace headway::core {

/// What all groups of an engine share; only the engine changes it, and only between windows.
struct PostOffice {
  std::vector<std::unique_ptr<PartitionGroup>> groups;
  int partitions_per_group_log2 = 0;
  int outgoing = 0;  ///< which set of mailboxes this window fills; the other one it empties
};

/// Consecutive partitions, about a second-level cache of them. Their number and their bounds do not
/// depend on the threads.
///
/// Messages within a group go straight into the queue. To another group there is one mailbox, which
/// only this group fills and only in one window, and only the other empties in the next: no locks,
/// no atomics. Nothing that arrives while a window runs is earlier than the end of that window for
/// its receiver, so it may wait for the next one; the order of arrival does not show, since the
/// queue sorts by a total order.
class alignas(64) PartitionGroup {
 public:
  PartitionGroup(const Directory& directory,
                 std::span<ProcessSlot> slots,
                 PostOffice& office,
                 std::uint32_t index,
                 std::uint32_t partitions);
  PartitionGroup(const PartitionGroup&) = delete;
  PartitionGroup& operator=(const PartitionGroup&) = delete;
  ~PartitionGroup() = default;

  /// Empties its mailboxes, then runs each partition for the window that begins at `first`.
  void run(Tick first, Tick until);
  /// Takes note of what `start` of its processes has scheduled and sent.
  void note_started();

  /// Tick of the earliest event of its partitions or on the way from them to other groups.
  [[nodiscard]] Tick next_tick() const { return next_tick_; }
  [[nodiscard]] std::vector<Partition>& partitions() { return partitions_; }
  [[nodiscard]] Partition& partition(std::uint32_t index) {
    return partitions_[index - first_partition_];
  }
  /// A channel into the partition from another has this least latency.
  void bound_lookahead(std::uint32_t index, Tick latency) {
    Tick& lookahead = horizons_[index - first_partition_].lookahead;
    lookahead = latency < lookahead ? latency : lookahead;
  }

  /// Sends an event to a process of partition `to`, which is another than the sender's.
  void post(std::uint32_t to, const Event& event) {
    posted_tick_ = event.tick < posted_tick_ ? event.tick : posted_tick_;
    const std::uint32_t group = to >> office_.partitions_per_group_log2;
    if (group == index_) {
      deliver(to, event);
      return;
    }
    mailboxes_[static_cast<std::size_t>(office_.outgoing)][group].push_back(event);
  }

 private:
  /// What decides whether a partition has work in a window, apart from its queue: in short windows
  /// most have none.
  struct Horizon {
    Tick due = kEndOfTime;        ///< its earliest event
    Tick lookahead = kEndOfTime;  ///< least latency of a channel into it from another partition
  };

  void take_mail();
  void deliver(std::uint32_t to, const Event& event) {
    Tick& due = horizons_[to - first_partition_].due;
    due = event.tick < due ? event.tick : due;
    partition(to).deliver(event);
  }

  const Directory& directory_;
  PostOffice& office_;
  std::uint32_t index_;
  std::uint32_t first_partition_;
  std::vector<Partition> partitions_;
  std::vector<Horizon> horizons_;  // of partitions_
  Tick next_tick_ = kEndOfTime;
  Tick posted_tick_ = kEndOfTime;  // the earliest its partitions sent to others in this window
  std::array<std::vector<std::vector<Event>>, 2> mailboxes_;  // [set][receiving group]
};

inline void Context::send(ChannelId channel, ProcessId to, Tick delay, const Message& message) {
  (void)partition_.directory_.checked(channel, self_, to, delay);
  const Event event = partition_.make_event(*this, to, delay, message);
  const std::uint32_t place = partition_.directory_.partition_of(to);
  if (place == partition_.index_) {
    partition_.queue_.push(event);
  } else {
    partition_.group_.post(place, event);
  }
}

}  // namespace headway::core

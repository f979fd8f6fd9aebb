#include "sim/core/engine/partition_group.h"

#include <algorithm>

namespace headway::core {

PartitionGroup::PartitionGroup(const Directory& directory,
                               std::span<ProcessSlot> slots,
                               PostOffice& office,
                               std::uint32_t index,
                               std::uint32_t partitions)
    : directory_(directory),
      office_(office),
      index_(index),
      first_partition_(index << office.partitions_per_group_log2),
      horizons_(partitions) {
  partitions_.reserve(partitions);
  for (std::uint32_t i = 0; i < partitions; ++i) {
    partitions_.emplace_back(directory, slots, *this, first_partition_ + i);
  }
  for (auto& boxes : mailboxes_) {
    boxes.resize(office.groups.size());
  }
}

// A message cannot make another partition ready: it arrives no sooner than the window there ends.
void PartitionGroup::run(Tick first, Tick until) {
  posted_tick_ = kEndOfTime;
  take_mail();
  Tick next = kEndOfTime;
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    Horizon& horizon = horizons_[i];
    const Tick end = horizon.lookahead >= until - first ? until : first + horizon.lookahead;
    if (horizon.due < end) {
      partitions_[i].run(end);
      horizon.due = partitions_[i].first_tick();
    }
    next = std::min(next, horizon.due);
  }
  next_tick_ = std::min(next, posted_tick_);
}

void PartitionGroup::note_started() {
  next_tick_ = posted_tick_;
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    horizons_[i].due = partitions_[i].first_tick();
    next_tick_ = std::min(next_tick_, horizons_[i].due);
  }
}

void PartitionGroup::take_mail() {
  const auto incoming = static_cast<std::size_t>(1 - office_.outgoing);
  for (const auto& sender : office_.groups) {
    std::vector<Event>& mailbox = sender->mailboxes_[incoming][index_];
    for (const Event& event : mailbox) {
      deliver(directory_.partition_of(event.target), event);
    }
    mailbox.clear();
  }
}

}  // namespace headway::core

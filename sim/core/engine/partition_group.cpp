#include "sim/core/engine/partition_group.h"

#include <algorithm>

namespace headway::core {

namespace {

/// The tick up to which a partition may run: `first` plus its lookahead, at most `until`.
Tick window_end(Tick first, Tick lookahead, Tick until) {
  return lookahead >= until - first ? until : first + lookahead;
}

}  // namespace

PartitionGroup::PartitionGroup(const Directory& directory,
                               std::span<ProcessSlot> slots,
                               PostOffice& office,
                               std::uint32_t index,
                               std::uint32_t partitions)
    : directory_(directory),
      office_(office),
      index_(index),
      first_partition_(index << office.partitions_per_group_log2) {
  partitions_.reserve(partitions);
  for (std::uint32_t i = 0; i < partitions; ++i) {
    partitions_.emplace_back(directory, slots, *this, first_partition_ + i);
  }
  for (auto& boxes : mailboxes_) {
    boxes.resize(office.groups.size());
  }
}

void PartitionGroup::run(Tick first, Tick until) {
  posted_tick_ = kEndOfTime;
  take_mail();
  for (Partition& partition : partitions_) {
    partition.run(window_end(first, partition.lookahead, until));
  }
  note_next_tick();
}

void PartitionGroup::note_next_tick() {
  next_tick_ = posted_tick_;
  for (Partition& partition : partitions_) {
    next_tick_ = std::min(next_tick_, partition.first_tick());
  }
}

void PartitionGroup::take_mail() {
  const auto incoming = static_cast<std::size_t>(1 - office_.outgoing);
  for (const auto& sender : office_.groups) {
    std::vector<Event>& mailbox = sender->mailboxes_[incoming][index_];
    for (const Event& event : mailbox) {
      partition(directory_.partition_of(event.target)).deliver(event);
    }
    mailbox.clear();
  }
}

}  // namespace headway::core

// The pending events of a run: at most one per entity, kept as lists of entities that share a tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/tick.h"

namespace headway::network {

/// A priority queue of ticks, each with an intrusive list of entities.
/// Scheduling at a tick that was used lately costs no heap operation; moving an entity leaves
/// nothing stale.
class TickQueue {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit TickQueue(std::size_t entities);

  /// INVARIANT: `entity` is not pending and `tick` is not before the last popped one.
  void schedule(std::uint32_t entity, core::Tick tick);
  /// INVARIANT: `entity` is pending.
  void cancel(std::uint32_t entity);
  [[nodiscard]] bool pending(std::uint32_t entity) const { return nodes_[entity].bucket != kNone; }
  /// The tick `entity` is due. INVARIANT: it is pending.
  [[nodiscard]] core::Tick due(std::uint32_t entity) const {
    return buckets_[nodes_[entity].bucket].tick;
  }

  /// Moves every entity of the earliest tick into `batch` (replacing its content).
  /// @returns that tick; meaningless if `batch` comes back empty: nothing is pending
  core::Tick pop(std::vector<std::uint32_t>& batch);

  /// Moves all pending events `shift` ticks later.
  void postpone_all(core::Tick shift);

 private:
  struct Node {
    std::uint32_t next = kNone, previous = kNone, bucket = kNone;
  };
  struct Bucket {
    core::Tick tick = 0;
    std::uint32_t head = kNone;
  };
  struct HeapEntry {
    core::Tick tick;
    std::uint32_t bucket;
  };

  std::uint32_t bucket_at(core::Tick tick);
  void push_heap(HeapEntry entry);
  HeapEntry pop_heap();
  void drain(std::uint32_t bucket, std::vector<std::uint32_t>& batch);

  static constexpr std::size_t kCached = 4096;
  std::vector<Node> nodes_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<HeapEntry> heap_;  // 4-ary
  std::array<std::uint32_t, kCached> cache_{};
};

}  // namespace headway::network

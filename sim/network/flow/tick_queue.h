// The pending events of a run: at most one per entity, kept as arrays of entities that share a
// tick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/tick.h"
#include "sim/network/flow/large_vector.h"

namespace headway::network {

/// A priority queue of ticks, each with the entities that are due then, the last to come first.
/// Scheduling at a tick that was used lately costs no heap operation and touches one word of the
/// entity.
class TickQueue {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit TickQueue(std::size_t entities);

  /// INVARIANT: `entity` is not pending and `tick` is not before the last popped one.
  void schedule(std::uint32_t entity, core::Tick tick);
  /// INVARIANT: `entity` is pending.
  void cancel(std::uint32_t entity);
  [[nodiscard]] bool pending(std::uint32_t entity) const {
    const auto [bucket, position] = places_[entity];
    const auto& due = buckets_[bucket].entities;
    return position < due.size() && due[position] == entity;
  }
  /// The tick `entity` is due. INVARIANT: it is pending.
  [[nodiscard]] core::Tick due(std::uint32_t entity) const {
    return buckets_[places_[entity].bucket].tick;
  }

  /// Moves every entity of the earliest tick into `batch` (replacing its content).
  /// @returns that tick; meaningless if `batch` comes back empty: nothing is pending
  core::Tick pop(std::vector<std::uint32_t>& batch);

  /// Moves all pending events `shift` ticks later.
  void postpone_all(core::Tick shift);

 private:
  /// Where an entity was put last. It is pending if it still stands there.
  struct PlaceOfEntity {
    std::uint32_t bucket = 0, position = 0;
  };
  struct Bucket {
    core::Tick tick = 0;
    std::vector<std::uint32_t> entities;  ///< kNone: cancelled
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
  static constexpr std::size_t kRoom = 1024;  ///< entities for which a free bucket keeps its room
  LargeVector<PlaceOfEntity> places_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<HeapEntry> heap_;  // 4-ary
  std::array<std::uint32_t, kCached> cache_{};
};

}  // namespace headway::network

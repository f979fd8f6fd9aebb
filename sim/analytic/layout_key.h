// What the analytic tier looks up what layouts share by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "sim/workload/spec.h"

namespace headway::analytic {

/// A layout with what it is looked up by; layouts that differ only in what a key fixes share an
/// entry.
struct LayoutKey {
  workload::ParallelismSpec layout;
  int data = 1;            ///< data-parallel ranks, or how groups of a pass lie
  bool pipelined = false;  ///< messages between stages hold up the CPUs
  bool operator==(const LayoutKey&) const = default;
};

struct OrderKey {
  workload::ScheduleKind schedule{};
  int pipeline = 1, chunks = 1, micro_batches = 1;
  bool operator==(const OrderKey&) const = default;
};

inline std::size_t hash_of(std::initializer_list<int> parts) {
  std::uint64_t hash = 0;
  for (const int part : parts) {
    hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 31U;
  }
  return static_cast<std::size_t>(hash);
}

/// Small numbers, below 16 each.
inline int pack_nibbles(std::initializer_list<int> parts) {
  unsigned all = 0;
  for (const int part : parts) {
    all = all << 4U | static_cast<unsigned>(part);
  }
  return static_cast<int>(all);
}

struct KeyHash {
  std::size_t operator()(const LayoutKey& key) const {
    const auto& p = key.layout;
    int parts = 0;
    for (const workload::RecomputePart part : p.recompute_parts) {
      parts |= 1 << static_cast<int>(part);
    }
    int again = 0;
    for (const int layers : p.chunk_recompute) {
      again = 31 * again + layers;
    }
    return hash_of({again, p.tensor, p.context, p.expert, p.expert_tensor, p.pipeline,
                    p.virtual_stages, p.micro_batch, key.data, p.shard_group_size,
                    p.first_stage_layers, p.last_stage_layers, parts, p.recompute_period,
                    p.recompute_layers,
                    pack_nibbles({static_cast<int>(p.recompute), static_cast<int>(p.sharding),
                                  static_cast<int>(p.schedule), static_cast<int>(p.context_kind),
                                  static_cast<int>(p.rank_order), static_cast<int>(p.offload),
                                  static_cast<int>(p.sequence), static_cast<int>(p.reshard)})});
  }
  std::size_t operator()(const OrderKey& key) const {
    return hash_of({static_cast<int>(key.schedule), key.pipeline, key.chunks, key.micro_batches});
  }
};

}  // namespace headway::analytic

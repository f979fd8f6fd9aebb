// Bytes that one collective puts on every link of the fabric, by the edges of its algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"

namespace headway::network {

/// Bytes by link. Collected first and summed once: the sum of a link is in the order in which its
/// parts came.
class LinkLoads {
 public:
  explicit LinkLoads(const Fabric& fabric) : links_(fabric.links().size()) {}
  void add(core::LinkId link, core::Bytes bytes);
  /// Sorts by link and adds up.
  void settle();
  [[nodiscard]] auto begin() const { return loads_.begin(); }
  [[nodiscard]] auto end() const { return loads_.end(); }

 private:
  void settle_many();

  std::size_t links_;
  std::vector<std::pair<core::LinkId, core::Bytes>> loads_;
};

/// Parent of node i > 0 in NCCL's binary tree of n nodes: every odd node is a leaf, node 0 the
/// root.
std::size_t tree_parent(std::size_t i, std::size_t n);

/// Routes that the collectives of one group ask for again and again, mostly in the same order: each
/// is looked for behind the one before it, and searched for only where it is not there.
class RouteCache {
 public:
  /// A collective begins.
  void begin() {
    next_ = 0;
    grows_ = false;
  }
  /// Valid until the next call.
  std::span<const RouteHop> find(const Fabric& fabric,
                                 core::GpuId from,
                                 core::GpuId to,
                                 std::uint64_t label);

 private:
  struct Key {
    std::uint64_t ends = 0, label = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>((key.ends ^ (key.label << 17U)) * 0x9e3779b97f4a7c15ULL >>
                                      16U);
    }
  };
  [[nodiscard]] bool is_at(std::size_t place, const Key& key) const {
    return place < keys_.size() && keys_[place] == key;
  }
  std::size_t search(const Key& key);

  std::vector<Key> keys_;  ///< in the order of their first use
  std::vector<RouteHop> hops_;
  std::vector<std::uint32_t> first_hop_{0};  ///< per key, and one past the end
  std::size_t next_ = 0;
  bool grows_ = false;  ///< the last route was new: so will the next be
  std::unordered_map<Key, std::size_t, Hash> place_;  ///< of the first keys; looked up only
};

/// @param alone   from `collective_time`, the same call: its algorithm and its wire bytes
/// @param label   hashed by ecmp
/// @param routes  used and filled, if there is one
/// @returns settled loads
/// @throws core::Error if the algorithm needs a path that is not there, or an exchange has more
/// messages than can be routed one by one
LinkLoads link_loads(const Fabric& fabric,
                     const CollectiveCall& call,
                     std::span<const core::GpuId> members,
                     const CollectiveTime& alone,
                     std::uint64_t label,
                     RouteCache* routes);

}  // namespace headway::network

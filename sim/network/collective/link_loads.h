// Bytes that one collective puts on every link of the fabric, by the edges of its algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// Bytes by link, of those that can bind or of all. The sum of a link is in the order in which its
/// parts came, whether they are collected and sorted, or are so many that a table of all links
/// takes them.
class LinkLoads {
 public:
  explicit LinkLoads(const Fabric& fabric, bool all = false) : fabric_(fabric), all_(all) {}
  void add(core::LinkId link, core::Bytes bytes);
  /// Adds up; nothing is added after it.
  void settle();
  /// Links that carry something.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Calls `visit(link, bytes)` for each of them, by rising link. Only after `settle`.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [link, bytes] : loads_) {
      visit(link, bytes);
    }
    for (std::size_t l = 0; l < sums_.size(); ++l) {
      if (sums_[l].si() > 0) {
        visit(core::LinkId(static_cast<std::uint32_t>(l)), sums_[l]);
      }
    }
  }

 private:
  const Fabric& fabric_;
  bool all_;
  std::vector<std::pair<core::LinkId, core::Bytes>> loads_;
  std::vector<core::Bytes> sums_;  ///< per link, in place of the above; empty: not used
  std::size_t size_ = 0;
};

/// Parent of node i > 0 in NCCL's binary tree of n nodes: every odd node is a leaf, node 0 the
/// root.
std::size_t tree_parent(std::size_t i, std::size_t n);

/// Whether messages pass between neighbouring domains alone, as in a ring: what a domain's links
/// carry does not depend on how many others there are.
bool between_neighbours(const CollectiveCall& call, const CollectiveTime& alone);

/// @param alone  from `collective_time`, the same call: its algorithm and its wire bytes
/// @param label  hashed by ecmp
/// @returns settled loads
/// @throws core::Error if the algorithm needs a path that is not there, or an exchange has more
/// messages than can be routed one by one
LinkLoads link_loads(const Fabric& fabric,
                     const CollectiveCall& call,
                     std::span<const core::GpuId> members,
                     const CollectiveTime& alone,
                     std::uint64_t label);

}  // namespace headway::network

#include "sim/network/fabric/storage_flows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/core/error.h"
#include "sim/network/fabric/route.h"

namespace headway::network {
namespace {

/// Share of a member's bytes on every link of its ways to all servers.
struct Shares {
  std::map<std::uint32_t, double> of_link;
  core::Seconds latency;  ///< of the longest way
};

Shares shares_of(const Fabric& fabric, core::GpuId gpu, bool write, std::uint64_t label) {
  Shares shares;
  const std::uint32_t targets = fabric.shape().storage_targets;
  for (std::uint32_t target = 0; target < targets; ++target) {
    const Route way = storage_route(fabric, gpu, target, write, label);
    for (const auto& hop : way.hops) {
      shares.of_link[hop.link.index()] +=
          static_cast<double>(hop.coefficient) / kCoefficientUnit / targets;
    }
    shares.latency = std::max(shares.latency, way.latency);
  }
  return shares;
}

/// Seconds of the member's bytes with the links to itself.
core::Seconds transfer_alone(const Fabric& fabric, const StorageCall& call, const Shares& shares) {
  core::Seconds slowest;
  if (call.client_bound.si() > 0) {
    slowest = call.bytes / call.client_bound;
  }
  for (const auto& [link, share] : shares.of_link) {
    slowest = std::max(slowest, call.bytes * share / fabric.link(core::LinkId(link)).capacity);
  }
  return slowest;
}

}  // namespace

Transfer emit_storage(const Fabric& fabric,
                      const StorageCall& call,
                      std::span<const core::GpuId> members,
                      const EmitOptions& options) {
  if (fabric.shape().storage_targets == 0) {
    throw core::Error("the fabric has no storage servers: storage hangs on a network of its own");
  }
  HEADWAY_CHECK(!members.empty() && call.bytes.si() > 0, "{} members, {} bytes", members.size(),
                call.bytes.si());
  Transfer transfer;
  core::Seconds longest_way;
  for (const auto gpu : members) {
    const Shares shares = shares_of(fabric, gpu, call.write, options.label);
    longest_way = std::max(longest_way, shares.latency);
    transfer.alone = std::max(transfer.alone, transfer_alone(fabric, call, shares));
    Flow flow;
    flow.size = call.bytes;
    flow.bound = call.client_bound;
    flow.first_use = static_cast<std::uint32_t>(transfer.uses.size());
    for (const auto& [link, share] : shares.of_link) {
      const auto coefficient = static_cast<std::uint32_t>(std::lround(share * kCoefficientUnit));
      if (!fabric.link(core::LinkId(link)).never_binds && coefficient > 0) {
        transfer.uses.push_back({link, coefficient});
      }
    }
    flow.uses = static_cast<std::uint32_t>(transfer.uses.size()) - flow.first_use;
    transfer.flows.push_back(flow);
  }
  const auto delay = call.latency + longest_way;
  transfer.delay = options.clock.to_ticks(delay);
  transfer.alone += delay;
  return transfer;
}

}  // namespace headway::network

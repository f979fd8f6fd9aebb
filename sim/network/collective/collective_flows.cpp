#include "sim/network/collective/collective_flows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "sim/core/error.h"
#include "sim/network/collective/collective_exchanges.h"
#include "sim/network/fabric/route.h"

namespace headway::network {
namespace {

using core::GpuId;
using core::LinkId;

/// Bytes that the whole call puts on each link, by link. Collected first and summed once: the sum
/// of a link is in the order in which its parts came.
class LinkLoads {
 public:
  void add(LinkId link, core::Bytes bytes) { loads_.emplace_back(link, bytes); }
  /// Sorts by link and adds up.
  void settle() {
    std::stable_sort(loads_.begin(), loads_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (i > 0 && loads_[i].first == loads_[kept - 1].first) {
        loads_[kept - 1].second += loads_[i].second;
      } else {
        loads_[kept++] = loads_[i];
      }
    }
    loads_.resize(kept);
  }
  [[nodiscard]] auto begin() const { return loads_.begin(); }
  [[nodiscard]] auto end() const { return loads_.end(); }

 private:
  std::vector<std::pair<LinkId, core::Bytes>> loads_;
};

/// The members of one NVLink domain, in ring order, and one of them for each rail that they sit on.
struct Domain {
  std::vector<GpuId> members;
  std::vector<GpuId> exits;
};

std::vector<Domain> group_by_domain(const Fabric& fabric, std::span<const GpuId> members) {
  std::vector<Domain> domains;
  std::map<std::uint32_t, std::size_t>
      index;  // NVLink domain -> place in `domains`, in order of first appearance
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      rails;  // per domain: (node, rail) of its exits
  std::uint32_t last_domain = 0;
  std::size_t last = 0;
  for (const auto gpu : members) {
    const auto place = fabric.place(gpu);
    if (domains.empty() ||
        place.domain != last_domain) {  // neighbours in the ring often share a domain
      last_domain = place.domain;
      last = index.try_emplace(place.domain, domains.size()).first->second;
      if (last == domains.size()) {
        domains.emplace_back();
        rails.emplace_back();
      }
    }
    domains[last].members.push_back(gpu);
    const std::pair rail{place.node, place.rail};
    if (std::find(rails[last].begin(), rails[last].end(), rail) == rails[last].end()) {
      rails[last].push_back(rail);
      domains[last].exits.push_back(gpu);
    }
  }
  return domains;
}

void add_hops(const Route& route, core::Bytes bytes, LinkLoads& loads) {
  for (const auto& hop : route.hops) {
    loads.add(hop.link, bytes * (static_cast<double>(hop.coefficient) / kCoefficientUnit));
  }
}

/// A flow's two ends and its label.
struct RouteEnds {
  GpuId from, to;
  std::uint64_t label = 0;
};

void add_route(const Fabric& fabric,
               const RouteEnds& ends,
               core::Bytes bytes,
               RouteCache* cache,
               LinkLoads& loads) {
  if (cache != nullptr) {
    add_hops(cache->find(fabric, ends.from, ends.to, ends.label), bytes, loads);
  } else {
    add_hops(route(fabric, ends.from, ends.to, ends.label), bytes, loads);
  }
}

/// `sent` bytes leave and enter every member over NVLink.
void add_scale_up(const Fabric& fabric, const Domain& domain, core::Bytes sent, LinkLoads& loads) {
  const std::size_t n = domain.members.size();
  if (n < 2 || fabric.shape().domain_gpus == 1 || sent.si() <= 0) {
    return;
  }
  const bool mesh = fabric.input().scale_up.kind == ScaleUpKind::mesh;
  for (const auto gpu : domain.members) {
    if (!mesh) {
      loads.add(fabric.scale_up_link(gpu.index(), true), sent);
      loads.add(fabric.scale_up_link(gpu.index(), false), sent);
      continue;
    }
    // Rings in different orders use all the cables of a mesh between the members evenly.
    for (const auto peer : domain.members) {
      if (peer != gpu) {
        loads.add(fabric.mesh_link(gpu.index(), peer.index()), sent / static_cast<double>(n - 1));
      }
    }
  }
}

/// `bytes` cross from one domain to the other, divided over the rails.
void add_crossing(const Fabric& fabric,
                  const Domain& from,
                  const Domain& to,
                  core::Bytes bytes,
                  const EmitOptions& options,
                  LinkLoads& loads) {
  const std::size_t channels = std::max(from.exits.size(), to.exits.size());
  for (std::size_t c = 0; c < channels; ++c) {
    add_route(fabric,
              {from.exits[c % from.exits.size()], to.exits[c % to.exits.size()], options.label + c},
              bytes / static_cast<double>(channels), options.routes, loads);
  }
}

/// Parent of node i > 0 in NCCL's binary tree: every odd node is a leaf, node 0 the root.
std::size_t tree_parent(std::size_t i, std::size_t n) {
  const std::size_t bit = i & (~i + 1);
  const std::size_t parent = (i ^ bit) | (bit << 1U);
  return parent < n ? parent : i ^ bit;
}

/// Two trees of half the bytes each, the second shifted by one (as NCCL does for an odd number of
/// nodes): up, then down.
void add_trees(const Fabric& fabric,
               const std::vector<Domain>& domains,
               core::Bytes message,
               const EmitOptions& options,
               LinkLoads& loads) {
  const std::size_t n = domains.size();
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
    for (std::size_t i = 1; i < n; ++i) {
      const auto& child = domains[(i + shift) % n];
      const auto& parent = domains[(tree_parent(i, n) + shift) % n];
      add_crossing(fabric, child, parent, message * 0.5, options, loads);
      add_crossing(fabric, parent, child, message * 0.5, options, loads);
    }
  }
}

/// The reducing switch takes every domain's bytes once and sends the result once: NIC links only.
void add_to_switch(const Fabric& fabric,
                   const Domain& domain,
                   core::Bytes message,
                   LinkLoads& loads) {
  const auto& s = fabric.shape();
  for (const auto gpu : domain.exits) {
    const auto place = fabric.place(gpu);
    for (std::uint32_t plane = 0; plane < s.planes; ++plane) {
      const auto part = message / static_cast<double>(domain.exits.size() * s.planes);
      loads.add(fabric.nic_link(place.node, place.rail, plane, true), part);
      loads.add(fabric.nic_link(place.node, place.rail, plane, false), part);
    }
  }
}

LinkLoads link_loads(const Fabric& fabric,
                     const CollectiveCall& call,
                     std::span<const GpuId> members,
                     const CollectiveTime& alone,
                     const EmitOptions& options) {
  LinkLoads loads;
  if (exchanges_messages(call.kind, alone.algorithm)) {
    for (const Exchange& e : exchanges(fabric, call, members, alone.algorithm)) {
      add_route(fabric, {e.from, e.to, options.label}, e.bytes, options.routes, loads);
    }
    return loads;
  }
  const auto domains = group_by_domain(fabric, members);
  for (const auto& domain : domains) {
    add_scale_up(fabric, domain, alone.scale_up_bytes, loads);
  }
  if (domains.size() < 2) {
    return loads;
  }
  if (alone.algorithm == Algorithm::tree || alone.algorithm == Algorithm::nvls_tree) {
    add_trees(fabric, domains, call.bytes, options, loads);
  } else if (alone.algorithm == Algorithm::collnet) {
    for (const auto& domain : domains) {
      add_to_switch(fabric, domain, call.bytes, loads);
    }
  } else {
    const auto rails = static_cast<double>(domains.front().exits.size());
    for (std::size_t i = 0; i < domains.size(); ++i) {
      add_crossing(fabric, domains[i], domains[(i + 1) % domains.size()], alone.nic_bytes * rails,
                   options, loads);
    }
  }
  return loads;
}

/// A measured time must be possible on the healthy links; a single hashed cable is contention, not
/// a contradiction.
void check_calibration(const Fabric& fabric,
                       const LinkLoads& loads,
                       const CollectiveCall& call,
                       std::size_t ranks,
                       const CollectiveTime& alone,
                       core::Seconds busy) {
  if (alone.source != TimeSource::measured_curve && alone.source != TimeSource::fitted_bounds) {
    return;
  }
  for (const auto& [id, bytes] : loads) {
    const auto& link = fabric.link(id);
    const bool hashed =
        !fabric.pooled() && (link.tier == Tier::leaf_spine || link.tier == Tier::spine_core);
    if (!hashed && !link.never_binds && bytes.si() > link.nominal.si() * busy.si() * (1 + 1e-6)) {
      throw core::Error(
          fmt::format("the measured time of {} ({:.6g} bytes, {} ranks: {:.6g} us) needs {:.4g} "
                      "GB/s on {}, which carries {:.4g} GB/s",
                      core::to_word(call.kind), call.bytes.si(), ranks, alone.total.si() * 1e6,
                      (bytes / busy).si() / 1e9, fabric.describe(id), link.nominal.si() / 1e9));
    }
  }
}

/// One flow whose rate is that of the busiest link; the others follow in lockstep.
Transfer lockstep(const Fabric& fabric,
                  const LinkLoads& loads,
                  const CollectiveTime& alone,
                  const core::Clock& clock) {
  Transfer transfer;
  transfer.alone = alone.total;
  core::Bytes busiest;
  for (const auto& [id, bytes] : loads) {
    busiest = fabric.link(id).never_binds ? busiest : std::max(busiest, bytes);
  }
  const core::Tick total = clock.to_ticks(alone.total);
  transfer.delay = std::min(total, clock.to_ticks(alone.alpha));
  const core::Tick moving = total - transfer.delay;
  if (busiest.si() <= 0 || moving == 0) {
    transfer.delay = total;
    return transfer;
  }
  Flow flow;
  flow.size = busiest;
  flow.bound = busiest / clock.to_seconds(moving);
  for (const auto& [id, bytes] : loads) {
    const auto coefficient =
        static_cast<std::uint32_t>(std::lround(bytes / busiest * kCoefficientUnit));
    if (!fabric.link(id).never_binds && coefficient > 0) {
      transfer.uses.push_back({id.index(), coefficient});
    }
  }
  flow.uses = static_cast<std::uint32_t>(transfer.uses.size());
  transfer.flows.push_back(flow);
  return transfer;
}

Transfer timed_event(const CollectiveTime& alone, const core::Clock& clock) {
  Transfer transfer;
  transfer.alone = alone.total;
  transfer.delay = clock.to_ticks(alone.total);
  return transfer;
}

}  // namespace

const Route& RouteCache::find(const Fabric& fabric, GpuId from, GpuId to, std::uint64_t label) {
  const bool hashed = fabric.input().fabric.routing == Routing::ecmp;
  const Key key{(std::uint64_t{from.index()} << 32U) | to.index(), hashed ? label : 0};
  const auto [place, fresh] = routes_.try_emplace(key);
  if (fresh) {
    place->second = route(fabric, from, to, label);
  }
  return place->second;
}

Transfer emit_collective(const Fabric& fabric,
                         const CollectiveCall& call,
                         std::span<const GpuId> members,
                         const CollectiveTime& alone,
                         const EmitOptions& options) {
  if (options.timed || members.size() < 2 || alone.total.si() <= 0) {
    return timed_event(alone, options.clock);
  }
  if (call.kind == core::CollectiveKind::send_receive) {
    HEADWAY_CHECK(members.size() == 2, "send/receive between {} GPUs", members.size());
    return emit_send(fabric, call.bytes, members[0], members[1], alone, options);
  }
  LinkLoads loads = link_loads(fabric, call, members, alone, options);
  loads.settle();
  check_calibration(fabric, loads, call, members.size(), alone, alone.total - alone.alpha);
  return lockstep(fabric, loads, alone, options.clock);
}

Transfer emit_send(const Fabric& fabric,
                   core::Bytes bytes,
                   GpuId from,
                   GpuId to,
                   const CollectiveTime& alone,
                   const EmitOptions& options) {
  if (options.timed || from == to) {
    return timed_event(alone, options.clock);
  }
  LinkLoads loads;
  add_route(fabric, {from, to, options.label}, bytes, nullptr, loads);
  loads.settle();
  const CollectiveCall call{core::CollectiveKind::send_receive, bytes, {}, {}};
  check_calibration(fabric, loads, call, 2, alone, alone.total - alone.alpha);
  return lockstep(fabric, loads, alone, options.clock);
}

LinkNumbers::LinkNumbers(const Fabric& fabric)
    : fabric_(&fabric), number_(fabric.links().size(), UINT32_MAX) {}

LinkNumbers::LinkNumbers(const Fabric& fabric, std::vector<LinkId> fabric_links)
    : LinkNumbers(fabric) {
  fabric_links_ = std::move(fabric_links);
  for (std::size_t l = 0; l < fabric_links_.size(); ++l) {
    number_[fabric_links_[l].index()] = static_cast<std::uint32_t>(l);
  }
}

std::uint32_t LinkNumbers::number(LinkId link, Problem& problem) {
  auto& number = number_[link.index()];
  if (number == UINT32_MAX) {
    number = static_cast<std::uint32_t>(problem.links.size());
    problem.links.push_back({fabric_->link(link).capacity});
    fabric_links_.push_back(link);
  }
  return number;
}

std::uint32_t append(const Transfer& transfer,
                     std::uint32_t need,
                     core::Activity activity,
                     std::uint16_t name,
                     LinkNumbers& numbers,
                     Problem& problem) {
  HEADWAY_CHECK(problem.coefficient_unit == kCoefficientUnit || problem.uses.empty(),
                "coefficient unit {}", problem.coefficient_unit);
  problem.coefficient_unit = kCoefficientUnit;
  const auto index = static_cast<std::uint32_t>(problem.groups.size());
  TransferGroup group;
  group.need = need;
  group.delay = transfer.delay;
  group.first_flow = static_cast<std::uint32_t>(problem.flows.size());
  group.flows = static_cast<std::uint32_t>(transfer.flows.size());
  group.activity = activity;
  group.name = name;
  for (Flow flow : transfer.flows) {
    flow.group = index;
    flow.first_use += static_cast<std::uint32_t>(problem.uses.size());
    problem.flows.push_back(flow);
  }
  for (const auto& use : transfer.uses) {
    problem.uses.push_back({numbers.number(LinkId(use.link), problem), use.coefficient});
  }
  problem.groups.push_back(group);
  return index;
}

}  // namespace headway::network

#include "sim/network/collective/link_loads.h"

#include <algorithm>
#include <map>

#include "sim/core/error.h"
#include "sim/network/collective/collective_exchanges.h"
#include "sim/network/collective/exchange_count.h"

namespace headway::network {
namespace {

using core::Bytes;
using core::GpuId;
using core::LinkId;

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

/// Adds the edges of algorithms to the loads.
class Edges {
 public:
  Edges(const Fabric& fabric, std::uint64_t label, RouteCache* routes, LinkLoads& loads)
      : fabric_(fabric), label_(label), routes_(routes), loads_(loads) {}

  void add_message(GpuId from, GpuId to, Bytes bytes, std::uint64_t channel = 0) {
    if (routes_ != nullptr) {
      add_hops(routes_->find(fabric_, from, to, label_ + channel), bytes);
    } else {
      add_hops(route(fabric_, from, to, label_ + channel).hops, bytes);
    }
  }

  /// `sent` bytes leave and enter every member over NVLink.
  void add_scale_up(const Domain& domain, Bytes sent) {
    const std::size_t n = domain.members.size();
    if (n < 2 || fabric_.shape().domain_gpus == 1 || sent.si() <= 0) {
      return;
    }
    const bool mesh = fabric_.input().scale_up.kind == ScaleUpKind::mesh;
    for (const auto gpu : domain.members) {
      if (!mesh) {
        loads_.add(fabric_.scale_up_link(gpu.index(), true), sent);
        loads_.add(fabric_.scale_up_link(gpu.index(), false), sent);
        continue;
      }
      // Rings in different orders use all the cables of a mesh between the members evenly.
      for (const auto peer : domain.members) {
        if (peer != gpu) {
          loads_.add(fabric_.mesh_link(gpu.index(), peer.index()),
                     sent / static_cast<double>(n - 1));
        }
      }
    }
  }

  /// `bytes` cross from one domain to the other, divided over the rails.
  void add_crossing(const Domain& from, const Domain& to, Bytes bytes) {
    const std::size_t channels = std::max(from.exits.size(), to.exits.size());
    for (std::size_t c = 0; c < channels; ++c) {
      add_message(from.exits[c % from.exits.size()], to.exits[c % to.exits.size()],
                  bytes / static_cast<double>(channels), c);
    }
  }

  void add_ring(const std::vector<Domain>& domains, Bytes bytes_of_rail) {
    const auto rails = static_cast<double>(domains.front().exits.size());
    for (std::size_t i = 0; i < domains.size(); ++i) {
      add_crossing(domains[i], domains[(i + 1) % domains.size()], bytes_of_rail * rails);
    }
  }

  /// Two trees of half the bytes each, the second shifted by one (as NCCL does for an odd number of
  /// nodes): up, then down.
  void add_trees(const std::vector<Domain>& domains, Bytes message) {
    const std::size_t n = domains.size();
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
      for (std::size_t i = 1; i < n; ++i) {
        const auto& child = domains[(i + shift) % n];
        const auto& parent = domains[(tree_parent(i, n) + shift) % n];
        add_crossing(child, parent, message * 0.5);
        add_crossing(parent, child, message * 0.5);
      }
    }
  }

  /// The reducing switch takes every domain's bytes once and sends the result once: NIC links only.
  void add_to_switch(const Domain& domain, Bytes message) {
    const auto& s = fabric_.shape();
    for (const auto gpu : domain.exits) {
      const auto place = fabric_.place(gpu);
      for (std::uint32_t plane = 0; plane < s.planes; ++plane) {
        const auto part = message / static_cast<double>(domain.exits.size() * s.planes);
        loads_.add(fabric_.nic_link(place.node, place.rail, plane, true), part);
        loads_.add(fabric_.nic_link(place.node, place.rail, plane, false), part);
      }
    }
  }

 private:
  void add_hops(std::span<const RouteHop> hops, Bytes bytes) {
    for (const auto& hop : hops) {
      loads_.add(hop.link, bytes * (static_cast<double>(hop.coefficient) / kCoefficientUnit));
    }
  }

  const Fabric& fabric_;
  std::uint64_t label_;
  RouteCache* routes_;
  LinkLoads& loads_;
};

/// Of messages that are routed one by one: some tens of seconds. Source: chosen.
constexpr double kMostMessages = 1e8;

void check_messages(const Fabric& fabric, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (n * (n - 1) > kMostMessages) {
    throw core::Error(fmt::format(
        "an exchange of {} ranks has {:.3g} messages, and where routing is '{}', cables are down "
        "or "
        "the fabric is a dragonfly each must be routed by itself, at most {:.0g}: take fewer GPUs, "
        "or fabric.routing adaptive on healthy leaves and spines",
        ranks, n * (n - 1), core::to_word(fabric.input().fabric.routing), kMostMessages));
  }
}

void add_exchange(const Fabric& fabric,
                  const CollectiveCall& call,
                  std::span<const GpuId> members,
                  Algorithm algorithm,
                  Edges& edges,
                  LinkLoads& loads) {
  if (algorithm == Algorithm::pairwise && can_count_exchange(fabric)) {
    add_counted_exchange(fabric, members, call.bytes / static_cast<double>(members.size()), loads);
    return;
  }
  if (algorithm == Algorithm::pairwise) {
    check_messages(fabric, members.size());
  }
  for_each_exchange(fabric, call, members, algorithm,
                    [&](GpuId from, GpuId to, Bytes bytes) { edges.add_message(from, to, bytes); });
}

void add_domains(const Fabric& fabric,
                 const CollectiveCall& call,
                 std::span<const GpuId> members,
                 const CollectiveTime& alone,
                 Edges& edges) {
  const auto domains = group_by_domain(fabric, members);
  for (const auto& domain : domains) {
    edges.add_scale_up(domain, alone.scale_up_bytes);
  }
  if (domains.size() < 2) {
    return;
  }
  if (alone.algorithm == Algorithm::tree || alone.algorithm == Algorithm::nvls_tree) {
    edges.add_trees(domains, call.bytes);
  } else if (alone.algorithm == Algorithm::collnet) {
    for (const auto& domain : domains) {
      edges.add_to_switch(domain, call.bytes);
    }
  } else {
    edges.add_ring(domains, alone.nic_bytes);
  }
}

}  // namespace

std::size_t tree_parent(std::size_t i, std::size_t n) {
  const std::size_t bit = i & (~i + 1);
  const std::size_t parent = (i ^ bit) | (bit << 1U);
  return parent < n ? parent : i ^ bit;
}

void LinkLoads::add(LinkId link, Bytes bytes) {
  constexpr std::size_t kMany = 1U << 20U;
  loads_.emplace_back(link, bytes);
  if (loads_.size() > std::max(kMany, 2 * links_)) {
    settle();
  }
}

void LinkLoads::settle() {
  if (loads_.size() > links_) {
    settle_many();
    return;
  }
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

/// The same sums, in a table of all links.
void LinkLoads::settle_many() {
  std::vector<Bytes> sums(links_);
  for (const auto& [link, bytes] : loads_) {
    sums[link.index()] += bytes;
  }
  loads_.clear();
  for (std::size_t l = 0; l < links_; ++l) {
    if (sums[l].si() > 0) {
      loads_.emplace_back(LinkId(static_cast<std::uint32_t>(l)), sums[l]);
    }
  }
}

/// @returns where the key is, or the number of keys
std::size_t RouteCache::search(const Key& key) {
  for (std::size_t place = place_.size(); place < keys_.size(); ++place) {
    place_.try_emplace(keys_[place], place);
  }
  const auto found = place_.find(key);
  return found == place_.end() ? keys_.size() : found->second;
}

std::span<const RouteHop> RouteCache::find(const Fabric& fabric,
                                           GpuId from,
                                           GpuId to,
                                           std::uint64_t label) {
  const bool hashed = fabric.input().fabric.routing == Routing::ecmp;
  const Key key{(std::uint64_t{from.index()} << 32U) | to.index(), hashed ? label : 0};
  if (!grows_ && !is_at(next_, key)) {
    next_ = search(key);
  }
  grows_ = next_ == keys_.size();
  if (grows_) {
    const Route way = route(fabric, from, to, label);
    keys_.push_back(key);
    hops_.insert(hops_.end(), way.hops.begin(), way.hops.end());
    first_hop_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  const std::size_t place = next_++;
  return std::span(hops_).subspan(first_hop_[place], first_hop_[place + 1] - first_hop_[place]);
}

LinkLoads link_loads(const Fabric& fabric,
                     const CollectiveCall& call,
                     std::span<const GpuId> members,
                     const CollectiveTime& alone,
                     std::uint64_t label,
                     RouteCache* routes) {
  LinkLoads loads(fabric);
  if (routes != nullptr) {
    routes->begin();
  }
  Edges edges(fabric, label, routes, loads);
  if (call.kind == core::CollectiveKind::send_receive) {
    edges.add_message(members[0], members[1], call.bytes);
  } else if (exchanges_messages(call.kind, alone.algorithm)) {
    add_exchange(fabric, call, members, alone.algorithm, edges, loads);
  } else {
    add_domains(fabric, call, members, alone, edges);
  }
  loads.settle();
  return loads;
}

}  // namespace headway::network

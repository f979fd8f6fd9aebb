#include "sim/network/collective/link_loads.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/collective/collective_exchanges.h"
#include "sim/network/collective/exchange_count.h"
#include "sim/network/fabric/route.h"

namespace headway::network {
namespace {

using core::Bytes;
using core::GpuId;
using core::LinkId;

/// The members of one NVLink domain, in ring order, and one of them for each rail that they sit on.
struct Domain {
  std::span<const GpuId> members;
  std::span<const GpuId> exits;
};

/// The domains of a group, in order of first appearance.
class Domains {
 public:
  Domains(const Fabric& fabric, std::span<const GpuId> members) {
    std::vector<std::uint32_t> domain_of;
    domain_of.reserve(members.size());
    for (const GpuId gpu : members) {
      domain_of.push_back(gpu.index() / fabric.shape().domain_gpus);
    }
    if (!in_runs(domain_of)) {
      members = side_by_side(domain_of, members);
    }
    exits_.reserve(members.size());
    for (std::size_t begin = 0; begin < members.size();) {
      std::size_t end = begin + 1;
      while (end < members.size() && domain_of[end] == domain_of[begin]) {
        ++end;
      }
      add(fabric, members.subspan(begin, end - begin));
      begin = end;
    }
  }
  Domains(const Domains&) = delete;
  Domains& operator=(const Domains&) = delete;

  [[nodiscard]] const std::vector<Domain>& list() const { return domains_; }

 private:
  /// Whether each domain's members surely follow one another: domains rise.
  static bool in_runs(const std::vector<std::uint32_t>& domain_of) {
    return std::is_sorted(domain_of.begin(), domain_of.end());
  }

  /// Brings the members of a domain together, where its first is.
  std::span<const GpuId> side_by_side(std::vector<std::uint32_t>& domain_of,
                                      std::span<const GpuId> members) {
    std::map<std::uint32_t, std::size_t> first;
    for (std::size_t i = 0; i < members.size(); ++i) {
      first.try_emplace(domain_of[i], i);
    }
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return first.at(domain_of[a]) < first.at(domain_of[b]);
    });
    std::vector<std::uint32_t> domains;
    for (const std::size_t i : order) {
      ordered_.push_back(members[i]);
      domains.push_back(domain_of[i]);
    }
    domain_of = std::move(domains);
    return ordered_;
  }

  void add(const Fabric& fabric, std::span<const GpuId> members) {
    rails_.clear();
    const std::size_t first = exits_.size();
    for (const GpuId gpu : members) {
      const GpuPlace place = fabric.place(gpu);
      const std::pair rail{place.node, place.rail};
      if (std::find(rails_.begin(), rails_.end(), rail) == rails_.end()) {
        rails_.push_back(rail);
        exits_.push_back(gpu);
      }
    }
    domains_.push_back({members, std::span<const GpuId>(exits_).subspan(first)});
  }

  std::vector<GpuId> ordered_;  ///< the members, if they had to be brought together
  std::vector<GpuId> exits_;    ///< of all domains; never grows beyond its first room
  std::vector<Domain> domains_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rails_;  ///< scratch of add
};

/// Adds the edges of algorithms to the loads.
class Edges {
 public:
  Edges(const Fabric& fabric, std::uint64_t label, LinkLoads& loads)
      : fabric_(fabric), label_(label), loads_(loads) {}

  void add_message(GpuId from, GpuId to, Bytes bytes, std::uint64_t channel = 0) {
    find_route(fabric_, from, to, label_ + channel, way_);
    for (const RouteHop& hop : way_.hops) {
      loads_.add(hop.link, bytes * (static_cast<double>(hop.coefficient) / kCoefficientUnit));
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
  const Fabric& fabric_;
  std::uint64_t label_;
  LinkLoads& loads_;
  Route way_;  ///< scratch of add_message
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
  const Domains grouped(fabric, members);
  const std::vector<Domain>& domains = grouped.list();
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

/// Each site by itself, then the ring over the ranks of each place.
void add_sites(const Fabric& fabric,
               const CollectiveCall& call,
               std::span<const GpuId> members,
               const CollectiveTime& alone,
               Edges& edges) {
  std::map<std::uint32_t, std::vector<GpuId>> sites;
  for (const GpuId gpu : members) {
    sites[fabric.site_of(fabric.place(gpu).node)].push_back(gpu);
  }
  std::vector<const std::vector<GpuId>*> ring;
  for (const auto& [site, ranks] : sites) {
    add_domains(fabric, call, ranks, alone, edges);
    ring.push_back(&ranks);
  }
  const std::size_t ranks = ring.front()->size();
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto& from = *ring[i];
    const auto& to = *ring[(i + 1) % ring.size()];
    HEADWAY_CHECK(from.size() == ranks, "sites with {} and {} ranks", ranks, from.size());
    for (std::size_t r = 0; r < ranks; ++r) {
      edges.add_message(from[r], to[r], alone.site_bytes);
    }
  }
}

}  // namespace

std::size_t tree_parent(std::size_t i, std::size_t n) {
  const std::size_t bit = i & (~i + 1);
  const std::size_t parent = (i ^ bit) | (bit << 1U);
  return parent < n ? parent : i ^ bit;
}

void LinkLoads::add(LinkId link, Bytes bytes) {
  if (fabric_.link(link).never_binds && !all_) {
    return;
  }
  if (!sums_.empty()) {
    sums_[link.index()] += bytes;
    return;
  }
  loads_.emplace_back(link, bytes);
  constexpr std::size_t kLinksPassed = 8;  // in the time in which one load is sorted
  if (loads_.size() > fabric_.link_count() / kLinksPassed) {
    sums_.resize(fabric_.link_count());
    for (const auto& [of, part] : loads_) {
      sums_[of.index()] += part;
    }
    loads_ = {};
  }
}

void LinkLoads::settle() {
  if (!sums_.empty()) {
    size_ = static_cast<std::size_t>(
        std::count_if(sums_.begin(), sums_.end(), [](Bytes sum) { return sum.si() > 0; }));
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
  size_ = kept;
}

bool between_neighbours(const CollectiveCall& call, const CollectiveTime& alone) {
  return call.kind != core::CollectiveKind::send_receive && alone.site_bytes.si() <= 0 &&
         !exchanges_messages(call.kind, alone.algorithm) && alone.algorithm != Algorithm::tree &&
         alone.algorithm != Algorithm::nvls_tree;
}

LinkLoads link_loads(const Fabric& fabric,
                     const CollectiveCall& call,
                     std::span<const GpuId> members,
                     const CollectiveTime& alone,
                     std::uint64_t label) {
  LinkLoads loads(fabric);
  Edges edges(fabric, label, loads);
  if (call.kind == core::CollectiveKind::send_receive) {
    edges.add_message(members[0], members[1], call.bytes);
  } else if (alone.site_bytes.si() > 0) {
    add_sites(fabric, call, members, alone, edges);
  } else if (exchanges_messages(call.kind, alone.algorithm)) {
    add_exchange(fabric, call, members, alone.algorithm, edges, loads);
  } else {
    add_domains(fabric, call, members, alone, edges);
  }
  loads.settle();
  return loads;
}

}  // namespace headway::network

// Stepped collectives that pass the array on in pieces: chains, trees, reducing switches.
#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "sim/network/fabric/route.h"
#include "sim/network/stepped/stepped_programs.h"

namespace headway::network {
namespace {

/// The groups of one edge, used in turn by consecutive pieces.
using Lanes = std::vector<std::uint32_t>;

Lanes lanes_of(StepPrograms& programs,
               std::size_t from,
               std::size_t to,
               const Pieces& pieces,
               core::Bytes bytes) {
  Lanes lanes;
  for (std::size_t lane = 0; lane < pieces.lanes; ++lane) {
    lanes.push_back(programs.ring_message(from, to, bytes / static_cast<double>(pieces.count)));
  }
  return lanes;
}

Lanes lanes_of(StepPrograms& programs,
               const LinkSet& set,
               const Pieces& pieces,
               core::Bytes bytes) {
  Lanes lanes;
  for (std::size_t lane = 0; lane < pieces.lanes; ++lane) {
    lanes.push_back(programs.message(set, bytes / static_cast<double>(pieces.count)));
  }
  return lanes;
}

/// Program of a stream that takes each piece from all of `in` and passes it on to all of `out`.
void append_relay(StepPrograms& programs,
                  std::size_t actor,
                  const Pieces& pieces,
                  const std::vector<Lanes>& in,
                  const std::vector<Lanes>& out) {
  const bool blocking = programs.options().dependency == Dependency::blocking;
  const auto pass_on = [&](std::size_t lane) {
    for (const Lanes& lanes : in) {
      programs.wait(actor, lanes[lane]);
    }
    for (const Lanes& lanes : out) {
      programs.send(actor, lanes[lane]);
    }
    for (const Lanes& lanes : blocking ? out : std::vector<Lanes>{}) {
      programs.wait(actor, lanes[lane]);
    }
    if (!blocking && !out.empty()) {
      programs.compute(actor, pieces.pace);
    }
  };
  const auto lanes = static_cast<std::int64_t>(pieces.lanes);
  programs.loop(actor, pieces.count / lanes);
  for (std::size_t lane = 0; lane < pieces.lanes; ++lane) {
    pass_on(lane);
  }
  programs.end_loop(actor);
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(pieces.count % lanes); ++lane) {
    pass_on(lane);
  }
}

/// The slowest link and the longest latency of some routes.
struct Wire {
  core::BytesPerSecond rate{std::numeric_limits<double>::infinity()};
  core::Seconds latency;

  void include(const StepPrograms& programs, std::size_t from, std::size_t to) {
    const Route way = programs.ring_way(from, to);
    latency = std::max(latency, way.latency);
    for (const RouteHop& hop : way.hops) {
      const double share = static_cast<double>(hop.coefficient) / kCoefficientUnit;
      rate = std::min(rate, programs.fabric().link(hop.link).capacity / share);
    }
  }
};

/// One tree over the ranks: parent of each, children of each; the root is its own parent.
struct Tree {
  std::vector<std::size_t> parent;
  std::vector<std::vector<std::size_t>> children;

  explicit Tree(std::size_t ranks) : parent(ranks), children(ranks) {
    for (std::size_t i = 0; i < ranks; ++i) {
      parent[i] = i;
    }
  }
  void join(std::size_t child, std::size_t above) {
    parent[child] = above;
    children[above].push_back(child);
  }
};

/// Domains form a binary tree, their ranks chains that begin at the rank on the channel's rail.
Tree domain_tree(const std::vector<std::vector<std::size_t>>& domains,
                 std::size_t ranks,
                 std::size_t channel,
                 std::size_t shift) {
  Tree tree(ranks);
  const auto exit_of = [&](std::size_t d) { return domains[d][channel % domains[d].size()]; };
  const std::size_t n = domains.size();
  for (std::size_t d = 0; d < n; ++d) {
    const auto& chain = domains[d];
    for (std::size_t j = 1; j < chain.size(); ++j) {
      tree.join(chain[(channel + j) % chain.size()], chain[(channel + j - 1) % chain.size()]);
    }
  }
  for (std::size_t i = 1; i < n; ++i) {
    tree.join(exit_of((i + shift) % n), exit_of((tree_parent(i, n) + shift) % n));
  }
  return tree;
}

/// Pieces climb to the root, reduced on the way, and come down again.
void append_tree(StepPrograms& programs, const Tree& tree, core::Bytes bytes) {
  const std::size_t n = tree.parent.size();
  Wire wire;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (tree.parent[rank] != rank) {
      wire.include(programs, rank, tree.parent[rank]);
    }
  }
  const Pieces pieces = cut(bytes, wire.rate, wire.latency, programs.options());
  std::vector<Lanes> up(n), down(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (tree.parent[rank] != rank) {
      up[rank] = lanes_of(programs, rank, tree.parent[rank], pieces, bytes);
      down[rank] = lanes_of(programs, tree.parent[rank], rank, pieces, bytes);
    }
  }
  for (std::size_t rank = 0; rank < n; ++rank) {
    std::vector<Lanes> from_below, to_below;
    for (const std::size_t child : tree.children[rank]) {
      from_below.push_back(up[child]);
      to_below.push_back(down[child]);
    }
    if (tree.parent[rank] == rank) {
      append_relay(programs, programs.add_actor(), pieces, from_below, to_below);
      continue;
    }
    append_relay(programs, programs.add_actor(), pieces, from_below, {up[rank]});
    append_relay(programs, programs.add_actor(), pieces, {down[rank]}, to_below);
  }
}

}  // namespace

namespace {

/// Along `chain`, whose ranks are these actors.
void append_one_chain(StepPrograms& programs,
                      const std::vector<std::size_t>& chain,
                      const std::vector<std::size_t>& actors,
                      std::size_t chains_a_nic,
                      core::Bytes bytes) {
  const std::size_t n = chain.size();
  Wire wire;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    wire.include(programs, chain[i], chain[i + 1]);
  }
  const Pieces pieces =
      cut(bytes, wire.rate / static_cast<double>(chains_a_nic), wire.latency, programs.options());
  std::vector<Lanes> into(n);
  for (std::size_t i = 1; i < n; ++i) {
    into[i] = lanes_of(programs, chain[i - 1], chain[i], pieces, bytes);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto in = i > 0 ? std::vector<Lanes>{into[i]} : std::vector<Lanes>{};
    const auto out = i + 1 < n ? std::vector<Lanes>{into[i + 1]} : std::vector<Lanes>{};
    append_relay(programs, actors[i], pieces, in, out);
  }
}

}  // namespace

void append_chain(StepPrograms& programs, core::Bytes bytes) {
  const auto all = rings(programs);
  const auto place = [&](std::size_t rank) {
    return programs.fabric().place(programs.members()[rank]);
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (const auto& ring : all) {
    entries.emplace(place(ring.front()).node, place(ring.front()).rail);
  }
  const bool apart = ranks_by_domain(programs).size() > 1;
  const std::size_t chains_a_nic =
      apart ? (all.size() + entries.size() - 1) / entries.size() : std::size_t{1};
  for (std::size_t c = 0; c < all.size(); ++c) {
    std::vector<std::size_t> ring = all[c];
    std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), 0U), ring.end());
    std::vector<std::size_t> actors = ring;
    if (c > 0) {
      std::generate(actors.begin(), actors.end(), [&] { return programs.add_actor(); });
    }
    append_one_chain(programs, ring, actors, chains_a_nic, bytes / static_cast<double>(all.size()));
  }
}

void append_trees(StepPrograms& programs, core::Bytes bytes) {
  const auto domains = ranks_by_domain(programs);
  std::size_t channels = 1;
  for (const auto& domain : domains) {
    channels = std::max(channels, domain.size());
  }
  const std::size_t trees = domains.size() > 2 ? 2 : 1;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t t = 0; t < trees; ++t) {
      append_tree(programs, domain_tree(domains, programs.ranks(), c, t),
                  bytes / static_cast<double>(channels * trees));
    }
  }
}

void append_nvls(StepPrograms& programs, core::CollectiveKind kind, core::Bytes bytes) {
  const std::size_t n = programs.ranks();
  const core::Bytes slice = bytes / static_cast<double>(n);
  const auto link = [&](std::size_t rank, bool up) {
    return RouteHop{programs.fabric().scale_up_link(programs.members()[rank].index(), up),
                    kCoefficientUnit};
  };
  Wire wire;
  wire.include(programs, 0, 1);
  // All slices share the links: a piece of each sets out in the time that one whole piece takes.
  const Pieces pieces = cut(bytes, wire.rate, wire.latency, programs.options());
  for (std::size_t owner = 0; owner < n; ++owner) {
    LinkSet reduce{{link(owner, false)}, wire.latency}, spread{{link(owner, true)}, wire.latency};
    for (std::size_t rank = 0; rank < n; ++rank) {
      reduce.hops.push_back(link(rank, true));
      spread.hops.push_back(link(rank, false));
    }
    std::vector<Lanes> reduced, spread_out;
    if (kind != core::CollectiveKind::all_gather) {
      reduced.push_back(lanes_of(programs, reduce, pieces, slice));
      append_relay(programs, owner, pieces, {}, reduced);
    }
    if (kind != core::CollectiveKind::reduce_scatter) {
      spread_out.push_back(lanes_of(programs, spread, pieces, slice));
      append_relay(programs, programs.add_actor(), pieces, reduced, spread_out);
    }
  }
}

namespace {

/// The domain of one owner: reduced in its switch to the owner, spread from it.
struct Multicast {
  LinkSet reduce, spread;
};

Multicast multicast(const StepPrograms& programs,
                    const std::vector<std::size_t>& domain,
                    std::size_t owner) {
  const auto link = [&](std::size_t rank, bool up) {
    return RouteHop{programs.fabric().scale_up_link(programs.members()[rank].index(), up),
                    kCoefficientUnit};
  };
  Wire wire;
  wire.include(programs, domain[0], domain[1]);
  Multicast sets{{{link(owner, false)}, wire.latency}, {{link(owner, true)}, wire.latency}};
  for (const std::size_t rank : domain) {
    sets.reduce.hops.push_back(link(rank, true));
    sets.spread.hops.push_back(link(rank, false));
  }
  return sets;
}

/// One tree over the owners of one part, a rank in each domain: pieces are reduced in the domain's
/// switch, climb, come down and are spread by the switch.
void append_nvls_tree(StepPrograms& programs,
                      const std::vector<std::vector<std::size_t>>& domains,
                      std::size_t rail,
                      std::size_t shift,
                      core::Bytes bytes) {
  const std::size_t n = domains.size();
  const auto owner = [&](std::size_t i) { return domains[(i + shift) % n][rail]; };
  Wire wire;
  for (std::size_t i = 1; i < n; ++i) {
    wire.include(programs, owner(i), owner(tree_parent(i, n)));
  }
  const Pieces pieces = cut(bytes, wire.rate, wire.latency, programs.options());
  std::vector<std::vector<Lanes>> into_root(n), from_root(n);  // what each relay takes, and sends
  std::vector<Lanes> up(n), down(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Multicast sets = multicast(programs, domains[(i + shift) % n], owner(i));
    into_root[i].push_back(lanes_of(programs, sets.reduce, pieces, bytes));
    from_root[i].push_back(lanes_of(programs, sets.spread, pieces, bytes));
    append_relay(programs, programs.add_actor(), pieces, {}, into_root[i]);
  }
  for (std::size_t i = 1; i < n; ++i) {
    const std::size_t parent = tree_parent(i, n);
    up[i] = lanes_of(programs, owner(i), owner(parent), pieces, bytes);
    down[i] = lanes_of(programs, owner(parent), owner(i), pieces, bytes);
    into_root[parent].push_back(up[i]);
    from_root[parent].push_back(down[i]);
  }
  append_relay(programs, programs.add_actor(), pieces, into_root[0], from_root[0]);
  for (std::size_t i = 1; i < n; ++i) {
    append_relay(programs, programs.add_actor(), pieces, into_root[i], {up[i]});
    append_relay(programs, programs.add_actor(), pieces, {down[i]}, from_root[i]);
  }
}

}  // namespace

void append_nvls_trees(StepPrograms& programs,
                       const std::vector<std::vector<std::size_t>>& domains,
                       core::Bytes bytes) {
  const std::size_t rails = domains.front().size();
  const std::size_t trees = domains.size() > 2 ? 2 : 1;
  for (std::size_t rail = 0; rail < rails; ++rail) {
    for (std::size_t tree = 0; tree < trees; ++tree) {
      append_nvls_tree(programs, domains, rail, tree, bytes / static_cast<double>(rails * trees));
    }
  }
}

void append_broadcast_tree(StepPrograms& programs, core::Bytes bytes) {
  const std::size_t n = programs.ranks();
  const Tree tree = domain_tree(ranks_by_domain(programs), n, 0, 0);
  Wire wire;
  for (std::size_t rank = 1; rank < n; ++rank) {
    wire.include(programs, tree.parent[rank], rank);
  }
  const Pieces pieces = cut(bytes, wire.rate, wire.latency, programs.options());
  std::vector<Lanes> into(n);
  for (std::size_t rank = 1; rank < n; ++rank) {
    into[rank] = lanes_of(programs, tree.parent[rank], rank, pieces, bytes);
  }
  for (std::size_t rank = 0; rank < n; ++rank) {
    std::vector<Lanes> out;
    for (const std::size_t child : tree.children[rank]) {
      out.push_back(into[child]);
    }
    append_relay(programs, rank, pieces,
                 rank > 0 ? std::vector<Lanes>{into[rank]} : std::vector<Lanes>{}, out);
  }
}

void append_in_switch(StepPrograms& programs,
                      const std::vector<std::vector<std::size_t>>& parts,
                      core::Bytes bytes) {
  const Fabric& fabric = programs.fabric();
  const std::uint32_t planes = fabric.shape().planes;
  for (const auto& ranks : parts) {
    LinkSet set;
    for (const std::size_t rank : ranks) {
      const GpuPlace place = fabric.place(programs.members()[rank]);
      for (std::uint32_t plane = 0; plane < planes && ranks.size() > 1; ++plane) {
        for (const bool up : {true, false}) {
          set.hops.push_back(
              {fabric.nic_link(place.node, place.rail, plane, up), kCoefficientUnit / planes});
        }
      }
      // Up to the switch that all share and down again: the way to the farthest of them.
      const core::GpuId first = programs.members()[ranks.front()];
      set.latency = std::max(set.latency, route(fabric, first, programs.members()[rank]).latency);
    }
    if (ranks.size() > 1) {
      const std::uint32_t group = programs.message(set, bytes);
      for (const std::size_t rank : ranks) {
        programs.send(rank, group);
        programs.wait(rank, group);
      }
    }
  }
}

}  // namespace headway::network

// Rings of stepped collectives: which ranks follow one another, on how many rings.
#include <algorithm>
#include <set>
#include <utility>

#include "sim/network/stepped/stepped_programs.h"

namespace headway::network {
namespace {

using RankSet = std::vector<std::size_t>;

bool mesh(const StepPrograms& programs) {
  return programs.fabric().input().scale_up.kind == ScaleUpKind::mesh;
}

/// Positions in a domain where rings begin: one a rail, on a mesh every member.
std::vector<std::size_t> starts(const StepPrograms& programs, const RankSet& domain) {
  std::vector<std::size_t> list;
  std::set<std::pair<std::uint32_t, std::uint32_t>> rails;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    const GpuPlace place = programs.fabric().place(programs.members()[domain[i]]);
    if (mesh(programs) || rails.emplace(place.node, place.rail).second) {
      list.push_back(i);
    }
  }
  return list;
}

/// i, i + 1, i - 1, i + 2, ... modulo the members.
RankSet zigzag(const RankSet& domain, std::size_t start) {
  const std::size_t n = domain.size();
  RankSet path;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t step = (i + 1) / 2;
    path.push_back(domain[(start + (i % 2 == 1 ? step : n - step)) % n]);
  }
  return path;
}

}  // namespace

std::vector<RankSet> rings(const StepPrograms& programs) {
  const auto domains = ranks_by_domain(programs);
  if (domains.size() == 1 && !mesh(programs)) {
    return domains;
  }
  const auto largest =
      std::max_element(domains.begin(), domains.end(),
                       [](const RankSet& a, const RankSet& b) { return a.size() < b.size(); });
  std::vector<RankSet> all;
  for (std::size_t start : starts(programs, *largest)) {
    RankSet& ring = all.emplace_back();
    for (const RankSet& domain : domains) {
      const RankSet path = zigzag(domain, start % domain.size());
      ring.insert(ring.end(), path.begin(), path.end());
      start = static_cast<std::size_t>(std::find(domain.begin(), domain.end(), path.back()) -
                                       domain.begin());
    }
  }
  return all;
}

void append_ring(StepPrograms& programs, std::int64_t repeats, core::Bytes bytes) {
  if (ranks_by_domain(programs).size() == 1) {
    append_rings(programs, ranks_by_domain(programs), repeats, bytes);
    return;
  }
  const auto all = rings(programs);
  for (std::size_t c = 0; c < all.size(); ++c) {
    const RankSet& ring = all[c];
    Rounds rounds{repeats, {}, {}, true};
    for (std::size_t i = 0; i < ring.size(); ++i) {
      rounds.messages.push_back(
          {ring[i], ring[(i + 1) % ring.size()], bytes / static_cast<double>(all.size())});
      rounds.actors.push_back(c == 0 ? i : programs.add_actor());
    }
    append_rounds(programs, rounds);
  }
}

void append_rings(StepPrograms& programs,
                  const std::vector<RankSet>& sets,
                  std::int64_t repeats,
                  core::Bytes bytes) {
  Rounds rounds{repeats, {}, {}, true};
  const auto domain_of = [&](std::size_t rank) {
    return programs.fabric().place(programs.members()[rank]).domain;
  };
  for (const RankSet& set : sets) {
    const std::size_t n = set.size();
    const bool spread = n > 2 && mesh(programs) && domain_of(set[0]) == domain_of(set[1]);
    const std::size_t peers = spread ? n - 1 : 1;
    for (std::size_t i = 0; i < n && n > 1; ++i) {
      for (std::size_t k = 1; k <= peers; ++k) {
        rounds.messages.push_back({set[i], set[(i + k) % n], bytes / static_cast<double>(peers)});
      }
    }
  }
  if (!rounds.messages.empty() && repeats > 0) {
    append_rounds(programs, rounds);
  }
}

}  // namespace headway::network

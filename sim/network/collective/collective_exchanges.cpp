#include "sim/network/collective/collective_exchanges.h"

#include <bit>
#include <map>

#include "sim/core/error.h"

namespace headway::network {
namespace {

using core::Bytes;
using core::CollectiveKind;
using core::GpuId;
using Members = std::span<const GpuId>;

double part(std::size_t of, std::size_t whole) {
  return static_cast<double>(of) / static_cast<double>(whole);
}

void visit_pairs(Members members, Bytes message, const VisitExchange& visit) {
  for (const GpuId from : members) {
    for (const GpuId to : members) {
      if (from != to) {
        visit(from, to, message * part(1, members.size()));
      }
    }
  }
}

/// Partners whose numbers differ in one bit; the bytes double with each distance. Ranks beyond a
/// power of two hand their array to a partner first and take the result back in the end.
void visit_recursive(CollectiveKind kind,
                     Members members,
                     Bytes message,
                     const VisitExchange& visit) {
  const std::size_t power = std::bit_floor(members.size());
  const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
  for (std::size_t d = 1; d < power; d *= 2) {
    for (std::size_t i = 0; i < power; ++i) {
      visit(members[i], members[i ^ d], message * (passes * part(d, power)));
    }
  }
  for (std::size_t i = power; i < members.size(); ++i) {
    visit(members[i], members[i - power], message);
    visit(members[i - power], members[i], message);
  }
}

/// At distance d each rank passes on ceil((n - d) / 2d) blocks, forwards to gather, backwards to
/// scatter. Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at
/// scale", 2025.
void visit_pat(CollectiveKind kind, Members members, Bytes message, const VisitExchange& visit) {
  const std::size_t n = members.size();
  const bool gather = kind == CollectiveKind::all_gather;
  for (std::size_t d = 1; d < n; d *= 2) {
    const std::size_t blocks = (n - d + 2 * d - 1) / (2 * d);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t to = (i + (gather ? d : n - d)) % n;
      visit(members[i], members[to], message * part(blocks, n));
    }
  }
}

/// Members by NVLink domain, in order of first appearance.
std::vector<std::vector<GpuId>> by_domain(const Fabric& fabric, Members members) {
  std::vector<std::vector<GpuId>> domains;
  std::map<std::uint32_t, std::size_t> index;
  for (const GpuId gpu : members) {
    const auto place = index.try_emplace(fabric.place(gpu).domain, domains.size()).first;
    domains.resize(index.size());
    domains[place->second].push_back(gpu);
  }
  return domains;
}

/// First to the mate on the destination's rail, for all domains together; then along the rails, for
/// all mates together.
void visit_staged(const Fabric& fabric,
                  Members members,
                  Bytes message,
                  const VisitExchange& visit) {
  const auto domains = by_domain(fabric, members);
  const std::size_t r = domains.front().size();
  for (const auto& domain : domains) {
    if (domain.size() != r) {
      throw core::Error(
          "a hierarchical all_to_all needs the same number of ranks in every NVLink domain");
    }
  }
  for (std::size_t d = 0; d < domains.size(); ++d) {
    visit_pairs(domains[d], message, visit);
    for (std::size_t other = 0; other < domains.size(); ++other) {
      for (std::size_t j = 0; j < r && other != d; ++j) {
        visit(domains[d][j], domains[other][j], message * part(1, domains.size()));
      }
    }
  }
}

}  // namespace

bool exchanges_messages(CollectiveKind kind, Algorithm algorithm) {
  return algorithm == Algorithm::pairwise || algorithm == Algorithm::recursive ||
         algorithm == Algorithm::pat ||
         (algorithm == Algorithm::hierarchical && kind == CollectiveKind::all_to_all);
}

void for_each_exchange(const Fabric& fabric,
                       const CollectiveCall& call,
                       Members members,
                       Algorithm algorithm,
                       const VisitExchange& visit) {
  if (algorithm == Algorithm::pairwise) {
    visit_pairs(members, call.bytes, visit);
  } else if (algorithm == Algorithm::recursive) {
    visit_recursive(call.kind, members, call.bytes, visit);
  } else if (algorithm == Algorithm::pat) {
    visit_pat(call.kind, members, call.bytes, visit);
  } else {
    HEADWAY_CHECK(exchanges_messages(call.kind, algorithm), "{} is not an exchange of messages",
                  core::to_word(algorithm));
    visit_staged(fabric, members, call.bytes, visit);
  }
}

}  // namespace headway::network

#include "sim/network/stepped/stepped.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "sim/core/error.h"
#include "sim/network/stepped/stepped_programs.h"

namespace headway::network {
namespace {

using core::CollectiveKind;

constexpr std::string_view kNeedsPower = "needs a power of two of ranks";
constexpr std::string_view kNeedsEqualDomains =
    "needs the same number of ranks in every NVLink domain";

[[noreturn]] void refuse(const CollectiveCall& call, Algorithm algorithm, std::string_view why) {
  throw core::Error(fmt::format("{} cannot be stepped by the {} algorithm: it {}",
                                core::to_word(call.kind), core::to_word(algorithm), why));
}

using RankSet = std::vector<std::size_t>;
using PairBytes = std::function<core::Bytes(std::size_t, std::size_t)>;

RankSet all_ranks(const StepPrograms& programs) {
  RankSet ranks(programs.ranks());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = i;
  }
  return ranks;
}

/// Each rank exchanges with the one whose number differs in one bit. @param part  of the array
void append_exchange(StepPrograms& programs, std::size_t distance, core::Bytes bytes) {
  Rounds rounds;
  for (std::size_t rank = 0; rank < programs.ranks(); ++rank) {
    rounds.messages.push_back({rank, rank ^ distance, bytes});
  }
  append_rounds(programs, rounds);
}

/// Halving: far ranks first with half the array, then a quarter, ...; doubling: the same backwards.
void append_recursive(StepPrograms& programs, CollectiveKind kind, core::Bytes bytes) {
  const std::size_t n = programs.ranks();
  if (kind != CollectiveKind::all_gather) {
    for (std::size_t d = n / 2; d > 0; d /= 2) {
      append_exchange(programs, d, bytes * (static_cast<double>(d) / static_cast<double>(n)));
    }
  }
  if (kind != CollectiveKind::reduce_scatter) {
    for (std::size_t d = 1; d < n; d *= 2) {
      append_exchange(programs, d, bytes * (static_cast<double>(d) / static_cast<double>(n)));
    }
  }
}

/// Binomial trees of all ranks at once, far ranks first: at distance d each rank passes on the
/// blocks it has from multiples of 2d, ceil((n - d) / 2d) of them. Reduce-scatter is the same
/// backwards. Source: Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations
/// at scale", 2025.
void append_pat(StepPrograms& programs, CollectiveKind kind, core::Bytes bytes) {
  const std::size_t n = programs.ranks();
  const bool gather = kind == CollectiveKind::all_gather;
  const std::size_t top = std::bit_ceil(n) / 2;
  for (std::size_t i = 1; i <= top; i *= 2) {
    const std::size_t d = gather ? top / i : i;
    const std::size_t blocks = (n - d + 2 * d - 1) / (2 * d);
    Rounds rounds;
    for (std::size_t rank = 0; rank < n; ++rank) {
      const std::size_t to = (rank + (gather ? d : n - d)) % n;
      rounds.messages.push_back(
          {rank, to, bytes * (static_cast<double>(blocks) / static_cast<double>(n))});
    }
    append_rounds(programs, rounds);
  }
}

/// All messages at once, each rank's to those after it first, as NCCL staggers them: whose turns
/// begin with another receiver each do not all meet at one port.
void append_direct(StepPrograms& programs, const PairBytes& bytes) {
  const std::size_t n = programs.ranks();
  std::vector<RoundMessage> pairs;
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t k = 1; k < n; ++k) {
      const std::size_t to = (from + k) % n;
      if (bytes(from, to).si() > 0) {
        pairs.push_back({from, to, bytes(from, to)});
      }
    }
  }
  const std::uint32_t group = programs.messages(pairs);
  for (std::size_t rank = 0; rank < n; ++rank) {
    programs.send(rank, group);
    programs.wait(rank, group);
  }
}

/// n - 1 rounds within each set: in round k each rank sends to the k-th after it.
void append_pairwise(StepPrograms& programs,
                     const std::vector<RankSet>& sets,
                     const PairBytes& bytes) {
  std::size_t longest = 0;
  for (const RankSet& set : sets) {
    longest = std::max(longest, set.size());
  }
  for (std::size_t k = 1; k < longest; ++k) {
    Rounds rounds;
    for (const RankSet& set : sets) {
      for (std::size_t i = 0; i < set.size() && k < set.size(); ++i) {
        const std::size_t to = set[(i + k) % set.size()];
        if (bytes(set[i], to).si() > 0) {
          rounds.messages.push_back({set[i], to, bytes(set[i], to)});
        }
      }
    }
    append_rounds(programs, rounds);
  }
}

/// Domains with as many ranks each, and the rails: the j-th ranks of all domains.
struct Grid {
  std::vector<RankSet> domains, rails;
};

Grid grid(const StepPrograms& programs, const CollectiveCall& call, Algorithm algorithm) {
  Grid grid{ranks_by_domain(programs), {}};
  grid.rails.resize(grid.domains.front().size());
  for (const RankSet& domain : grid.domains) {
    if (domain.size() != grid.rails.size()) {
      refuse(call, algorithm, kNeedsEqualDomains);
    }
    for (std::size_t j = 0; j < domain.size(); ++j) {
      grid.rails[j].push_back(domain[j]);
    }
  }
  return grid;
}

/// Reduce-scatter in each domain, a ring along each rail, all-gather in each domain; the all-gather
/// begins on the rails.
void append_hierarchical(StepPrograms& programs,
                         CollectiveKind kind,
                         core::Bytes bytes,
                         const Grid& grid) {
  const auto r = static_cast<std::int64_t>(grid.rails.size());
  const auto domains = static_cast<std::int64_t>(grid.domains.size());
  const core::Bytes inside = bytes / static_cast<double>(r);
  if (kind != CollectiveKind::all_gather) {
    append_rings(programs, grid.domains, r - 1, inside);
  }
  const std::int64_t times = kind == CollectiveKind::all_reduce ? 2 : 1;
  append_rings(programs, grid.rails, times * (domains - 1), inside / static_cast<double>(domains));
  if (kind != CollectiveKind::reduce_scatter) {
    append_rings(programs, grid.domains, r - 1, inside);
  }
}

/// Reduce-scatter in each domain, one part a rail through the reducing switches, all-gather in each
/// domain.
void append_sharp(StepPrograms& programs, core::Bytes bytes, const Grid& grid) {
  const auto r = static_cast<std::int64_t>(grid.rails.size());
  const core::Bytes part = bytes / static_cast<double>(r);
  append_rings(programs, grid.domains, r - 1, part);
  append_in_switch(programs, grid.rails, part);
  append_rings(programs, grid.domains, r - 1, part);
}

/// First to the mate on the destination's rail, for all domains together; then along the rails, for
/// all mates together.
void append_hierarchical_exchange(StepPrograms& programs,
                                  const PairBytes& bytes,
                                  const Grid& grid) {
  std::vector<std::size_t> domain_of(programs.ranks()), rail_of(programs.ranks());
  for (std::size_t d = 0; d < grid.domains.size(); ++d) {
    for (std::size_t j = 0; j < grid.rails.size(); ++j) {
      domain_of[grid.domains[d][j]] = d;
      rail_of[grid.domains[d][j]] = j;
    }
  }
  append_pairwise(programs, grid.domains, [&](std::size_t from, std::size_t to) {
    core::Bytes sum;
    for (const std::size_t last : grid.rails[rail_of[to]]) {
      sum += bytes(from, last);
    }
    return sum;
  });
  append_pairwise(programs, grid.rails, [&](std::size_t from, std::size_t to) {
    core::Bytes sum;
    for (const std::size_t first : grid.domains[domain_of[from]]) {
      sum += bytes(first, to);
    }
    return sum;
  });
}

/// n - 1 rounds in the order of NCCL's schedule: with the mates of the own domain, then with the
/// next domain's members one after the other, then with those of the one after. In a round all
/// ranks of a domain send to one domain, each to another rail. On a mesh, where each mate has a
/// cable of its own, all mates at once.
void append_scheduled(StepPrograms& programs,
                      const std::vector<RankSet>& domains,
                      const PairBytes& bytes) {
  const std::size_t r = domains.front().size();
  const bool mesh = programs.fabric().input().scale_up.kind == ScaleUpKind::mesh;
  Rounds rounds;
  for (std::size_t round = 1; round < domains.size() * r; ++round) {
    for (std::size_t d = 0; d < domains.size(); ++d) {
      for (std::size_t j = 0; j < r; ++j) {
        const std::size_t from = domains[d][j];
        const std::size_t to = domains[(d + round / r) % domains.size()][(j + round) % r];
        if (bytes(from, to).si() > 0) {
          rounds.messages.push_back({from, to, bytes(from, to)});
        }
      }
    }
    if (!mesh || round + 1 >= r) {
      append_rounds(programs, rounds);
      rounds = {};
    }
  }
}

void append_all_to_all(StepPrograms& programs, const CollectiveCall& call, Algorithm algorithm) {
  const std::size_t n = programs.ranks();
  const std::span<const core::Bytes> given = programs.options().pair_bytes;
  HEADWAY_CHECK(given.empty() || given.size() == n * n, "{} pairs of {} ranks", given.size(), n);
  const PairBytes bytes = [&](std::size_t from, std::size_t to) {
    return given.empty() ? call.bytes / static_cast<double>(n) : given[from * n + to];
  };
  const std::vector<RankSet> domains = ranks_by_domain(programs);
  const bool alike = std::all_of(domains.begin(), domains.end(), [&](const RankSet& domain) {
    return domain.size() == domains.front().size();
  });
  if (algorithm == Algorithm::pairwise && alike) {
    append_scheduled(programs, domains, bytes);
  } else if (algorithm == Algorithm::pairwise) {
    append_pairwise(programs, {all_ranks(programs)}, bytes);
  } else if (algorithm == Algorithm::hierarchical) {
    append_hierarchical_exchange(programs, bytes, grid(programs, call, algorithm));
  } else if (algorithm == Algorithm::direct) {
    append_direct(programs, bytes);
  } else {
    refuse(call, algorithm, "is not an exchange of pairs");
  }
}

/// All-reduce, all-gather, reduce-scatter.
void append_reduction(StepPrograms& programs, const CollectiveCall& call, Algorithm algorithm) {
  const std::size_t n = programs.ranks();
  const bool all_reduce = call.kind == CollectiveKind::all_reduce;
  if (algorithm == Algorithm::ring) {
    const std::int64_t all = ring_rounds(call.kind, n);
    const std::int64_t most = programs.options().most_rounds;
    append_ring(programs, most > 0 ? std::min(most, all) : all,
                call.bytes / static_cast<double>(n));
  } else if (algorithm == Algorithm::recursive && !std::has_single_bit(n)) {
    refuse(call, algorithm, kNeedsPower);
  } else if (algorithm == Algorithm::recursive) {
    append_recursive(programs, call.kind, call.bytes);
  } else if (algorithm == Algorithm::hierarchical) {
    append_hierarchical(programs, call.kind, call.bytes, grid(programs, call, algorithm));
  } else if (algorithm == Algorithm::nvls && ranks_by_domain(programs).size() == 1) {
    append_nvls(programs, call.kind, call.bytes);
  } else if (algorithm == Algorithm::nvls) {
    refuse(call, algorithm, "needs all ranks in one NVLink domain");
  } else if (algorithm == Algorithm::nvls_tree && all_reduce) {
    const Grid sets = grid(programs, call, algorithm);
    if (sets.rails.size() < 2 || sets.domains.size() < 2) {
      refuse(call, algorithm, "needs several NVLink domains of several ranks");
    }
    append_nvls_trees(programs, sets.domains, call.bytes);
  } else if (algorithm == Algorithm::tree && all_reduce) {
    append_trees(programs, call.bytes);
  } else if (algorithm == Algorithm::collnet &&
             !programs.fabric().input().fabric.in_switch_reduction) {
    refuse(call, algorithm, "needs switches that reduce");
  } else if (algorithm == Algorithm::collnet && all_reduce) {
    append_sharp(programs, call.bytes, grid(programs, call, algorithm));
  } else if (algorithm == Algorithm::pat && !all_reduce) {
    append_pat(programs, call.kind, call.bytes);
  } else if (algorithm == Algorithm::direct && !all_reduce) {
    append_direct(programs,
                  [&](std::size_t, std::size_t) { return call.bytes / static_cast<double>(n); });
  } else {
    refuse(call, algorithm, "does something else");
  }
}

/// Messages that are simulated one by one take about 1 kB each while they run. Source: chosen.
constexpr double kMostStepped = 1e7;

/// Of the order of: every pair of an exchange, or two messages in turn of every rank on each ring.
double stepped_messages(const StepPrograms& programs, CollectiveKind kind, Algorithm algorithm) {
  const auto n = static_cast<double>(programs.ranks());
  const bool pairs = algorithm == Algorithm::direct ||
                     (kind == CollectiveKind::all_to_all && algorithm != Algorithm::hierarchical);
  const auto& shape = programs.fabric().shape();
  return pairs ? n * (n - 1) : 2 * n * std::min(n, static_cast<double>(shape.domain_gpus));
}

void check_stepped(const StepPrograms& programs, CollectiveKind kind, Algorithm algorithm) {
  const double messages = stepped_messages(programs, kind, algorithm);
  if (kind != CollectiveKind::send_receive && messages > kMostStepped) {
    throw core::Error(fmt::format(
        "a stepped {} of {} ranks has {:.2g} messages, and each is simulated by itself, at most "
        "{:.0g}: take fewer GPUs, or granularity fluid",
        core::to_word(kind), programs.ranks(), messages, kMostStepped));
  }
}

}  // namespace

std::int64_t ring_rounds(CollectiveKind kind, std::size_t ranks) {
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (static_cast<std::int64_t>(ranks) - 1);
}

Algorithm usual_algorithm(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all     ? Algorithm::pairwise
         : kind == CollectiveKind::send_receive ? Algorithm::direct
                                                : Algorithm::ring;
}

SteppedCollective step_collective(const Fabric& fabric,
                                  const CollectiveCall& call,
                                  std::span<const core::GpuId> members,
                                  const SteppedOptions& options) {
  StepPrograms programs(fabric, members, options);
  const Algorithm algorithm = call.algorithm.value_or(usual_algorithm(call.kind));
  if (members.size() < 2 || call.bytes.si() <= 0) {
    return programs.finish();
  }
  check_stepped(programs, call.kind, algorithm);
  switch (call.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      append_reduction(programs, call, algorithm);
      break;
    case CollectiveKind::all_to_all:
      append_all_to_all(programs, call, algorithm);
      break;
    case CollectiveKind::broadcast:
      if (algorithm == Algorithm::ring) {
        append_chain(programs, call.bytes);
      } else if (algorithm == Algorithm::tree) {
        append_broadcast_tree(programs, call.bytes);
      } else {
        refuse(call, algorithm, "is no chain and no tree");
      }
      break;
    case CollectiveKind::send_receive:
      HEADWAY_CHECK(members.size() == 2, "send/receive between {} GPUs", members.size());
      append_rounds(programs, {1, {{0, 1, call.bytes}}, {}});
      break;
  }
  return programs.finish();
}

CollectiveTime stepped_time(const Fabric& fabric,
                            const CollectiveCall& call,
                            std::span<const core::GpuId> members,
                            const SteppedOptions& options) {
  const auto stepped = step_collective(fabric, call, members, options);
  CollectiveTime time;
  if (stepped.problem.flows.empty()) {
    return time;
  }
  time.total = options.clock.to_seconds(run(stepped.problem, {}).end);
  time.algorithm = call.algorithm.value_or(usual_algorithm(call.kind));
  time.source = TimeSource::every_message;
  return time;
}

}  // namespace headway::network

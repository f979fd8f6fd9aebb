#include "tests/network/patterns/patterns.h"

#include <bit>

#include "sim/core/error.h"
#include "sim/network/flow/program_steps.h"

namespace headway::network::patterns {
namespace {

constexpr std::uint32_t kRoute = 4;  ///< links of the longest route

/// Appends a group of one flow between two hosts.
void append_message(
    const FatTree& tree, std::uint32_t from, std::uint32_t to, core::Bytes size, Problem& problem) {
  const auto group = static_cast<std::uint32_t>(problem.groups.size());
  const auto flow = static_cast<std::uint32_t>(problem.flows.size());
  const auto use = static_cast<std::uint32_t>(problem.uses.size());
  const core::Tick latency = append_route(tree, from, to, problem);
  const auto uses = static_cast<std::uint32_t>(problem.uses.size()) - use;
  problem.flows.push_back({group, size, latency, core::BytesPerSecond(0), 1, use, uses, 1});
  problem.groups.push_back({1, 0, flow, 1, core::Activity::data, 0, 1});
}

}  // namespace

std::vector<ProblemLink> links(const FatTree& tree) {
  const std::size_t spine_links =
      tree.host_links_only ? 0 : std::size_t{2} * tree.leaves() * tree.hosts_per_leaf;
  return std::vector<ProblemLink>(2 * std::size_t{tree.hosts} + spine_links,
                                  ProblemLink{tree.bandwidth});
}

core::Tick append_route(const FatTree& tree,
                        std::uint32_t from,
                        std::uint32_t to,
                        Problem& problem) {
  const std::uint32_t here = from / tree.hosts_per_leaf;
  const std::uint32_t there = to / tree.hosts_per_leaf;
  const std::uint32_t spine = to % tree.hosts_per_leaf;
  problem.uses.push_back({from, 1});
  if (here != there && !tree.host_links_only) {
    const std::uint32_t first_up = 2 * tree.hosts;
    const std::uint32_t first_down = first_up + tree.leaves() * tree.hosts_per_leaf;
    problem.uses.push_back({first_up + here * tree.hosts_per_leaf + spine, 1});
    problem.uses.push_back({first_down + there * tree.hosts_per_leaf + spine, 1});
  }
  problem.uses.push_back({tree.hosts + to, 1});
  return (here == there ? 2 : 4) * tree.link_latency;
}

Problem ring_all_reduce(const FatTree& tree, core::Bytes size, Dependency dependency) {
  Problem problem;
  const std::uint32_t n = tree.hosts;
  const bool pipelined = dependency == Dependency::pipelined;
  // Pipelined, a message may set out while the one before it still arrives: two channels a hop, in
  // turn.
  const std::uint32_t channels = pipelined ? 2 : 1;
  problem.links = links(tree);
  problem.groups.reserve(std::size_t{n} * channels);
  problem.flows.reserve(std::size_t{n} * channels);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t c = 0; c < channels; ++c) {
      append_message(tree, i, (i + 1) % n, size / n, problem);
    }
  }
  if (pipelined) {
    problem.programs = {{loop(n - 1), arrive(0), wait(1), arrive(2), wait(3), end_loop()}};
  } else {
    problem.programs = {{loop(2 * (std::int64_t{n} - 1)), arrive(0), wait(0), wait(1), end_loop()}};
  }
  problem.actors.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t c = 0; c < channels; ++c) {
      problem.actors[i].groups.push_back(i * channels + c);
      problem.actors[i].groups.push_back((i + n - 1) % n * channels + c);
    }
  }
  return problem;
}

Problem dissemination(const FatTree& tree, core::Bytes size) {
  Problem problem;
  const std::uint32_t n = tree.hosts;
  problem.links = links(tree);
  problem.programs.emplace_back();
  problem.actors.resize(n);
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(n - 1));
  problem.groups.reserve(std::size_t{n} * rounds);
  problem.flows.reserve(std::size_t{n} * rounds);
  problem.uses.reserve(std::size_t{kRoute} * n * rounds);
  for (Actor& actor : problem.actors) {
    actor.groups.reserve(std::size_t{2} * rounds);
  }
  std::uint32_t slot = 0;
  for (std::uint32_t stride = 1; stride < n; stride *= 2, slot += 2) {
    // Messages of a round lie side by side: they move at the same time.
    const auto first = static_cast<std::uint32_t>(problem.groups.size());
    for (std::uint32_t i = 0; i < n; ++i) {
      append_message(tree, i, (i + stride) % n, size, problem);
      problem.actors[i].groups.push_back(first + i);
      problem.actors[i].groups.push_back(first + (i + n - stride) % n);
    }
    problem.programs[0].insert(problem.programs[0].end(),
                               {arrive(slot), wait(slot), wait(slot + 1)});
  }
  return problem;
}

Problem all_to_all(const FatTree& tree, core::Bytes size) {
  Problem problem;
  const std::uint32_t n = tree.hosts;
  problem.links = links(tree);
  problem.programs = {{arrive(0), wait(0)}};
  problem.actors.resize(n);
  for (Actor& actor : problem.actors) {
    actor.groups = {0};
  }
  problem.flows.reserve(std::size_t{n} * (n - 1));
  problem.uses.reserve(std::size_t{kRoute} * n * (n - 1));
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from != to) {
        const auto use = static_cast<std::uint32_t>(problem.uses.size());
        const core::Tick latency = append_route(tree, from, to, problem);
        const auto uses = static_cast<std::uint32_t>(problem.uses.size()) - use;
        problem.flows.push_back({0, size / n, latency, core::BytesPerSecond(0), 1, use, uses, 1});
      }
    }
  }
  problem.groups = {
      {n, 0, 0, static_cast<std::uint32_t>(problem.flows.size()), core::Activity::data, 0, 1}};
  return problem;
}

Problem all_to_all_classes(const FatTree& tree, core::Bytes size) {
  const std::uint32_t n = tree.hosts;
  const std::uint32_t mates = tree.hosts_per_leaf - 1;
  const std::uint32_t others = n - tree.hosts_per_leaf;
  HEADWAY_CHECK(n % tree.hosts_per_leaf == 0 && !tree.host_links_only, "{} hosts on leaves of {}",
                n, tree.hosts_per_leaf);
  Problem problem;
  problem.programs = {{arrive(0), wait(0)}};
  problem.actors = {{0, 0, 0, {0}, n}};
  // Host up, host down, leaf to spine, spine to leaf. A leaf's up link to spine s carries what its
  // hosts send to host s of every other leaf; the down link back, what all hosts elsewhere send to
  // one host.
  problem.links.assign(4, ProblemLink{tree.bandwidth});
  problem.uses = {{0, mates}, {1, mates}, {0, others}, {1, others}, {2, others}, {3, others}};
  const core::BytesPerSecond no_bound(0);
  problem.flows = {{0, size / n, 2 * tree.link_latency, no_bound, 1, 0, 2, n * mates},
                   {0, size / n, 4 * tree.link_latency, no_bound, 1, 2, 4, n * others}};
  problem.groups = {{1, 0, 0, 2, core::Activity::data, 0, 1}};
  if (others == 0) {
    problem.flows.pop_back();
    problem.uses.resize(2);
    problem.groups[0].flows = 1;
  }
  return problem;
}

}  // namespace headway::network::patterns

// Communication patterns as problems: rings and all-to-alls message by message, and whole training
// steps.
//
// They are what tests and benchmarks run, and small examples of how to lower to a Problem.
#pragma once

#include <cstdint>

#include "sim/core/tick.h"
#include "sim/core/units.h"
#include "sim/network/flow/problem.h"

namespace headway::network::patterns {

/// Two levels, as many spines as hosts a leaf (non-blocking), destination-modulo routing:
/// the spine of a message is (destination modulo spines), so no two hosts of a leaf share a down
/// link.
struct FatTree {
  std::uint32_t hosts = 64;
  std::uint32_t hosts_per_leaf = 32;
  core::BytesPerSecond bandwidth{50e9};  ///< every link, one direction
  core::Tick link_latency = 1'000'000;   ///< every link [ps]
  /// Leaves out the links between leaves and spines, which cannot bind under this routing.
  bool host_links_only = false;

  [[nodiscard]] std::uint32_t leaves() const {
    return (hosts + hosts_per_leaf - 1) / hosts_per_leaf;
  }
};

/// The links of the tree: host up, host down, leaf to spine, spine to leaf, in this order.
std::vector<ProblemLink> links(const FatTree& tree);

/// Appends the route from one host to another to `problem.uses`.
/// @returns the sum of its links' latencies
core::Tick append_route(const FatTree& tree,
                        std::uint32_t from,
                        std::uint32_t to,
                        Problem& problem);

enum class Dependency {
  blocking,   ///< a rank posts step s + 1 after its own send and its receive of step s
  pipelined,  ///< the next send needs the receive only
};

/// Ring all-reduce of `size` over all hosts in order, every message of the 2 (N - 1) steps a flow
/// of size / N.
Problem ring_all_reduce(const FatTree& tree, core::Bytes size, Dependency dependency);

/// All N (N - 1) flows of size / N at once.
Problem all_to_all(const FatTree& tree, core::Bytes size);

/// The same folded by hand, without a list of the N^2 flows: one class of hosts, one of flows
/// inside a leaf, one of flows between leaves. @param tree  full leaves only
Problem all_to_all_classes(const FatTree& tree, core::Bytes size);

/// Dissemination barrier over all hosts: in round k = 0, 1, ... host i sends `size` to host
/// (i + 2^k) modulo hosts, and goes on when that has gone and the message of host i - 2^k has come.
/// ceil(log2(hosts)) rounds (Hensgen, Finkel, Manber, Int. J. Parallel Programming 17, 1988).
Problem dissemination(const FatTree& tree, core::Bytes size);

/// A training step: tensor groups are timed events inside a node, neighbouring stages send point to
/// point over the ranks' NICs, each data-parallel ring is one lockstep flow over all its NICs. 1F1B
/// schedule. Rank = (replica x stages + stage) x tensor + position in its tensor group.
struct TrainingStep {
  std::uint32_t tensor = 8, stages = 16, replicas = 128;
  std::uint32_t micro_batches = 64;
  std::uint32_t layers = 4;  ///< a stage; each has two tensor-parallel collectives
  core::Tick layer_half =
      500'000'000;  ///< compute between two collectives, forward [ps]; backward takes twice
  core::Tick tensor_collective = 120'000'000;
  core::Bytes activation{32e6};  ///< point to point
  core::Bytes gradient{3.2e9};   ///< a rank's ring traffic at the end
  core::BytesPerSecond nic{50e9};
  core::Tick latency = 4'000'000;
};
Problem training_step(const TrainingStep& step);

/// Hierarchical all-reduce: reduce-scatter in each node, a ring along each rail, all-gather in each
/// node.
struct Hierarchical {
  std::uint32_t nodes = 16'384, gpus_per_node = 8;
  core::Bytes size{1 << 30};
  core::BytesPerSecond nvlink{450e9}, nic{50e9};
  core::Tick latency = 4'000'000;
  core::Tick compute = 1'000'000'000;  ///< before the collective, so that a straggler shows
};
Problem hierarchical_all_reduce(const Hierarchical& shape);

/// Random permutation of hosts over a fat tree with hashed routing; collisions are real.
struct Permutation {
  std::uint32_t hosts = 65'536;
  std::uint32_t tiers = 2;  ///< 2 or 3
  std::uint32_t radix =
      64;  ///< 3 tiers: ports of a switch; 2 tiers: hosts_per_leaf is the root of hosts
  bool equal_sizes = true;  ///< else uniform between 1/2 and 3/2 of `size`
  core::Bytes size{1e8};
  core::BytesPerSecond bandwidth{50e9};
  std::uint64_t seed = 1;
};
Problem permutation(const Permutation& shape);

}  // namespace headway::network::patterns

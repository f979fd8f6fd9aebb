// A collective message by message: every step of its algorithm as a flow program.
//
// `emit_collective` (collective_flows.h) makes one lockstep flow of a call: its steady state. Here
// each rank runs the algorithm's own program and each message is a flow on its route, so that
// latencies add up along the chain of messages and transients are seen. The two agree where the
// steady state is all there is (tests/network/stepped_test.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/tick.h"
#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/route.h"
#include "sim/network/flow/problem.h"

namespace headway::network {

/// How finely a collective is simulated.
enum class Granularity : std::uint8_t { fluid, stepped, packet };
constexpr auto enum_words(Granularity) {
  using E = core::EnumWord<Granularity>;
  return std::array{E{Granularity::fluid, "fluid"}, E{Granularity::stepped, "stepped"},
                    E{Granularity::packet, "packet"}};
}

/// What a rank waits for before its next message.
enum class Dependency : std::uint8_t {
  pipelined,  ///< the receive it depends on
  blocking,   ///< that, and the end of its own send before
};
constexpr auto enum_words(Dependency) {
  using E = core::EnumWord<Dependency>;
  return std::array{E{Dependency::pipelined, "pipelined"}, E{Dependency::blocking, "blocking"}};
}

struct SteppedOptions {
  Dependency dependency = Dependency::pipelined;
  int chunks = 64;  ///< pieces that trees, chains and reducing switches pass on one by one
  core::Clock clock = core::Clock::step();
  std::uint64_t label = 0;  ///< hashed by ecmp
  /// All-to-all(v): bytes from member i to member j at [i x members + j], in place of bytes /
  /// members; empty: all alike.
  std::span<const core::Bytes> pair_bytes = {};
  std::int64_t most_rounds = 0;  ///< of a ring over all ranks, from the first; 0: all of them
  /// For packets: fills SteppedCollective::ways, and what a round sends to one rank is one flow,
  /// its messages first in, first out; fluid messages that overlap are flows of their own.
  bool ways = false;
};

/// A problem with one actor or more a rank, and the fabric link of each of its links.
struct SteppedCollective {
  Problem problem;
  std::vector<core::LinkId> links;
  std::vector<Route>
      ways;  ///< of each flow, links that never bind included; empty unless asked for
};

/// The flow program of one call, healthy or not: wire rates and the routes' latencies, no software.
///
/// all-reduce: ring, tree (double binary), recursive (halving, then doubling), nvls, nvls_tree,
/// collnet, hierarchical; all-gather and reduce-scatter: ring, recursive, pat, nvls, hierarchical,
/// direct; broadcast: ring (a chain), tree (binary); all-to-all: pairwise, hierarchical, direct
/// (all at once); send/receive: direct. Without `call.algorithm`: ring, pairwise, direct.
/// @param members  in ring order; the first is the root of a broadcast
/// @throws core::Error  for an algorithm that does not do the collective on these members, by name
SteppedCollective step_collective(const Fabric& fabric,
                                  const CollectiveCall& call,
                                  std::span<const core::GpuId> members,
                                  const SteppedOptions& options = {});

/// Messages that each rank sends round a ring in an all-reduce, all-gather or reduce-scatter.
std::int64_t ring_rounds(core::CollectiveKind kind, std::size_t ranks);

/// What is taken where a call names no algorithm: pairwise for an all-to-all, direct for a message,
/// else ring.
Algorithm usual_algorithm(core::CollectiveKind kind);

/// Time of the whole call on the fabric as it is, from the first send to the last byte.
/// @throws core::Error  as `step_collective`
CollectiveTime stepped_time(const Fabric& fabric,
                            const CollectiveCall& call,
                            std::span<const core::GpuId> members,
                            const SteppedOptions& options = {});

}  // namespace headway::network

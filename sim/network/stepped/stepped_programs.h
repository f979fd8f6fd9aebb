// Builds the flow program of a stepped collective: actors, messages on their routes, deduplicated
// programs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/route.h"
#include "sim/network/stepped/stepped.h"

namespace headway::network {

/// Some links that move together, such as a reduction in a switch, or all of a way: fabric links.
struct LinkSet {
  std::vector<RouteHop> hops;
  core::Seconds latency;
};

/// Actors 0 to ranks - 1 are the ranks; `add_actor` adds further streams of a rank.
class StepPrograms {
 public:
  StepPrograms(const Fabric& fabric,
               std::span<const core::GpuId> members,
               const SteppedOptions& options);

  [[nodiscard]] std::size_t ranks() const { return members_.size(); }
  [[nodiscard]] const Fabric& fabric() const { return fabric_; }
  [[nodiscard]] std::span<const core::GpuId> members() const { return members_; }
  [[nodiscard]] const SteppedOptions& options() const { return options_; }
  std::size_t add_actor();

  /// The route from one rank to another.
  [[nodiscard]] Route way(std::size_t from, std::size_t to) const;
  /// The way of a ring or a tree from one rank to the next: the route, but between rails that only
  /// NVLink joins first to the GPU of the sender's domain on the receiver's rail, with or without
  /// PXN: its channels begin and end where they like.
  [[nodiscard]] Route ring_way(std::size_t from, std::size_t to) const;
  /// A group that moves `bytes` over that way.
  std::uint32_t ring_message(std::size_t from, std::size_t to, core::Bytes bytes);
  /// A group that moves `bytes` from one rank to another over the route.
  std::uint32_t message(std::size_t from, std::size_t to, core::Bytes bytes);
  /// A group that moves `bytes` over all links of the set at once.
  std::uint32_t message(const LinkSet& set, core::Bytes bytes);
  /// One group of many messages, launched when all of its actors have arrived.
  struct Pair {
    std::size_t from, to;
    core::Bytes bytes;
  };
  std::uint32_t messages(std::span<const Pair> pairs);

  // Appends to the program of an actor.
  void send(std::size_t actor, std::uint32_t group);
  void wait(std::size_t actor, std::uint32_t group);
  void compute(std::size_t actor, core::Tick ticks);
  void loop(std::size_t actor, std::int64_t count);
  void end_loop(std::size_t actor);

  SteppedCollective finish();

 private:
  std::uint32_t add_group();
  void add_flow(const std::vector<RouteHop>& hops, core::Seconds latency, core::Bytes bytes);
  std::uint32_t slot(std::size_t actor, std::uint32_t group);

  const Fabric& fabric_;
  std::span<const core::GpuId> members_;
  SteppedOptions options_;
  LinkNumbers numbers_;
  Problem problem_;
  std::vector<Route> ways_;                                    // of the flows, if asked for
  std::vector<Program> programs_;                              // per actor
  std::vector<std::map<std::uint32_t, std::uint32_t>> slots_;  // per actor: group -> slot
};

/// A message of a round.
using RoundMessage = StepPrograms::Pair;

/// Rounds that are alike: each rank sends its messages of the round, then waits for what it
/// receives.
struct Rounds {
  std::int64_t repeats = 1;
  std::vector<RoundMessage> messages;
  std::vector<std::size_t> actors;  ///< of each rank; empty: the ranks themselves
  bool ring = false;                ///< the messages go by `ring_message`
};
void append_rounds(StepPrograms& programs, const Rounds& rounds);

// Rings over the ranks: stepped_rings.cpp.

/// The rings of a call, as NCCL lays them: each enters every NVLink domain on another rail and
/// leaves it on the rail by which it enters the next, so that all NICs carry alike. Inside it
/// passes the members in zigzag (i, i + 1, i - 1, i + 2, ...), so that rings from all members use
/// each cable of a mesh once (Walecki's paths; an even number of members). One ring a rail, on a
/// mesh one a member; inside one domain of switches one.
std::vector<std::vector<std::size_t>> rings(const StepPrograms& programs);

/// `repeats` rounds in which each rank sends `bytes` to the next, spread over all rings.
void append_ring(StepPrograms& programs, std::int64_t repeats, core::Bytes bytes);

/// `repeats` rounds in which each rank of each set sends `bytes` to the next. Where a set is inside
/// a mesh, to each other rank its part: rings in all orders, in lockstep.
void append_rings(StepPrograms& programs,
                  const std::vector<std::vector<std::size_t>>& sets,
                  std::int64_t repeats,
                  core::Bytes bytes);

/// Messages that follow one another on one edge, in pieces: `pieces` of them, each held back until
/// the one before it has been put on the wire (`pace`), so that they queue first in, first out.
struct Pieces {
  std::int64_t count = 1;
  core::Tick pace = 0;    ///< time of one piece on the slowest wire
  std::size_t lanes = 1;  ///< groups an edge needs for all pieces that are on their way at once
};
/// As many pieces as asked for, fewer where a piece would take less than a 14th of its latency.
Pieces cut(core::Bytes bytes,
           core::BytesPerSecond rate,
           core::Seconds latency,
           const SteppedOptions& options);

// Algorithms that pass on an array in pieces: stepped_pipelines.cpp.

/// Broadcast along the rings from member 0, each ring with its part.
void append_chain(StepPrograms& programs, core::Bytes bytes);
/// All-reduce over two binary trees of domains a channel, each with half of the channel's bytes and
/// a chain inside each domain; one channel a rail.
void append_trees(StepPrograms& programs, core::Bytes bytes);
/// Each rank has its part of the array reduced in the NVLink switches and sent to all.
void append_nvls(StepPrograms& programs, core::CollectiveKind kind, core::Bytes bytes);
/// All-reduce of one part a rail: reduced in the NVLink switch of each domain, over two trees of
/// domains, spread by the switches. @param domains  with as many ranks each, two or more
void append_nvls_trees(StepPrograms& programs,
                       const std::vector<std::vector<std::size_t>>& domains,
                       core::Bytes bytes);
/// Broadcast from member 0 over a binary tree of domains, chains inside them.
void append_broadcast_tree(StepPrograms& programs, core::Bytes bytes);
/// All-reduce of one part a rail in the switches of the fabric (SHARP).
/// @param parts  ranks of one rail each, one a domain
void append_in_switch(StepPrograms& programs,
                      const std::vector<std::vector<std::size_t>>& parts,
                      core::Bytes bytes);

/// Members by NVLink domain, in order of first appearance: indices into members().
std::vector<std::vector<std::size_t>> ranks_by_domain(const StepPrograms& programs);

}  // namespace headway::network

// Stable partitions of a problem: hash rounds, splitting, and the exact check.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/flow/problem.h"

namespace headway::network {

/// In place of a class or a number: there is none yet.
inline constexpr std::uint32_t kNone = 0xffffffffU;

/// The nodes of a problem in one numbering (actors, groups, flows, links) and the edges both ways.
struct FoldGraph {
  explicit FoldGraph(const Problem& whole);

  struct Member {
    std::uint32_t actor, slot;
  };
  struct User {
    std::uint32_t flow, coefficient;
  };

  [[nodiscard]] std::span<const Member> members(std::uint32_t group) const {
    return {member.data() + first_member[group], member.data() + first_member[group + 1]};
  }
  [[nodiscard]] std::span<const User> users(std::uint32_t link) const {
    return {user.data() + first_user[link], user.data() + first_user[link + 1]};
  }
  [[nodiscard]] std::span<const FlowOnLink> uses(const Flow& flow) const {
    return {problem.uses.data() + flow.first_use, flow.uses};
  }

  const Problem& problem;
  std::uint32_t actors, groups, flows, links;
  std::uint32_t first_group, first_flow, first_link, nodes;
  std::vector<std::uint32_t> first_member, first_user;
  std::vector<Member> member;
  std::vector<User> user;
  std::vector<std::vector<LinkChange>> changes;  ///< per link, by tick; empty if no link changes
  std::vector<std::uint32_t> earlier_class;      ///< per node: part of its colour; may be empty
};

/// Classes of nodes, numbered by their first member. A class holds nodes of one kind.
struct Partition {
  std::vector<std::uint32_t> class_of;
  std::uint32_t classes = 0;
};

/// Colours nodes by what they are, then by their neighbours' colours, until the number of classes
/// stays or `rounds` have passed. Never finer than the coarsest stable partition, barring hash
/// collisions.
Partition hash_refine(const FoldGraph& graph, int rounds);

/// Splits until every class is stable: each class in turn separates the nodes that see it
/// differently, and all parts but the largest wait for their turn (Valmari & Franceschinis, TACAS
/// 2010; O(E log V)).
/// @returns false if more than `limit` classes came out; the partition is then of no use
bool split_until_stable(const FoldGraph& graph, Partition& partition, std::uint32_t limit);

/// Whether the partition is stable and its classes hold equals; exact, one pass over all edges.
bool is_stable(const FoldGraph& graph, const Partition& partition);

/// Numbers classes by their first member.
void renumber(Partition& partition);

}  // namespace headway::network

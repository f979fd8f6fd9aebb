// Which groups of GPUs are measured, and how much of each collective: the same list on every
// process, so that all take part in every call.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/collective.h"

#include "calibrate/measure/host/rendezvous.h"

namespace headway::measure {

/// One group: global ranks in order; always has rank 0, whose times are recorded.
struct GroupCase {
  std::vector<int> members;
  int ranks_per_node = 1;
  bool operator==(const GroupCase&) const = default;
};

/// Ranks of every node in order: processes on one host share a node.
std::vector<std::vector<int>> ranks_by_node(const std::vector<Introduction>& processes);

/// Within the first node: every size from 2 (quickly: powers of two and the whole node). Over
/// nodes: 2, 4, 8 ... and all of them, with one GPU of each and with all.
std::vector<GroupCase> group_cases(const std::vector<std::vector<int>>& nodes, bool quick);

/// Array sizes in bytes: rising powers.
std::vector<std::uint64_t> message_sizes(bool quick, bool tiny);

/// Calls in a timed batch; from the size alone, because all ranks must make the same calls.
int calls_per_batch(std::uint64_t bytes);

/// Bytes of the whole array (what the sample records) -> elements that each rank passes in, of
/// `element` bytes: all of it for all-reduce, broadcast, all-to-all and send/receive, a share for
/// all-gather; for reduce-scatter it is the result that is a share. Rounded to whole shares.
struct ElementCounts {
  std::uint64_t send = 0, receive = 0;
  std::uint64_t whole_bytes = 0;  ///< after rounding
};
ElementCounts element_counts(core::CollectiveKind kind,
                             std::uint64_t bytes,
                             int ranks,
                             int element);

/// What element `index` of the result on `rank` must be if every rank sent rank_value.
int expected_value(core::CollectiveKind kind,
                   const ElementCounts& counts,
                   int rank,
                   int ranks,
                   std::uint64_t index);

}  // namespace headway::measure

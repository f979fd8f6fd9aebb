// The traces of all ranks of a job, held against one another: an order of each rank's nodes that
// its dependencies and streams allow, groups of ranks, and bytes that are received as they are
// sent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/chakra/chakra.h"

namespace headway::import {

/// An order in which a rank can run its nodes, and which nodes each waits for.
struct ChakraOrder {
  std::vector<std::uint32_t> nodes;  ///< indices into ChakraTrace::nodes
  /// Per node (index into ChakraTrace::nodes): those it waits for, by its dependencies and as the
  /// one before it on its stream.
  std::vector<std::vector<std::uint32_t>> after;
};

/// Of nodes that are free the one with the least start time comes first, then with the least id, so
/// that where a trace has no times its ids are the order. Nodes of one stream of a GPU, or one
/// thread of a CPU, follow one another in this order.
/// Adds a complaint if nodes wait for each other in a circle, if one starts before a node that it
/// waits for, or if two of one stream of a GPU overlap.
ChakraOrder order_of(const ChakraTrace& trace, core::Diagnostics& complaints);

/// Ranks that call collectives together, one after the other.
struct ChakraCommunicator {
  std::string name;
  std::vector<std::int64_t> ranks;  ///< in ring order
};

/// Traces of one job, one a rank from 0.
struct ChakraJob {
  std::vector<ChakraTrace> traces;
  std::vector<ChakraOrder> orders;
  std::vector<ChakraCommunicator> communicators;
  /// Per rank: index into `communicators` by the name of the group.
  std::vector<std::map<std::string, std::uint32_t>> of_name;
};

/// Joins and checks the traces.
/// @param groups  of ranks, for names that the traces do not define; "" and "0" are all ranks
/// @throws core::Error naming ranks, nodes and groups if a rank has no trace or two, an order is
///         impossible, a group is unknown, a collective is not simulated, or ranks of a group call
///         different collectives or a message is not received as it is sent
ChakraJob join_traces(std::vector<ChakraTrace> traces, const ChakraGroups& groups);

/// Copies of one trace for each of `ranks` ranks that do the same.
/// @throws core::Error if it sends or receives messages, whose ends differ by rank
std::vector<ChakraTrace> alike(const ChakraTrace& trace, std::int64_t ranks);

}  // namespace headway::import

// Execution traces of Chakra (MLCommons): what one rank computes, sends and waits for, in
// protobuf's wire format. A file is a stream of messages, each behind its length: the metadata,
// then a node each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/fields.h"

namespace headway::import {

/// What a node does; the numbers are those of the format (et_def.proto, NodeType).
enum class ChakraKind : std::uint8_t {
  invalid = 0,
  metadata = 1,
  memory_load = 2,
  memory_store = 3,
  computation = 4,
  send = 5,
  receive = 6,
  collective = 7,
};

constexpr auto enum_words(ChakraKind) {
  using E = core::EnumWord<ChakraKind>;
  return std::array{
      E{ChakraKind::invalid, "INVALID_NODE"},      E{ChakraKind::metadata, "METADATA_NODE"},
      E{ChakraKind::memory_load, "MEM_LOAD_NODE"}, E{ChakraKind::memory_store, "MEM_STORE_NODE"},
      E{ChakraKind::computation, "COMP_NODE"},     E{ChakraKind::send, "COMM_SEND_NODE"},
      E{ChakraKind::receive, "COMM_RECV_NODE"},    E{ChakraKind::collective, "COMM_COLL_NODE"}};
}

/// Which collective; the numbers are those of the format (CollectiveCommType).
enum class ChakraCollective : std::uint8_t {
  all_reduce = 0,
  reduce = 1,
  all_gather = 2,
  gather = 3,
  scatter = 4,
  broadcast = 5,
  all_to_all = 6,
  reduce_scatter = 7,
  reduce_scatter_block = 8,
  barrier = 9,
};

constexpr auto enum_words(ChakraCollective) {
  using E = core::EnumWord<ChakraCollective>;
  return std::array{E{ChakraCollective::all_reduce, "ALL_REDUCE"},
                    E{ChakraCollective::reduce, "REDUCE"},
                    E{ChakraCollective::all_gather, "ALL_GATHER"},
                    E{ChakraCollective::gather, "GATHER"},
                    E{ChakraCollective::scatter, "SCATTER"},
                    E{ChakraCollective::broadcast, "BROADCAST"},
                    E{ChakraCollective::all_to_all, "ALL_TO_ALL"},
                    E{ChakraCollective::reduce_scatter, "REDUCE_SCATTER"},
                    E{ChakraCollective::reduce_scatter_block, "REDUCE_SCATTER_BLOCK"},
                    E{ChakraCollective::barrier, "BARRIER"}};
}

/// One node. Attributes that a trace does not have are empty.
struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraKind kind = ChakraKind::invalid;
  std::vector<std::uint64_t> after;  ///< data_deps: nodes that end before this one begins
  std::uint64_t start_us = 0;        ///< start_time_micros; 0: not said
  std::uint64_t duration_us = 0;     ///< duration_micros
  /// The same in ps (attribute duration_ps, which Headway writes beside the whole microseconds).
  std::optional<std::int64_t> duration_ps;
  bool on_cpu = false;                 ///< is_cpu_op
  std::optional<std::int64_t> stream;  ///< of a GPU (stream, else tid); of a CPU the thread (tid)
  std::optional<ChakraCollective> collective;       ///< comm_type
  std::optional<std::int64_t> bytes;                ///< comm_size: what one rank puts in
  std::string group;                                ///< pg_name; empty: all ranks
  std::optional<std::int64_t> source, destination;  ///< comm_src, comm_dst
  std::int64_t tag = 0;                             ///< comm_tag
  std::optional<std::int64_t> operations;           ///< num_ops: FLOPs
  std::optional<std::int64_t> tensor_bytes;         ///< tensor_size: read and written in memory

  /// @returns duration in ps: `duration_ps`, else the whole microseconds
  [[nodiscard]] std::int64_t picoseconds() const;
  /// A computation that has work (num_ops) and no duration.
  [[nodiscard]] bool lacks_time() const {
    return kind == ChakraKind::computation && operations.value_or(0) > 0 && picoseconds() == 0;
  }
};

/// Whether ranks meet in this node: a collective or a message of a GPU. What a CPU does to launch
/// it is work like any other.
bool communicates(const ChakraNode& node);

/// Ranks of each process group by its name, in ring order; none listed: all ranks.
using ChakraGroups = std::map<std::string, std::vector<std::int64_t>>;

/// What one rank does.
struct ChakraTrace {
  std::string file;
  std::int64_t rank = 0;
  std::vector<ChakraNode> nodes;
  ChakraGroups groups;  ///< that its metadata nodes define, as PyTorch writes them
};

/// The rank in the name of a file: the number before .et, as in step.12.et.
/// @throws core::Error if there is none
std::int64_t chakra_rank(const std::string& file_name);

/// Reads the file of one rank, and says of every node what it lacks.
/// @throws core::Error naming nodes, if the file is cut off or no such trace, if a node has no
/// known type, two have one id, or one lacks what its type needs
ChakraTrace read_chakra(std::string_view bytes, const std::string& file_name);

/// The file of one rank.
std::string write_chakra(const ChakraTrace& trace);

/// A file that defines process groups, as simulators read it beside the traces: {"1": [0, 1]}.
/// @throws core::Error with line and column if it is no such file
ChakraGroups read_chakra_groups(std::string_view text, const std::string& file_name);
std::string write_chakra_groups(const ChakraGroups& groups);

/// "t.0.et: node 12 'matmul'", for messages.
std::string where_is(const ChakraTrace& trace, const ChakraNode& node);

}  // namespace headway::import

// Nodes of execution traces, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/chakra/chakra.h"

namespace headway::import {

inline ChakraNode node_of(ChakraKind kind, std::uint64_t id, std::vector<std::uint64_t> after) {
  ChakraNode node;
  node.id = id;
  node.name = "n" + std::to_string(id);
  node.kind = kind;
  node.after = std::move(after);
  return node;
}

inline ChakraNode compute(std::uint64_t id,
                          std::uint64_t us,
                          std::vector<std::uint64_t> after = {}) {
  ChakraNode node = node_of(ChakraKind::computation, id, std::move(after));
  node.duration_us = us;
  return node;
}

inline ChakraNode collective(std::uint64_t id,
                             ChakraCollective kind,
                             std::int64_t bytes,
                             std::vector<std::uint64_t> after = {},
                             std::string group = "") {
  ChakraNode node = node_of(ChakraKind::collective, id, std::move(after));
  node.collective = kind;
  node.bytes = bytes;
  node.group = std::move(group);
  return node;
}

inline ChakraNode send(std::uint64_t id,
                       std::int64_t to,
                       std::int64_t bytes,
                       std::vector<std::uint64_t> after = {}) {
  ChakraNode node = node_of(ChakraKind::send, id, std::move(after));
  node.destination = to;
  node.bytes = bytes;
  return node;
}

inline ChakraNode receive(std::uint64_t id,
                          std::int64_t from,
                          std::int64_t bytes,
                          std::vector<std::uint64_t> after = {}) {
  ChakraNode node = node_of(ChakraKind::receive, id, std::move(after));
  node.source = from;
  node.bytes = bytes;
  return node;
}

/// The trace of a rank, as if it were read from t.RANK.et.
inline ChakraTrace trace_of(std::int64_t rank, std::vector<ChakraNode> nodes) {
  return {"t." + std::to_string(rank) + ".et", rank, std::move(nodes), {}};
}

}  // namespace headway::import

// The nodes of one rank, divided into lanes that each run one after the other, with what they wait
// for in other lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/chakra/chakra_job.h"

namespace headway::study {

/// What a lane is: nodes of one key run one after the other.
struct LaneKey {
  enum class Kind : std::uint8_t { metadata, thread, stream, group, sends, receives };
  Kind kind = Kind::stream;
  std::int64_t number = 0;  ///< of the thread or stream, of the communicator, of the other rank
  std::int64_t tag = 0;     ///< of messages
  auto operator<=>(const LaneKey&) const = default;
};

/// A node in its lane.
struct LaneNode {
  std::uint32_t node = 0;            ///< index into ChakraTrace::nodes
  std::vector<std::uint32_t> waits;  ///< lanes, each for its next word to this one
  std::vector<std::uint32_t> tells;  ///< lanes that wait for its end
};

struct RankLane {
  LaneKey key;
  std::vector<LaneNode> nodes;
};

/// Divides a rank's nodes. The k-th wait of a lane for another is for the k-th time that that one
/// tells it.
std::vector<RankLane> lanes_of(const import::ChakraJob& job, std::size_t rank);

}  // namespace headway::study

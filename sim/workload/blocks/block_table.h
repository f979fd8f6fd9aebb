// The blocks of a step graph, equal ones once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/workload/step_graph.h"

namespace headway::workload {

/// Blocks by index; equal blocks have one.
class BlockTable {
 public:
  /// Index of a block equal to `block`, added if there is none.
  int intern(Block block);
  /// All blocks, in the order in which they were added.
  std::vector<Block> take() { return std::move(blocks_); }

 private:
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> fingerprints_;  ///< of the blocks
};

}  // namespace headway::workload

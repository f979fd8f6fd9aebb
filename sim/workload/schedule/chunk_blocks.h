// The blocks of one chunk of layers, as a schedule calls them.
#pragma once

#include <utility>
#include <vector>

#include "sim/workload/layout.h"
#include "sim/workload/memory/rank_parameters.h"

namespace headway::workload {

inline constexpr int kNone = -1;

/// Blocks of one chunk, by index into the graph; kNone where there is nothing to do.
struct ChunkBlocks {
  int enter_forward = kNone, leave_backward = kNone;
  int receive_images = kNone, send_images = kNone;  ///< of an encoder in front, and its gradients
  std::vector<int> leave_forward, enter_backward;   ///< in order
  std::vector<LayerRun> runs;                       ///< its layers, in the order of the model
  std::vector<Bucket> buckets;  ///< in the order of backward; empty without data parallelism
  std::vector<int> reduce;      ///< one a bucket, where gradients are reduced bucket by bucket
  std::vector<int>
      await_gather;           ///< one a bucket, with overlapped gathers of the optimizer's shards
  std::vector<int> gather;    ///< one a bucket, where weights are sharded: starts its gather
  int last_backward = kNone;  ///< index of the item that completes the gradients
  int first_forward = kNone;
};

/// A chunk's blocks with its messages apart.
struct ChunkInside {
  ChunkBlocks blocks;
  int receive_forward = kNone, send_forward = kNone;
  int receive_backward = kNone, send_backward = kNone;
};

inline ChunkInside inside_of(const ChunkBlocks& blocks, const ChunkLayout& chunk) {
  ChunkInside out;
  out.blocks = blocks;
  if (!chunk.embedding) {
    out.receive_forward = std::exchange(out.blocks.enter_forward, kNone);
    out.send_backward = std::exchange(out.blocks.leave_backward, kNone);
  }
  if (!chunk.head && !blocks.leave_forward.empty()) {
    out.send_forward = blocks.leave_forward.front();
    out.receive_backward = blocks.enter_backward.front();
    out.blocks.leave_forward.clear();
    out.blocks.enter_backward.clear();
  }
  return out;
}

}  // namespace headway::workload

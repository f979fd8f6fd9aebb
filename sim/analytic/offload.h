// Copies of activations beside the layers of a pass, for the analytic tier.
#pragma once

#include "sim/analytic/costs.h"
#include "sim/workload/memory/offload.h"

namespace headway::analytic {

/// Runs the layers of one pass through a chunk with the copies of their activations beside them: a
/// copy that is awaited before it is complete holds the layers up by what is left of it.
class CopyLine {
 public:
  CopyLine(const RankCosts& rank, const ChunkClass& chunk, bool forward);

  /// Layers first .. first + count - 1 of the model, backward in the opposite order.
  /// @param now  of the compute stream [s]; advanced
  void run(int first, int count, double& now);

 private:
  void apply(const workload::CopyStep& step, double& now);

  const RankCosts& rank_;
  int first_layer_;
  bool forward_;
  workload::OffloadedChunk copies_;
  double done_ = 0;  ///< when the copy under way is complete
};

}  // namespace headway::analytic

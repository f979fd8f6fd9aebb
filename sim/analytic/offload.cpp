#include "sim/analytic/offload.h"

#include <algorithm>

namespace headway::analytic {

CopyLine::CopyLine(const RankCosts& rank, const ChunkClass& chunk, bool forward)
    : rank_(rank),
      sums_(forward ? rank.forward : rank.backward),
      first_layer_(chunk.first_layer),
      forward_(forward),
      copies_(chunk.layers, std::min(rank.most_offloaded, std::max(0, chunk.layers - 1))) {}

void CopyLine::run_with_copies(int first, int count, double& now) {
  for (int i = 0; i < count; ++i) {
    const int layer = forward_ ? first + i : first + count - 1 - i;
    const int place = layer - first_layer_;
    if (!forward_) {
      apply(copies_.before_backward(place), now);
    }
    now += between(layer, 1);
    if (forward_) {
      apply(copies_.after_forward(place), now);
    }
  }
}

void CopyLine::apply(const workload::CopyStep& step, double& now) {
  if (step.awaits >= 0) {
    now = std::max(now, done_);
  }
  if (step.starts >= 0) {
    done_ = now + rank_.copy[static_cast<std::size_t>(first_layer_ + step.starts)];
  }
}

}  // namespace headway::analytic

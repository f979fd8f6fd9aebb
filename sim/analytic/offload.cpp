#include "sim/analytic/offload.h"

#include <algorithm>

namespace headway::analytic {

CopyLine::CopyLine(const RankCosts& rank, const ChunkClass& chunk, int first_layer, bool forward)
    : rank_(rank),
      sums_(forward ? rank.forward : rank.backward),
      first_layer_(first_layer),
      forward_(forward),
      copies_(chunk.layers, std::min(rank.most_offloaded, std::max(0, chunk.layers - 1))) {}

void CopyLine::run_with_copies(int first, int count, double& now) {
  for (int i = 0; i < count; ++i) {
    const int place = forward_ ? first + i : first + count - 1 - i;
    if (!forward_) {
      apply(copies_.before_backward(place), now);
    }
    now += between(place, 1);
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

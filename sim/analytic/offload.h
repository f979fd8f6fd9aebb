// Copies of activations beside the layers of a pass, for the analytic tier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/analytic/costs.h"
#include "sim/workload/memory/offload.h"

namespace headway::analytic {

/// Runs the layers of one pass through a chunk with the copies of their activations beside them: a
/// copy that is awaited before it is complete holds the layers up by what is left of it.
class CopyLine {
 public:
  /// @param copies       of the chunk; both outlive this
  /// @param first_layer  of the chunk
  CopyLine(const RankCosts& rank, const workload::CopySteps& copies, int first_layer, bool forward)
      : rank_(rank),
        copies_(copies),
        sums_(forward ? rank.forward : rank.backward),
        first_layer_(first_layer),
        forward_(forward) {}

  /// Layers first .. first + count - 1 of the chunk, backward in the opposite order.
  /// @param now  of the compute stream [s]; advanced
  void run(int first, int count, double& now) {
    if (copies_.any()) {
      run_with_copies(first, count, now);
    } else {
      now += between(first, count);
    }
  }

 private:
  [[nodiscard]] double between(int first, int count) const {
    const auto begin = static_cast<std::size_t>(first_layer_ + first);
    return sums_[begin + static_cast<std::size_t>(count)] - sums_[begin];
  }
  void run_with_copies(int first, int count, double& now);
  void apply(const workload::CopyStep& step, double& now) {
    if (step.awaits >= 0) {
      now = std::max(now, done_);
    }
    if (step.starts >= 0) {
      done_ = now + rank_.copy[static_cast<std::size_t>(first_layer_ + step.starts)];
    }
  }

  const RankCosts& rank_;
  const workload::CopySteps& copies_;
  const std::vector<double>& sums_;  ///< of its layers, forward or backward
  int first_layer_;
  bool forward_;
  double done_ = 0;  ///< when the copy under way is complete
};

}  // namespace headway::analytic

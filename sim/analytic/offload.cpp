#include "sim/analytic/offload.h"

namespace headway::analytic {

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

}  // namespace headway::analytic

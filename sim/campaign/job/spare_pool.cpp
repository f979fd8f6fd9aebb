#include "sim/campaign/job/spare_pool.h"

#include <algorithm>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

Tick RepairShop::take(Tick now, Tick repair) {
  if (repair >= core::kEndOfTime - now) {
    return core::kEndOfTime;
  }
  if (free_at_.empty()) {
    return now + repair;
  }
  const auto crew = std::min_element(free_at_.begin(), free_at_.end());
  *crew = std::max(*crew, now) + repair;
  return *crew;
}

failures::Node SparePool::take() {
  HEADWAY_CHECK(!ready_.empty(), "no spare is ready");
  const failures::Node node = ready_.front();
  ready_.pop_front();
  return node;
}

}  // namespace headway::campaign

#include "sim/campaign/step_times.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::campaign {

SlowState slow_state(failures::Effect effect, double keeps, std::uint16_t position) {
  HEADWAY_CHECK(failures::is_slow(effect), "effect '{}' slows nothing", core::to_word(effect));
  const auto kind =
      effect == failures::Effect::slow_gpu ? SlowState::Kind::gpu : SlowState::Kind::link;
  return {kind, keeps, position};
}

double waits_for_the_slowest(const SlowState& state) { return 1 / state.keeps; }

double StepTimes::slowness(const SlowState& state) {
  const std::scoped_lock lock(mutex_);
  const auto place = known_.find(state);
  if (place != known_.end()) {
    return place->second;
  }
  // Under the lock: two threads must not simulate the same state twice, and few
  // states are new.
  const double slowness = std::max(1.0, slowness_(state));
  known_.emplace(state, slowness);
  return slowness;
}

}  // namespace headway::campaign

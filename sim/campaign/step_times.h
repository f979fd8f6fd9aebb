// How much longer a step takes while a part is slow: asked of the step
// simulation once a kind of state.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "sim/failures/spec.h"

namespace headway::campaign {

/// One way in which the cluster can be slow, in canonical form: places that are
/// alike have one class, and a flapping link is a slow one.
struct SlowState {
  /// What is slow.
  enum class Kind : std::uint8_t {
    gpu,        ///< one GPU computes at `keeps` of its speed
    link,       ///< one node's link carries `keeps` of its rate
    all_gpus,   ///< every GPU computes at `keeps` of its speed (heat)
    all_links,  ///< every network card carries `keeps` of its rate (a save takes the rest)
  };
  Kind kind = Kind::gpu;
  double keeps = 1;
  std::uint16_t position = 0;  ///< symmetry class of the place
  auto operator<=>(const SlowState&) const = default;
};

/// The state a slow part of this effect puts the cluster into; the drive slows
/// saves, not steps.
SlowState slow_state(failures::Effect effect, double keeps, std::uint16_t position);

/// Step / healthy step in a state.
using Slowness = std::function<double(const SlowState&)>;

/// Everyone waits for the slow part, and nothing else matters: 1 / keeps. An
/// upper bound.
double waits_for_the_slowest(const SlowState& state);

/// Remembers the answers. Threads may ask at the same time; an answer is a
/// function of the state alone, so who asks first does not matter.
class StepTimes {
 public:
  explicit StepTimes(Slowness slowness = waits_for_the_slowest) : slowness_(std::move(slowness)) {}
  /// At least 1.
  double slowness(const SlowState& state);
  /// Different states asked for so far: that many step simulations ran.
  [[nodiscard]] std::size_t simulated() const { return known_.size(); }
  [[nodiscard]] const std::map<SlowState, double>& known() const { return known_; }

 private:
  Slowness slowness_;
  std::mutex mutex_;
  std::map<SlowState, double> known_;
};

}  // namespace headway::campaign

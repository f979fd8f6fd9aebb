// Spares, empty slots and the repair shop of one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/core/tick.h"
#include "sim/failures/lemons.h"

namespace headway::campaign {

/// When a repair that begins at `now` is over, where only so many crews work at
/// a time and nodes queue in order of arrival.
class RepairShop {
 public:
  /// @param crews  0: no queue
  explicit RepairShop(int crews) : free_at_(static_cast<std::size_t>(crews), 0) {}
  /// @returns the tick at which the node is well
  core::Tick take(core::Tick now, core::Tick repair);

 private:
  std::vector<core::Tick> free_at_;  // of each crew
};

/// Nodes that are ready, first repaired first taken.
class SparePool {
 public:
  void add(failures::Node node) { ready_.push_back(node); }
  [[nodiscard]] std::size_t ready() const { return ready_.size(); }
  failures::Node take();

 private:
  std::deque<failures::Node> ready_;
};

}  // namespace headway::campaign

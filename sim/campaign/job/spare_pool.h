// Spares, empty slots and the repair shop of one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/core/tick.h"
#include "sim/failures/lemons.h"
#include "sim/failures/recovery_spec.h"

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

/// Nodes that are ready.
class SparePool {
 public:
  explicit SparePool(failures::SpareChoice choice) : choice_(choice) {}
  void add(failures::Node node) { ready_.push_back(node); }
  [[nodiscard]] std::size_t ready() const { return ready_.size(); }
  /// By the choice; of those that failed equally often, the one that became ready first.
  failures::Node take();

 private:
  failures::SpareChoice choice_;
  std::deque<failures::Node> ready_;
};

/// How often the nodes in the job's slots have failed.
class FailureCounts {
 public:
  FailureCounts() = default;  ///< counts nothing
  explicit FailureCounts(std::uint64_t slots) : of_slot_(slots, 0) {}
  void insert(failures::Node node, std::uint64_t slot);
  /// @returns `node`, which was in `slot`, with its failures, this one included
  [[nodiscard]] failures::Node remove(failures::Node node, std::uint64_t slot, bool failed) const;

 private:
  std::vector<std::uint32_t> of_slot_;
};

/// The spares of a job: those that can stand anywhere, and those that belong to a rack.
class Spares {
 public:
  /// A pool, as the nodes on their way to it name it: that of all racks, or of one as it stands
  /// now. Once the rack has been exchanged, its old nodes come to the pool of all.
  using Address = std::uint64_t;
  static constexpr Address kAnywhere = 0;

  Spares(failures::SpareChoice choice, std::size_t racks);
  void add(failures::Node node, Address address);
  [[nodiscard]] Address address_of(std::size_t rack) const;
  [[nodiscard]] SparePool& anywhere() { return anywhere_; }
  [[nodiscard]] const SparePool& anywhere() const { return anywhere_; }
  [[nodiscard]] SparePool& of(std::size_t rack) { return of_rack_[rack].pool; }
  [[nodiscard]] const SparePool& of(std::size_t rack) const { return of_rack_[rack].pool; }
  /// Another rack stands in its place from now on, with no spares yet.
  /// @returns the spares of the old one that were ready
  std::vector<failures::Node> exchange(std::size_t rack);

 private:
  struct Rack {
    SparePool pool;
    std::uint32_t generation = 0;
  };
  SparePool anywhere_;
  std::vector<Rack> of_rack_;
};

}  // namespace headway::campaign

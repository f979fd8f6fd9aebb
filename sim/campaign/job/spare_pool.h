// Spares, empty slots and the repair shop of one trial.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/core/tick.h"
#include "sim/failures/lemons.h"
#include "sim/failures/recovery_spec.h"
#include "sim/failures/retire_score.h"

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

/// How many spares are kept warm, and how long a cold one takes to be so.
struct WarmSpares {
  std::size_t most = 0;
  core::Tick warming = 0;
};

/// Nodes that are ready.
class SparePool {
 public:
  explicit SparePool(failures::SpareChoice choice, WarmSpares warm = {})
      : choice_(choice), warm_(warm) {}
  /// @param now  the first spares, at 0, are warm at once
  void add(failures::Node node, core::Tick now = 0);
  [[nodiscard]] std::size_t ready() const { return cold_.size() + chosen_.size(); }
  /// Of them, whose processes run.
  [[nodiscard]] std::size_t warm(core::Tick now) const;
  /// A warm one, else a cold one, else one that is warming; of several by the choice; of those that
  /// failed equally often, the one that became ready first. Another begins to warm in its stead.
  failures::Node take(core::Tick now = 0);

 private:
  struct Chosen {
    failures::Node node;
    core::Tick warm_at = 0;
  };
  void keep_warm(core::Tick now);

  failures::SpareChoice choice_;
  WarmSpares warm_;
  std::deque<failures::Node> cold_;
  std::vector<Chosen> chosen_;  // to be warm, as many as are wanted and there are
};

/// What the nodes in the job's slots have done wrong.
class FailureCounts {
 public:
  FailureCounts() = default;  ///< counts nothing
  explicit FailureCounts(std::uint64_t slots, std::optional<failures::RetireScore> score = {})
      : of_slot_(slots), score_(score) {}
  void insert(failures::Node node, std::uint64_t slot);
  /// @returns `node`, which was in `slot`, with its failures, this one included
  [[nodiscard]] failures::Node remove(failures::Node node,
                                      std::uint64_t slot,
                                      bool failed,
                                      core::Tick now = 0);
  /// Its score is so high that it is not taken back.
  [[nodiscard]] bool scored_out(failures::Node node, core::Tick now) const {
    return score_ && score_->reached(records_[node.record], now);
  }

 private:
  std::vector<failures::Node> of_slot_;  // which lemon it is does not matter
  std::optional<failures::RetireScore> score_;
  std::vector<std::vector<core::Tick>> records_{{}};  // failures that a score remembers; of no node
};

/// Nodes on their way to the spares, each in a place that an event can name.
class NodesAway {
 public:
  /// @returns its place, which is free again once it has been taken
  std::uint64_t put(failures::Node node);
  failures::Node take(std::uint64_t place);

 private:
  std::vector<failures::Node> nodes_;  // by place
  std::vector<std::uint64_t> free_;
};

/// The spares of a job: those that can stand anywhere, and those that belong to a rack.
class Spares {
 public:
  /// A pool, as the nodes on their way to it name it: that of all racks, or of one as it stands
  /// now. Once the rack has been exchanged, its old nodes come to the pool of all.
  using Address = std::uint64_t;
  static constexpr Address kAnywhere = 0;

  Spares(failures::SpareChoice choice, std::size_t racks, WarmSpares warm = {});
  void add(failures::Node node, Address address, core::Tick now = 0);
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

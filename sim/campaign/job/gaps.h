// Parts that are missing from replicas which go on without them, and what that makes of the pace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job/job.h"
#include "sim/campaign/job/job_places.h"
#include "sim/campaign/step_times.h"
#include "sim/core/units.h"

namespace headway::campaign {

/// Share of the ranks of a stage that is left of `peers` data-parallel ones.
inline double peers_left(int peers, std::uint64_t gone) {
  return static_cast<double>(static_cast<std::uint64_t>(peers) - gone) / peers;
}

/// One part: a node, or one of its GPUs.
struct Gap {
  std::uint64_t number = 0;  ///< names it in events; from 1
  std::uint64_t slot = 0;
  std::optional<std::uint64_t> group;  ///< of a GPU: the tensor group of the node that it is of
};

/// The gaps of one trial. With `broken_replica: reroutes` a replica lacks whole stages, whose work
/// the same stage of the others does; with `narrows` it lacks ranks of its tensor groups, and the
/// group that lost most decides how much of its share it does. Packed, groups are dealt to replicas
/// by how much they lost, whatever their places.
class Gaps {
 public:
  Gaps(const JobModel& model, const JobPlaces& places);

  /// Replicas that lost a part do not leave.
  [[nodiscard]] bool used() const { return word_ != failures::BrokenReplica::leaves; }
  [[nodiscard]] bool narrows() const { return word_ == failures::BrokenReplica::narrows; }
  /// Tensor groups that have ranks on a node.
  [[nodiscard]] std::uint64_t groups_of_node() const;

  /// @returns its number
  std::uint64_t open(std::uint64_t slot, std::optional<std::uint64_t> group = {});
  [[nodiscard]] bool has(std::uint64_t number) const;
  void close(std::uint64_t number);
  /// GPUs that are missing on these nodes are missing no longer: the nodes leave.
  void forget_gpus(const std::vector<std::uint64_t>& slots);
  /// The whole node is missing.
  [[nodiscard]] bool holds(std::uint64_t slot) const;

  /// Whether the job can go on without these nodes, too, or without a GPU of `slot`.
  [[nodiscard]] bool bearable_without(const std::vector<std::uint64_t>& slots) const;
  [[nodiscard]] bool bearable_without_gpu(std::uint64_t slot, std::uint64_t group) const;

  /// Stages that lack ranks.
  [[nodiscard]] const std::vector<SlowState>& stages() const { return stages_; }
  /// Step / healthy step by what narrowed replicas leave to the others, or let them wait:
  ///     max over replicas of stretch  x  R / (R - sum of (1 - share))
  [[nodiscard]] double longer() const { return longer_; }
  /// How long the ranks that are left take to get what this part held.
  [[nodiscard]] core::Seconds moved(std::uint64_t number) const;

 private:
  /// What a set of gaps comes to.
  struct Account {
    std::vector<std::uint64_t> peers_gone;  ///< by class of places
    std::vector<std::uint64_t> ranks_gone;  ///< by replica: of its tensor group that lost most
  };
  [[nodiscard]] Account account(const std::vector<Gap>& gaps) const;
  /// The replica of the n-th tensor group that has ranks on a node.
  [[nodiscard]] std::uint64_t replica_of(std::uint64_t slot, std::uint64_t group) const;
  [[nodiscard]] bool bearable(const std::vector<Gap>& gaps) const;
  void deal(std::vector<std::uint64_t> lost, Account& account) const;
  [[nodiscard]] NarrowedReplica narrowed_by(std::uint64_t ranks) const;
  void update();

  const JobModel& model_;
  const JobPlaces& places_;
  failures::BrokenReplica word_ = failures::BrokenReplica::leaves;
  std::vector<Gap> gaps_;
  std::uint64_t numbers_ = 0;
  std::vector<SlowState> stages_;
  double longer_ = 1;
};

}  // namespace headway::campaign

// Where the nodes of a job stand in the machine, and which model replicas each of them is part of:
// what one failure domain takes with it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/campaign/job/job.h"

namespace headway::campaign {

/// The job's nodes (slots, numbered by their ranks) in the machine (places, side by side in racks).
class JobPlaces {
 public:
  explicit JobPlaces(const JobModel& job);

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t place_of(std::uint64_t slot) const;
  [[nodiscard]] std::uint64_t slot_at(std::uint64_t place) const;

  /// Racks of `unit` places each, counted along the machine.
  [[nodiscard]] std::uint64_t rack_of(std::uint64_t slot, std::uint64_t unit) const {
    return place_of(slot) / unit;
  }
  /// Slots of up to `count` places in a row from that of `slot`, in order of place.
  [[nodiscard]] std::vector<std::uint64_t> slots_from(std::uint64_t slot,
                                                      std::uint64_t count) const;
  /// Slots of the units of `unit` places in a row that hold any of `slots`.
  [[nodiscard]] std::vector<std::uint64_t> units_of(const std::vector<std::uint64_t>& slots,
                                                    std::uint64_t unit) const;
  /// Slots of all replicas that any of `slots` is part of.
  [[nodiscard]] std::vector<std::uint64_t> groups_of(const std::vector<std::uint64_t>& slots) const;
  /// First of the replicas that a node is part of; it has `replicas_per_node` in a row.
  [[nodiscard]] std::uint64_t replica_of(std::uint64_t slot) const;
  [[nodiscard]] std::uint64_t replicas_per_node() const { return replicas_per_node_; }
  /// Replicas that lose a part with these slots.
  [[nodiscard]] std::uint64_t replicas_hit(const std::vector<std::uint64_t>& slots) const;
  /// Whether each of these nodes has its copy on a node that is not among them: the next slot.
  [[nodiscard]] bool peers_survive(const std::vector<std::uint64_t>& slots) const;

 private:
  std::uint64_t nodes_ = 1, replicas_per_node_ = 1;
  std::vector<std::uint32_t> place_of_slot_, slot_at_place_;  // empty: the same
  std::vector<std::uint32_t> replica_of_slot_;
  std::vector<std::vector<std::uint32_t>> slots_of_replica_;
};

}  // namespace headway::campaign

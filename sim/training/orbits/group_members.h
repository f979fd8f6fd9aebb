// The GPUs that communicate in a group of the step, and how they lie, without a list of the
// replicas that others stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/network/collective/collective_call.h"
#include "sim/training/check.h"
#include "sim/training/orbits/rank_orbits.h"
#include "sim/training/step/placement.h"
#include "sim/training/unequal/group_machines.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// How a group lies, and on which machine of `GroupMachines`.
struct GroupPlace {
  network::GroupShape shape;
  std::size_t machine = 0;
};

/// Of a group, the same for all its slots.
struct Members {
  /// All; of a group that spans replicas which are exchanged, those in the first block of them.
  std::vector<core::GpuId> gpus;
  GroupPlace place;      ///< of all
  std::size_t kept = 0;  ///< of `gpus`, those whose tensor index is lowered
};

/// The members of groups, by their leader.
class GroupMembers {
 public:
  /// @param checked, fabric, layout, orbits, machines  must outlive this
  GroupMembers(const CheckedScenario& checked,
               const network::Fabric& fabric,
               const RankLayout& layout,
               const RankOrbits& orbits,
               GroupMachines& machines);

  const Members& of(workload::Group group, core::Rank leader);
  GroupPlace place_of(const std::vector<core::GpuId>& gpus);

  /// All members, in ring order.
  [[nodiscard]] std::vector<core::GpuId> all(workload::Group group, core::Rank leader) const;
  /// Of a group that spans replicas, those of `ReplicaOrbits::without_middle`; none where there is
  /// no middle.
  [[nodiscard]] std::vector<core::GpuId> without_middle(workload::Group group,
                                                        core::Rank leader) const;

 private:
  [[nodiscard]] std::vector<core::GpuId> gpus_of(std::span<const core::Rank> ranks) const;
  /// Of a group that spans replicas, those of these data indices: whole blocks, and the leader's.
  [[nodiscard]] std::vector<core::Rank> ranks_of(workload::Group group,
                                                 core::Rank leader,
                                                 std::span<const int> data) const;

  const CheckedScenario& checked_;
  const network::Fabric& fabric_;
  const RankLayout& layout_;
  const RankOrbits& orbits_;
  GroupMachines& machines_;
  std::vector<int> first_block_, ends_;  ///< data indices
  std::unordered_map<std::uint64_t, Members>
      known_;  ///< by kind and leader; looked up only, never iterated
};

}  // namespace headway::training

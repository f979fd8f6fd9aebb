// What the collective model knows of the nodes that a group lies on, which may be of several kinds.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/ids.h"
#include "sim/network/collective/collective.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// A machine for every set of kinds of nodes that groups of a step lie on: its slowest parts.
class GroupMachines {
 public:
  /// @param scenario, input  must outlive this
  GroupMachines(const Scenario& scenario, const network::FabricInput& input);

  /// The kind of the node of a GPU.
  [[nodiscard]] int kind_of(core::GpuId gpu) const;
  /// The number of the machine that a group lies on; 0 where all nodes are alike.
  std::size_t of_group(const std::vector<core::GpuId>& gpus);
  [[nodiscard]] const network::NetworkParameters& parameters(std::size_t machine) const {
    return machines_[machine].parameters;
  }

 private:
  struct Machine {
    std::vector<int> kinds;
    network::NetworkParameters parameters;
  };
  void add(std::vector<int> kinds);

  const Scenario& scenario_;
  const network::FabricInput& input_;
  std::vector<Machine> machines_;
};

}  // namespace headway::training

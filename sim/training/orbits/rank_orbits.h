// Which ranks are lowered, and for how many others each stands: tensor indices and replicas
// together.
#pragma once

#include <cstdint>

#include "sim/training/orbits/replica_orbits.h"
#include "sim/training/orbits/tensor_orbits.h"
#include "sim/training/step/placement.h"

namespace headway::training {

/// Tensor indices and blocks of replicas are exchanged independently, so a rank stands for the
/// product of both. Empty: every rank stands for itself.
struct RankOrbits {
  TensorOrbits tensor;
  ReplicaOrbits replica;

  [[nodiscard]] bool empty() const { return tensor.empty() && replica.empty(); }
  [[nodiscard]] bool keeps(const RankCoordinates& at) const {
    return tensor.keeps(at.tensor) && replica.keeps(at.data);
  }
  [[nodiscard]] std::uint32_t size_of(const RankCoordinates& at) const {
    return tensor.size_of(at.tensor) * replica.size_of(at.data);
  }
};

/// Those of a step whose GPUs are as fast as the scenario says. Replicas are exchanged only where
/// all nodes are of one kind.
RankOrbits rank_orbits(const CheckedScenario& checked, const network::Fabric& fabric);

}  // namespace headway::training

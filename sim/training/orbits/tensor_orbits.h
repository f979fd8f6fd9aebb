// Ranks that differ in nothing but their place in the tensor group: one of them is lowered for all.
//
// Tensor ranks are neighbours in a node, each with a GPU and a rail of its own. Where the networks
// look the same from each of these rails, exchanging two tensor indices everywhere changes nothing
// but names, so the ranks of one index stand for those of the others. The whole problem is never
// built; folding it would find the same classes (docs/models/network.md).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/fabric/fabric.h"
#include "sim/training/check.h"
#include "sim/training/degraded/degrade.h"

namespace headway::training {

/// Which tensor indices stand for which. Empty: every rank stands for itself.
struct TensorOrbits {
  static constexpr int kShared = -1;

  std::vector<int> kept;             ///< indices that are lowered, rising
  std::vector<std::uint32_t> size;   ///< per kept index: how many it stands for, itself included
  std::vector<std::uint32_t> orbit;  ///< per tensor index: place of its stand-in in `kept`

  [[nodiscard]] bool empty() const { return kept.empty(); }
  [[nodiscard]] bool keeps(int index) const {
    return empty() || kept[orbit[static_cast<std::size_t>(index)]] == index;
  }
  /// How many tensor indices this kept one stands for.
  [[nodiscard]] std::uint32_t size_of(int index) const {
    return empty() ? 1 : size[orbit[static_cast<std::size_t>(index)]];
  }
  /// The tensor index that a link of the fabric serves, or kShared; not asked of no orbits.
  [[nodiscard]] int index_of(const network::Fabric& fabric, core::LinkId link) const;
};

/// Whether each tensor index has rails of its own and all rails climb alike.
/// @param shape  of `input`
bool tensor_ranks_alike(const CheckedScenario& checked,
                        const network::FabricInput& input,
                        const network::FabricShape& shape);

/// The orbits of a cluster whose links are as `fabric` has them and whose GPUs are equally fast.
/// Empty where tensor indices are not interchangeable: experts that span tensor ranks, hashed or
/// modulo routing, rails shared by GPUs, tensor groups across nodes, meshes, traffic of other jobs.
TensorOrbits tensor_orbits(const CheckedScenario& checked, const network::Fabric& fabric);

}  // namespace headway::training

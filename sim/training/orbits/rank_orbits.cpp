#include "sim/training/orbits/rank_orbits.h"

#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

RankOrbits rank_orbits(const CheckedScenario& checked, const network::Fabric& fabric) {
  RankOrbits orbits;
  orbits.tensor = tensor_orbits(checked, fabric);
  if (fabric.links_hit() == 0 && !unequal(checked.scenario().cluster)) {
    orbits.replica = replica_orbits(checked, fabric.input(), fabric.shape());
  }
  return orbits;
}

}  // namespace headway::training

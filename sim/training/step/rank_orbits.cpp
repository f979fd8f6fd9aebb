#include "sim/training/step/rank_orbits.h"

namespace headway::training {

RankOrbits rank_orbits(const CheckedScenario& checked, const network::Fabric& fabric) {
  RankOrbits orbits;
  orbits.tensor = tensor_orbits(checked, fabric);
  if (fabric.links_hit() == 0) {
    orbits.replica = replica_orbits(checked, fabric.input(), fabric.shape());
  }
  return orbits;
}

}  // namespace headway::training

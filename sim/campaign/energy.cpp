#include "sim/campaign/energy.h"

namespace headway::campaign {

core::Joules it_energy(const training::MachinePower& power,
                       core::Seconds stepping,
                       core::Seconds wall) {
  return power.training * stepping + power.standing * (wall - stepping);
}

}  // namespace headway::campaign

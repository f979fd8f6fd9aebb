// The energy of a trial.
#pragma once

#include "sim/core/units.h"
#include "sim/training/power/machine_power.h"

namespace headway::campaign {

/// Energy before PUE: training power over useful, lost and degraded time, standing power over the
/// rest.
core::Joules it_energy(const training::MachinePower& power,
                       core::Seconds stepping,
                       core::Seconds wall);

}  // namespace headway::campaign

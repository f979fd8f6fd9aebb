// What the decompositions of a preconditioner's factors take, and what is not known of it.
#pragma once

#include "sim/core/units.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// Time of them in the mean step, on the busiest stage; 0 where the optimizer has none.
core::Seconds decomposition_time(const Scenario& scenario);

/// Relative error that they add to a step's: that of their time (half of it where they were
/// measured, else a factor of three) by their share of it beside the model's products.
double decomposition_error(const Scenario& scenario);

}  // namespace headway::training

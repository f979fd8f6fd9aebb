// What makes a step shorter, by what its time is lost to.
#pragma once

#include <string>

#include "sim/core/activity.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// What makes the time that is booked to a cause shorter, as "a smaller tensor degree; ...", less
/// what the scenario has already.
std::string ways_to_shorten(core::Activity cause, const Scenario& scenario);

}  // namespace headway::training

// What makes a step shorter, by what its time is lost to.
#pragma once

#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/training/scenario.h"

namespace headway::training {

/// A way to lose less, and whether the scenario leaves it open: nobody is told to do what he does.
struct Way {
  const char* words;
  bool open = true;
};

/// "a smaller tensor degree; a faster NVLink domain": those that are open.
std::string open_ways(const std::vector<Way>& ways);

/// What makes the time that is booked to a cause shorter, as "a smaller tensor degree; ...", less
/// what the scenario has already.
std::string ways_to_shorten(core::Activity cause, const Scenario& scenario);

}  // namespace headway::training

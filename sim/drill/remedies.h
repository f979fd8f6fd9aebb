// Changes of monitors and of the design that might have helped, each a line that the user can give.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/drill/setup.h"
#include "sim/training/scenario.h"

namespace headway::drill {

using MonitorChanges = std::map<Monitor, std::optional<core::Seconds>>;

/// One change: of a monitor, or of a field of the scenario.
struct Change {
  std::string name;  ///< as a sentence's subject: "collective watchdog of 60 s"
  std::string how;   ///< option of the program that makes the same change
  std::function<void(MonitorChanges&)> watch;       ///< empty: `design`
  std::function<void(training::Scenario&)> design;  ///< empty: `watch`
};

/// The changes that are not made already.
/// @param fault       at its place
/// @param nodes_lost  by it
std::vector<Change> changes_for(const training::Scenario& scenario,
                                const DrillSetup& setup,
                                const Fault& fault,
                                std::int64_t nodes_lost);

}  // namespace headway::drill

// What a scenario says of its cluster and no launch file can: which hosts the ranks must be on.
#pragma once

#include <string>
#include <vector>

#include "sim/training/check.h"

namespace headway::config {

/// A line for each: nodes of several kinds, sites, chosen nodes, a placement that is not packed.
std::vector<std::string> cluster_losses(const training::CheckedScenario& checked);

}  // namespace headway::config

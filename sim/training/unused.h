// Fields that are written and do nothing here, values that no measurement covers, and prices of
// other GPUs.
#pragma once

#include <string>
#include <vector>

#include "sim/training/check.h"

namespace headway::training {

/// One sentence for each, with the field's path and what would make it count.
std::vector<std::string> unused_fields(const CheckedScenario& checked);

}  // namespace headway::training

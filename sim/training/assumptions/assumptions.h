// What a step prediction takes for granted, said aloud.
#pragma once

#include <vector>

#include "sim/training/step/lower.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// The assumptions of one step simulation, those that move the result most first.
std::vector<Assumption> step_assumptions(const CheckedScenario& checked,
                                         const LoweredStep& lowered);

}  // namespace headway::training

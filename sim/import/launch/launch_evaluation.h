// Evaluation beside training, which has no place in a scenario.
#pragma once

#include <string_view>

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// Says that evaluation is not counted and, where both are numbers, what share of the steps' time
/// it takes: a forward pass is a third of a step.
/// @param interval_key  steps between evaluations
/// @param passes_key    batches of an evaluation, each as large as that of a step; 0: none
void look_at_evaluation(LaunchReader& reader,
                        std::string_view interval_key,
                        std::string_view passes_key);

}  // namespace headway::import

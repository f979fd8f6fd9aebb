// What a step prediction takes for granted of the model and of the data it reads.
#pragma once

#include <vector>

#include "sim/training/step/lower.h"
#include "sim/training/step/step_result.h"

namespace headway::training {

/// Appends what is assumed of documents, attention, mixers, experts, optimizer, teacher and encoder
/// of this scenario, and of how long ranks wait for each other that have unequal work.
void add_model_assumptions(const CheckedScenario& checked, std::vector<Assumption>& list);

}  // namespace headway::training

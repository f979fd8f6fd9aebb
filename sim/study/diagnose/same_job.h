// Whether a training log is of the job that a scenario describes.
#pragma once

#include <string>
#include <vector>

#include "sim/import/measured/training_log.h"
#include "sim/training/check.h"

namespace headway::study {

/// The log without the lines of steps that have another batch than the scenario's, as those of a
/// batch that is ramped up: their times are of other work. Batches differ that are more than 1 %
/// apart (some are products of rounded figures). What the log does not say is not compared.
/// @param remarks  told how many lines were left out
/// @throws core::Error naming the line, if no step has the scenario's batch, or if the log says
/// another sequence length or number of GPUs
import::TrainingLog steps_of_job(const training::CheckedScenario& checked,
                                 import::TrainingLog log,
                                 const std::string& file,
                                 std::vector<std::string>& remarks);

}  // namespace headway::study

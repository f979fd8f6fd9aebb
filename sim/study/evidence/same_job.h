// Whether a training log is of the job that a scenario describes.
#pragma once

#include <string>
#include <vector>

#include "sim/import/measured/training_log.h"
#include "sim/training/check.h"

namespace headway::study {

/// Takes the lines of steps that have another batch than the scenario's out of the log, as those of
/// a batch that is ramped up: their times are of other work. Batches differ that are more than 1 %
/// apart, tokens (products of rounded figures) by more than that and the rounding of the times.
/// What the log does not say is not compared.
/// @param remarks  told how many lines were left out, that the log recomputes otherwise, that it is
/// of another program than the scenario's framework, or counts other operations a token
/// @throws core::Error naming the line, if no step has the scenario's batch, or if the log says
/// another sequence length, number of GPUs, layout, size of the model, precision or sharding
void keep_steps_of_job(const training::CheckedScenario& checked,
                       const std::string& file,
                       import::TrainingLog& log,
                       std::vector<std::string>& remarks);

/// Whether the log is of another program than the scenario's framework.
bool is_other_program(const training::Scenario& scenario, const import::TrainingLog& log);

/// Refuses what was measured on other GPUs than the scenario's. A name that is not known, or leaves
/// open what differs, is none of another.
/// @param device  as the driver calls it; empty: the file does not say
/// @param line    that says so, from 1; 0: the file as a whole
/// @throws core::Error naming file and line
void refuse_other_gpu(const gpu::GpuSpec& gpu,
                      const std::string& device,
                      const std::string& file,
                      int line);

}  // namespace headway::study

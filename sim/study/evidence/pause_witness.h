// What the regular pauses of a log are, by the log's own words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/measured/training_log.h"
#include "sim/study/evidence/step_series.h"

namespace headway::study {

/// What speaks for and against saves as what a log pauses for. Both reasons empty: nothing does.
struct PauseWitness {
  std::string saves;     ///< why pauses are saves and nothing else
  std::string no_saves;  ///< why none of them is one
  std::string what;      ///< what they are, or may be, where they are no saves
};

/// By the lines of saves and of collections of garbage, where half of the pauses and more have one,
/// by the settings of the same period, and by what a program leaves out of its times of steps.
/// @param file  for the reasons
PauseWitness witness_of_pauses(const import::TrainingLog& log,
                               const SeriesSummary& summary,
                               const std::string& file);

/// Steps that took their time and trained nothing: thrown away, or without a loss; empty: the log
/// says none. Sentences begin with the file.
std::vector<std::string> lost_steps(const import::TrainingLog& log, const std::string& file);

}  // namespace headway::study

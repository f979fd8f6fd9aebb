// Words of notes that make a published figure another quantity than tokens a second of a whole
// step.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/run_row.h"

namespace headway::validation {

/// What notes say of the figure.
struct NoteWords {
  std::string refused;    ///< what the figure is of, which no step is; empty: of a step
  bool downtime = false;  ///< it holds the time in which nothing was trained
  /// What is not simulated so: a field that is assumed, and what is told.
  std::vector<std::pair<std::string, std::string>> told;
};
NoteWords note_words(const RunRow& row);

/// What time in which nothing was trained does to a figure, as a standard deviation of log time to
/// the slow side. Source: goodput of published runs, 0.8 to 0.97
/// (configs/validation/goodput_cases.csv).
inline constexpr double kDowntimeError = 0.12;

/// What leaving such a field open costs, relative; nothing of any other field.
std::optional<double> cost_of_note(const std::string& field);

}  // namespace headway::validation

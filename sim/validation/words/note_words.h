// Words of notes that make a published figure another quantity than tokens a second of a whole
// step.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/run_row.h"

namespace headway::validation {

/// What notes say of the figure.
struct NoteWords {
  std::string refused;   ///< what the figure is of, which no step is; empty: of a step
  double slower = 0;     ///< what it holds beside a step, as a standard deviation to the slow side
  bool of_node = false;  ///< it is of all GPUs of a node
  int node_gpus = 0;     ///< of that node; 0: not said
  double seconds = 1;    ///< in which its tokens were trained: 60 of a minute
  /// What is not simulated so: a field that is assumed, and what is told.
  std::vector<std::pair<std::string, std::string>> told;
};
NoteWords note_words(const RunRow& row);

/// The row with what clauses of its notes, and words of its software, say of columns that are
/// blank: format, recomputation, attention's kernels, compilation; told.
RunRow with_noted_columns(RunRow row);

/// How texts say that FLOPs are counted.
struct FlopsWords {
  bool hardware = false, model = false;  ///< recomputed forwards counted, or not; both may be named
  double hfu = 0, mfu = 0;               ///< shares of the peak; 0: not said
};
/// "hardware TFLOPs", "FLOPs include recomputation", "HFU 48%, MFU 36%", "56% MFU" ...
FlopsWords flops_words(const std::string& text);

/// What leaving such a field open costs, relative; nothing of any other field.
std::optional<double> cost_of_note(const std::string& field);

}  // namespace headway::validation

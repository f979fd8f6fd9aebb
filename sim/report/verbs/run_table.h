// The result of `headway run` for people: tables, assumptions, and the sentence that names the
// limit.
#pragma once

#include <string>

#include "sim/report/figure_rows.h"
#include "sim/report/table.h"
#include "sim/study/run_report.h"

namespace headway::report {

/// The rows of the tables "One step", "The run", "Checkpoints and failures" and "Cost of the mean
/// run", each with the figure it shows.
LabelledFigures labels_of_a_run();

/// All tables and sentences of a run, ready for `to_text` or `to_markdown`.
Document run_document(const study::RunReport& report);

}  // namespace headway::report

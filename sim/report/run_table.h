// The result of `headway run` for people: tables, assumptions, and the sentence that names the
// limit.
#pragma once

#include <string>

#include "sim/report/run_report.h"
#include "sim/report/table.h"

namespace headway::report {

/// All tables and sentences of a run, ready for `to_text` or `to_markdown`.
Document run_document(const RunReport& report);

}  // namespace headway::report

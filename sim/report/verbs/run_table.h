// The result of `headway run` for people: tables, assumptions, and the sentence that names the
// limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/figure_rows.h"
#include "sim/report/table.h"
#include "sim/study/run_report.h"

namespace headway::report {

/// The rows of the tables "One step", "The run", "Checkpoints and failures" and "Cost of the mean
/// run", each with the figure it shows.
LabelledFigures labels_of_a_run();

/// The section that only `--explain` fills.
inline constexpr std::string_view kExplanationSection = "explanation";
/// The section that power of a step is in.
inline constexpr std::string_view kPowerSection = "power";
/// The section that collectives by packets are in.
inline constexpr std::string_view kPacketsSection = "packets";

/// The words that --show takes: parts of the document, in its order.
const std::vector<std::string>& run_sections();

/// The tables and sentences of a run, ready for `to_text` or `to_markdown`.
/// @param show  sections; none: all. The sentence that names the limit is always there.
Document run_document(const study::RunReport& report, const std::vector<std::string>& show = {});

}  // namespace headway::report

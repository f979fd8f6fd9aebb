// The result of `headway drill` as table, CSV, Markdown and JSON ("headway.drill/1").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/study/drill.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.drill-1.json has its keys.
std::string drill_json(const study::DrillReport& report);
/// The timeline, one line an entry.
std::string drill_csv(const study::DrillReport& report);

/// The words that --show takes: parts of the document, in its order.
const std::vector<std::string>& drill_sections();

/// The tables and sentences of a drill.
/// @param show  sections; none: all. The verdict is always there.
Document drill_document(const study::DrillReport& report,
                        const std::vector<std::string>& show = {});

/// "nic-down (NIC) at node 7"
std::string fault_words(const drill::DrillResult& result);

/// What a step takes while the fault lasts, or why it takes no longer; may be empty.
std::string slow_step_words(const drill::DrillResult& result);

/// Who or what a line of the timeline is about, as "ALARM by watchdog".
std::string who_words(const drill::TimelineEntry& entry);

/// "+2 min 30 s"; a dash where there is no time.
std::string time_since_fault(const std::optional<core::Tick>& tick);

}  // namespace headway::report

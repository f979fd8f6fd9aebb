// The result of `headway replay` as table, CSV, Markdown and JSON ("headway.replay/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/replay/replay.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.replay-1.json has its keys.
std::string replay_json(const study::ReplayReport& report);
/// One line a kind and size of transfers.
std::string replay_csv(const study::ReplayReport& report);
Document replay_document(const study::ReplayReport& report);

}  // namespace headway::report

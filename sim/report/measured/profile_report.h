// The result of `headway compare SCENARIO PROFILE...` as table, CSV, Markdown and JSON
// ("headway.compare-profile/1").
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/profile/compare_profile.h"

namespace headway::report {

/// One JSON object; configs/schema/headway.compare-profile-1.json has its keys.
std::string profile_json(const study::ProfileReport& report);
/// One line a figure, mean over the ranks.
std::string profile_csv(const study::ProfileReport& report);
Document profile_document(const study::ProfileReport& report);

}  // namespace headway::report

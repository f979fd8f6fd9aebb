// What `headway diagnose` says.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/diagnose/diagnose.h"

namespace headway::report {

Document diagnose_document(const study::DiagnoseReport& report);
/// One line a suspect, the likeliest first.
std::string diagnose_csv(const study::DiagnoseReport& report);
/// configs/schema/headway.diagnose-1.json has its keys.
std::string diagnose_json(const study::DiagnoseReport& report);

}  // namespace headway::report

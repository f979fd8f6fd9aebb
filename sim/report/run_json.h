// The result of `headway run` as JSON: the contract that programs read ("headway.run/1").
#pragma once

#include <string>

#include "sim/study/run_report.h"

namespace headway::report {

/// One JSON object, indented by two, ending with a newline. Keys, their order and units:
/// configs/schema/headway.run-1.json. Numbers round-trip; what is absent or not finite is null.
std::string run_json(const study::RunReport& report);

/// The same result as two columns, `key,value`, with the dotted paths that `assert:` uses.
std::string run_csv(const study::RunReport& report);

}  // namespace headway::report

// The table that a verb was asked for, in few columns and in people's words.
#pragma once

#include <string>

#include "sim/report/result_json.h"

namespace headway::report {

/// Of a plan its plans, of a comparison both sides, of a sweep its points; empty for other verbs,
/// whose lists are read as they are. HTML.
std::string answer_table(const Json& result);

/// A command as it was typed, to be pasted: without where its output went and in which form.
std::string shown_command(const std::string& command);

}  // namespace headway::report

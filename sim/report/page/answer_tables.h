// The table that a verb was asked for, in few columns and in people's words.
#pragma once

#include <string>

#include "sim/report/result_json.h"

namespace headway::report {

/// Of a plan its plans, of a comparison both sides, of a sweep its points; empty for other verbs,
/// whose lists are read as they are. HTML.
std::string answer_table(const Json& result);

/// A command as somebody would type it again: without where its output went, and without the
/// folders of files that are named from the root.
std::string shown_command(const std::string& command);

}  // namespace headway::report

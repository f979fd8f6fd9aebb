// What `headway check` says of configuration files.
#pragma once

#include <string>
#include <vector>

#include "sim/study/check.h"

namespace headway::report {

/// One line a file that is correct.
std::string check_text(const std::vector<study::FileCheck>& checks);
/// "headway.check/1"
std::string check_json(const std::vector<study::FileCheck>& checks);

}  // namespace headway::report

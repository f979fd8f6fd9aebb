// What a report carries to look and move as it does: its style and its script.
#pragma once

#include <string_view>

namespace headway::report {

std::string_view page_style();
std::string_view page_script();

}  // namespace headway::report

// What pages carry to look and move as it does: its style and its script.
#pragma once

#include <string_view>

namespace headway::report {

std::string_view page_style();
std::string_view page_script();

/// What `headway serve` adds to both: the form and what it does.
std::string_view served_page_style();
std::string_view served_page_script();

}  // namespace headway::report

// What kind of configuration file a text is, told from its top-level keys.
#pragma once

#include <string>
#include <string_view>

namespace headway::config {

/// Whether the text has the key `headway` at its left margin, which only a scenario has.
bool is_scenario_text(std::string_view text);

/// The catalogue folder whose required fields all stand as keys at the left margin of `text`.
/// @returns "scenarios" if the text has the key `headway`, or fits no kind or several
std::string kind_of_text(std::string_view text);

}  // namespace headway::config

// The manual page, in the words of man(7).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace headway::apps {

/// Text of a manual page: a backslash, and a dot or quote that begins a line, are no commands.
std::string roff(std::string_view text);

/// What a verb does, its arguments and all of its options, those too that its help leaves out, and
/// its examples.
std::string manual_of(const CLI::App& app);

}  // namespace headway::apps

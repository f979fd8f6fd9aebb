// What must be right about a file's bytes before a YAML parser sees them.
#pragma once

#include <optional>

#include "sim/config/tree.h"

namespace headway::config {

/// The first thing wrong with a text, if anything is: bytes that are not UTF-8, control characters
/// (a byte that YAML forbids would be told without its place in the line), and tabs in the
/// indentation.
std::optional<core::Diagnostic> check_text(const SourceFile& file);

}  // namespace headway::config

// Line and column of a place in a text, for error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/core/error.h"

namespace headway::import {

/// The mark of byte `offset` of `text`; an offset past the end is the place after the last
/// character. Lines of more than 160 characters are not shown in the message.
core::SourceMark mark_at(std::string_view text,
                         const std::string& file_name,
                         std::size_t offset,
                         int width = 1);

/// A mark for the file as a whole.
core::SourceMark mark_of_file(const std::string& file_name);

}  // namespace headway::import

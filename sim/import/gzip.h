// Unpacks gzip files.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/read_file.h"

namespace headway::import {

/// Begins with the two bytes of a gzip file.
bool is_gzip(std::string_view bytes);

/// @throws core::Error if the file is damaged or cut off, or unpacks to more than `limit` bytes
std::string gunzip(std::string_view bytes,
                   const std::string& file_name,
                   std::size_t limit = core::kLargestMeasurement);

}  // namespace headway::import

// Lengths of documents, as a table of them or as one line a document.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/spec.h"

namespace headway::import {

/// More lengths than these are no distribution any more, but the data: put them into bins.
inline constexpr std::size_t kMostLengths = 2000;

/// @param text  CSV. With a column `tokens` (or `length`) and perhaps `share` (or `count`), one
/// length
///              a line; or a single column of numbers without a header, one document a line, of
///              which equal lengths are counted together. Lines that begin with # are skipped.
/// @returns     the lengths rising, each once
/// @throws core::Error with file and line: what is no length or share, no length at all, too many
std::vector<workload::DocumentLength> read_document_lengths(std::string_view text,
                                                            const std::string& file);

}  // namespace headway::import

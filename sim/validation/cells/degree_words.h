// Parallel degrees and widths of heads, as cells have them among words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway::validation {

/// The degree that a cell of a column of degrees has among words that say no other: "TP8", "8-way",
/// "8 (intra-node)", "4 stages", "2 chunks"; nothing where it is a plain number, or says more.
std::optional<int> degree_words(std::string_view column, const std::string& cell);

/// Widths of a head's queries and keys, and of its values; 0: as wide.
struct HeadWidths {
  int keys = 0, values = 0;
};
/// "128", "128.0", "head_dim 128", "192 qk, 128 v"; nothing where a cell is nothing of the kind.
std::optional<HeadWidths> head_widths(const std::string& cell);

}  // namespace headway::validation

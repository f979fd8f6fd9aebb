// Numbers as tables write them: "4,096", "4k", "~64", "4M tokens", "8192 (packed)".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headway::validation {

/// A number in words.
struct NumberWords {
  double value = 0;
  bool about = false;   ///< "~64", "about 64"
  bool scaled = false;  ///< with k or M, which are 1,024 and 1,048,576 here
  bool tokens = false;  ///< counted in tokens
  bool packed = false;  ///< of sequences that documents are packed into
};

/// Nothing where a cell is a plain number, or is none.
std::optional<NumberWords> number_words(const std::string& cell);

/// Widths of a head's queries and keys, and of its values; 0: as wide.
struct HeadWidths {
  int keys = 0, values = 0;
};
/// "128", "128.0", "head_dim 128", "192 qk, 128 v"; nothing where a cell is nothing of the kind.
std::optional<HeadWidths> head_widths(const std::string& cell);

}  // namespace headway::validation

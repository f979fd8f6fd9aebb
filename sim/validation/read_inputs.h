// What a comparison with published figures was made from, so that somebody can tell whether two
// of them should be the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/result_fields.h"

namespace headway::validation {

/// A table, or the catalogue as a whole.
struct ReadInput {
  std::string name;
  std::uint64_t digest = 0;

  template <class V>
  void fields(V& v) const {
    v.part("name", name, "the table's file, or `catalogue`");
    v.part("digest", core::Hexadecimal{digest}, "over its text");
  }
};

/// The program's version says the rest: equal versions, inputs, options and seeds make equal
/// figures.
struct ReadInputs {
  std::vector<ReadInput> list;
  std::optional<std::uint64_t> seed;  ///< absent: nothing is drawn

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("inputs", list, "what the figures were made from");
    v.figure("seed", seed, "", "of all draws; null where nothing is drawn", core::non_negative);
  }
};

/// A table by the name of its file and its text.
ReadInput table_input(const std::string& file, std::string_view text);

/// All entries and tables of these configuration folders: their names and texts, in the order of
/// the names; where the folders lie changes nothing.
ReadInput catalogue_input(const std::vector<std::filesystem::path>& roots);

}  // namespace headway::validation

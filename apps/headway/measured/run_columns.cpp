#include "apps/headway/measured/run_columns.h"

#include <fmt/format.h>

#include "sim/validation/names/column_names.h"
#include "sim/validation/run_row.h"

namespace headway::apps {

namespace {

/// Visitor: what is said of the column of a name.
struct ColumnText {
  const std::string& name;
  std::string text = {};

  template <class T>
  void optional(const char* column, T& /*member*/, const char* meaning, core::Range range = {}) {
    if (!text.empty() || !validation::means_column(name, column)) {
      return;
    }
    text = fmt::format("{}\n  A column of `headway validate --runs FILE`: {}\n", column, meaning);
    if (const std::string words = range.words; !words.empty()) {
      text += fmt::format("  It must be {}.\n", words);
    }
  }
  template <class T>
  void required(const char* column, T& member, const char* meaning, core::Range range = {}) {
    optional(column, member, meaning, range);
  }
};

}  // namespace

std::string explain_run_column(const std::string& name) {
  ColumnText said{name};
  validation::RunRow row;
  validation::RunRow::fields(row, said);
  return said.text;
}

}  // namespace headway::apps

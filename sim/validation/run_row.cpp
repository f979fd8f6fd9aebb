#include "sim/validation/run_row.h"

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::validation {

namespace {

/// Visitor: fills the members from the cells of one row.
class CellReader {
 public:
  CellReader(const import::CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  template <class T>
  void optional(const char* column,
                T& member,
                const char* /*description*/,
                core::Range range = {}) {
    const auto& columns = table_.columns();
    if (std::find(columns.begin(), columns.end(), column) == columns.end() ||
        says_nothing(table_.text(row_, column))) {
      return;
    }
    try {
      read(column, member);
      check(column, member, range);
    } catch (const core::Error& error) {
      complain(error.diagnostics().front().message);
    }
  }
  template <class T>
  void required(const char* column, T& member, const char* description, core::Range range = {}) {
    optional(column, member, description, range);
  }

  std::string take_problems() { return std::move(problems_); }

 private:
  void read(const char* column, std::string& member) const { member = table_.text(row_, column); }
  void read(const char* column, std::optional<int>& member) const {
    member = table_.integer(row_, column);
  }
  void read(const char* column, std::optional<double>& member) const {
    member = table_.number(row_, column);
  }
  void read(const char* column, std::optional<bool>& member) const {
    member = table_.flag(row_, column);
  }

  template <class T>
  void check(const char* column, std::optional<T>& member, const core::Range& range) {
    if (!range.contains(static_cast<double>(*member))) {
      complain(fmt::format("'{}' in column '{}' must be {}",
                           core::shortened(table_.text(row_, column)), column, range.words));
      member.reset();
    }
  }
  static void check(const char* /*column*/, std::string& /*member*/, const core::Range& /*any*/) {}

  void complain(const std::string& message) {
    problems_ += problems_.empty() ? fmt::format("line {}: ", table_.line(row_)) : "; ";
    problems_ += message;
  }

  const import::CsvTable& table_;
  std::size_t row_;
  std::string problems_;
};

bool has_value(const std::string& member) { return !member.empty(); }
template <class T>
bool has_value(const std::optional<T>& member) {
  return member.has_value();
}

/// Visitor: the names of all columns, those that a table must have first.
struct Names {
  std::vector<std::string> required_names, all;

  template <class T>
  void optional(const char* column, T& /*member*/, const char* /*text*/, core::Range /*any*/ = {}) {
    all.emplace_back(column);
  }
  template <class T>
  void required(const char* column, T& /*member*/, const char* /*text*/, core::Range /*any*/ = {}) {
    required_names.emplace_back(column);
    all.emplace_back(column);
  }
};

/// Visitor: whether the column of this name has a value.
struct Stated {
  std::string_view name;
  bool found = false;

  template <class T>
  void optional(const char* column, T& member, const char* /*text*/, core::Range /*any*/ = {}) {
    found = found || (name == column && has_value(member));
  }
  template <class T>
  void required(const char* column, T& member, const char* text, core::Range range = {}) {
    optional(column, member, text, range);
  }
};

/// Visitor: all values behind one another.
struct Values {
  std::string text;

  void optional(const char* /*column*/,
                const std::string& member,
                const char* /*text*/,
                core::Range /*any*/ = {}) {
    text += "|" + member;
  }
  template <class T>
  void optional(const char* /*column*/,
                const std::optional<T>& member,
                const char* /*text*/,
                core::Range /*any*/ = {}) {
    text += "|" + (member ? fmt::format("{}", *member) : std::string());
  }
};

}  // namespace

bool says_nothing(const std::string& cell) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "", "n/a", "na", "nan", "null", "?", "-", "unknown", "not stated", "unspecified"};
  const std::string word = core::lower_case(cell);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool RunRow::stated(std::string_view column) const {
  Stated visitor{column};
  fields(*this, visitor);
  return visitor.found;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto inside = [&](std::size_t at) {
    return at < text.size() && std::isalpha(static_cast<unsigned char>(text[at])) != 0;
  };
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (!(at > 0 && inside(at - 1)) && !inside(at + word.size())) {
      return true;
    }
  }
  return false;
}

bool RunRow::is_mixture() const {
  return contains(core::lower_case(arch), "moe") || contains(core::lower_case(arch), "mixture") ||
         n_experts.value_or(0) > 1;
}

bool RunRow::listed_as_not_stated(std::string_view column) const {
  const std::string words = " " + not_stated + " ";
  const std::string whole = " " + std::string(column);
  return contains(words, whole + " ") || contains(words, whole + ";") ||
         contains(words, whole + ",");
}

bool RunRow::certain(std::string_view column) const {
  return stated(column) && !listed_as_not_stated(column);
}

RunRow read_run_row(const import::CsvTable& table, std::size_t row) {
  RunRow out;
  out.line = static_cast<std::size_t>(table.line(row));
  CellReader reader(table, row);
  RunRow::fields(out, reader);
  out.problems = reader.take_problems();
  return out;
}

void check_run_columns(const import::CsvTable& table) {
  Names names;
  RunRow none;
  RunRow::fields(none, names);
  core::Diagnostics problems;
  const core::SourceMark header{table.file(), 1, 1, 1, ""};
  for (const std::string& column : table.columns()) {
    if (std::find(names.all.begin(), names.all.end(), column) == names.all.end()) {
      const auto near = core::did_you_mean(column, names.all);
      problems.add(header, fmt::format("unknown column '{}'{}", core::shortened(column),
                                       near ? fmt::format("; did you mean '{}'?", *near)
                                            : "; docs/validation.md lists them"));
    }
  }
  for (const std::string& column : names.required_names) {
    const auto& columns = table.columns();
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      problems.add(header, fmt::format("there is no column '{}'", column));
    }
  }
  problems.throw_if_any();
}

std::string configuration_text(const RunRow& row) {
  Values values{row.id.substr(0, row.id.rfind('-'))};
  RunRow::configuration(row, values);
  return values.text;
}

}  // namespace headway::validation

#include "sim/validation/run_row.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/validation/cells/degree_words.h"
#include "sim/validation/cells/flag_words.h"
#include "sim/validation/cells/number_words.h"
#include "sim/validation/compared/other_figures.h"
#include "sim/validation/names/column_names.h"
#include "sim/validation/words/note_words.h"

namespace headway::validation {

namespace {

constexpr std::string_view kBatch = "global_batch";

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

/// Columns of a table whose names are none of a row's.
std::vector<std::string> other_columns(const import::CsvTable& table) {
  static const std::vector<std::string> known = [] {
    Names names;
    RunRow none;
    RunRow::fields(none, names);
    return names.all;
  }();
  std::vector<std::string> others;
  for (const std::string& column : table.columns()) {
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      others.push_back(column);
    }
  }
  return others;
}

/// Visitor: fills the members from the cells of one row.
class CellReader {
 public:
  CellReader(const import::CsvTable& table, std::size_t row)
      : table_(table), row_(row), others_(other_columns(table)) {}

  template <class T>
  void optional(const char* column,
                T& member,
                const char* /*description*/,
                core::Range range = {}) {
    const auto& columns = table_.columns();
    const bool own = std::find(columns.begin(), columns.end(), column) != columns.end();
    there_ = own ? column : column_in(others_, column);
    if (there_.empty() || says_nothing(table_.text(row_, there_))) {
      return;
    }
    try {
      read(column, member);
      check(column, member, range);
    } catch (const core::Error& error) {
      const std::string message = error.diagnostics().front().message;
      const bool number = message.ends_with("number");
      complain(message + (number ? "; state one, as in 3700, 9.4k, 4,096 or 340 +/- 5" : ""));
    }
  }
  template <class T>
  void required(const char* column, T& member, const char* description, core::Range range = {}) {
    optional(column, member, description, range);
  }

  std::string take_problems() { return std::move(problems_); }
  /// Numbers in words, by column.
  [[nodiscard]] const std::map<std::string, NumberWords>& worded() const { return worded_; }
  [[nodiscard]] const std::map<std::string, NumberWords>& figures() const { return figures_; }
  /// Columns of figures, as the table calls them.
  [[nodiscard]] const std::map<std::string, std::string>& headings() const { return headings_; }
  /// Columns of flags that are crossed.
  [[nodiscard]] const std::vector<std::string>& crosses() const { return crosses_; }

 private:
  void read(const char* /*column*/, std::string& member) const {
    member = table_.text(row_, there_);
  }
  void read(const char* column, std::optional<int>& member) {
    const std::string& cell = table_.text(row_, there_);
    if (says_none(cell)) {
      member = one_where_none(column) ? std::optional(1) : std::nullopt;
      return;
    }
    if (const auto degree = degree_words(column, cell)) {
      member = degree;
      return;
    }
    const auto words = count_words(column, cell);
    if (!words) {
      member = table_.integer(row_, there_);
      return;
    }
    member = static_cast<int>(words->value);
    worded_.emplace(column, *words);
  }
  void read(const char* column, std::optional<double>& member) {
    const std::string& cell = table_.text(row_, there_);
    headings_[column] = core::lower_case(there_);
    const auto words = figure_words(column, cell);
    member = words ? words->value : says_none(cell) ? std::nullopt : table_.number(row_, there_);
    if (words) {
      figures_.emplace(column, *words);
    }
  }
  void read(const char* column, std::optional<bool>& member) {
    const auto words = flag_words(column, table_.text(row_, there_));
    member = words ? words->value : table_.flag(row_, there_);
    if (words && words->cross) {
      crosses_.emplace_back(column);
    }
  }

  /// Zero or less is how programs write that there is none: a blank cell, where it cannot be meant.
  template <class T>
  void check(const char* /*column*/, std::optional<T>& member, const core::Range& range) {
    if (!member || range.contains(static_cast<double>(*member))) {
      return;
    }
    if (*member > 0) {
      complain(fmt::format("'{}' in column '{}' must be {}",
                           core::shortened(table_.text(row_, there_)), there_, range.words));
    }
    member.reset();
  }
  static void check(const char* /*column*/, std::optional<bool>& /*member*/, const core::Range&) {}
  static void check(const char* /*column*/, std::string& /*member*/, const core::Range& /*any*/) {}

  void complain(const std::string& message) {
    problems_ += problems_.empty() ? fmt::format("line {}: ", table_.line(row_)) : "; ";
    problems_ += message;
  }

  const import::CsvTable& table_;
  std::size_t row_;
  std::vector<std::string> others_;  ///< columns that have no name of this program's
  std::string there_;                ///< the column as the table calls it
  std::string problems_;
  std::map<std::string, NumberWords> worded_, figures_;
  std::map<std::string, std::string> headings_;
  std::vector<std::string> crosses_;
};

bool has_value(const std::string& member) { return !member.empty(); }
template <class T>
bool has_value(const std::optional<T>& member) {
  return member.has_value();
}

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

/// Replicas as stated, or as GPUs and stated degrees make them.
double replicas_of(const RunRow& row) {
  const double ranks = 1.0 * row.tp.value_or(1) * row.pp.value_or(1) * row.cp.value_or(1);
  return std::max(1.0, row.dp ? 1.0 * *row.dp : std::floor(row.n_gpus.value_or(1) / ranks));
}

/// A batch that is counted in tokens, by its words or because it is larger than any: in sequences.
void settle_batch(const std::map<std::string, NumberWords>& worded, RunRow& row) {
  constexpr double kMostTokens = 2e8;  // six times the largest step of the published tables
  const auto words = worded.find(std::string(kBatch));
  const bool sequences = words != worded.end() && words->second.counts(NumberOf::sequences);
  const bool named = !sequences && words != worded.end() && words->second.counts(NumberOf::tokens);
  const double batch = row.global_batch.value_or(0);
  const double length = row.seq_len.value_or(0);
  const bool plain = !sequences && batch >= length && batch * length > kMostTokens;
  constexpr double kRounded = 0.1;
  const double beside = sequences ? words->second.beside_tokens : 0;
  if (beside > 0 && std::abs(batch * length / beside - 1) > kRounded) {
    row.abouts.push_back(
        {std::string(kBatch),
         fmt::format("global_batch of {:.0f} sequences makes {:.3g} tokens, {:.3g} "
                     "stated",
                     batch, batch * length, beside)});
  }
  if (words != worded.end() && words->second.counts(NumberOf::per_replica)) {
    row.global_batch = static_cast<int>(std::min(batch * replicas_of(row), kTokens.high));
    row.abouts.push_back({std::string(kBatch),
                          fmt::format("global_batch of {:.0f} a replica is read as {} sequences",
                                      batch, *row.global_batch)});
    return;
  }
  if (length < 1 || batch < 1 || !(named || plain)) {
    return;
  }
  row.global_batch = std::max(1, static_cast<int>(std::lround(batch / length)));
  row.abouts.push_back({std::string(kBatch),
                        named
                            ? ""
                            : fmt::format("global_batch of {:.0f} is read as tokens: {} sequences",
                                          batch, *row.global_batch)});
}

/// Notes what numbers in words leave open.
void settle_numbers(const std::map<std::string, NumberWords>& worded, RunRow& row) {
  for (const auto& [column, words] : worded) {
    // k is 1,024 of lengths that are powers of two; of others and of batches it may be 1,000.
    const bool open =
        words.scaled && column != "vocab" &&
        (column == kBatch || !std::has_single_bit(static_cast<unsigned>(words.value)));
    if (words.about || open || !words.told.empty()) {
      row.abouts.push_back({column, words.told.empty() ? "" : column + ": " + words.told});
    }
    if (words.counts(NumberOf::packed)) {
      row.abouts.push_back({"documents", "documents in a sequence are read as one"});
    }
    if (column == "d_ffn" && !row.gated_mlp && words.counts(NumberOf::gate)) {
      row.gated_mlp = true;
    } else if (column == "d_ffn" && !row.gated_mlp && words.counts(NumberOf::no_gate)) {
      row.gated_mlp = false;
    }
  }
  settle_batch(worded, row);
}

/// Parameters in thousands of millions, however they are counted.
void settle_parameters(const std::map<std::string, NumberWords>& figures,
                       const char* column,
                       std::optional<double>& parameters,
                       RunRow& row) {
  constexpr double kBillion = 1e9;
  constexpr double kPlain = 1e6;     // counted one by one
  constexpr double kMillions = 3e3;  // more thousand millions than any published run has
  const auto words = figures.find(column);
  const bool scaled = words != figures.end() && words->second.scaled;
  if (!parameters) {
    return;
  }
  if (scaled || *parameters >= kPlain) {
    parameters = *parameters / kBillion;
  } else if (*parameters > kMillions) {
    row.abouts.push_back(
        {column, fmt::format("{} of {:.0f} is read as millions", column, *parameters)});
    parameters = *parameters / 1e3;
  }
}

/// What figures and flags in words leave open; a figure that its step time alone says.
void settle_figures(const CellReader& reader, RunRow& row) {
  settle_parameters(reader.figures(), "params_b", row.params_b, row);
  settle_parameters(reader.figures(), "active_params_b", row.active_params_b, row);
  for (const auto& [column, words] : reader.figures()) {
    if (words.about && column != "measured_tokens_per_s_per_gpu") {
      row.abouts.push_back({column, ""});
    }
    row.figure_spread = std::max(row.figure_spread, words.spread);
    row.figure_note += words.beside.empty() ? "" : words.beside + "; ";
    if (!words.told.empty()) {
      row.abouts.push_back({"figure", column + ": " + words.told});
    }
  }
  for (const auto& [column, heading] : reader.headings()) {
    for (const char* counted : {"model", "hardware"}) {
      const bool said = contains(column, "tflops") && contains(heading, counted);
      row.figure_note += said ? std::string(counted) + "; " : "";
    }
  }
  for (const std::string& column : reader.crosses()) {
    row.abouts.push_back({column, fmt::format("'x' in {} is read as yes", column)});
  }
}

/// What is told of one of a table's columns; empty: it has the name of this program's.
std::string told_of_column(const std::vector<std::string>& columns,
                           std::size_t at,
                           const std::vector<std::string>& own) {
  const std::string& column = columns[at];
  const auto end_before = columns.begin() + static_cast<std::ptrdiff_t>(at);
  if (std::find(columns.begin(), end_before, column) != end_before) {
    return fmt::format("column '{}' is there twice; the first is read", column);
  }
  if (std::find(own.begin(), own.end(), column) != own.end()) {
    return "";
  }
  if (const std::string either = columns_of_either(column); !either.empty()) {
    return fmt::format("unknown column '{}' is not read; it may be {}", core::shortened(column),
                       either);
  }
  const auto known = std::find_if(
      own.begin(), own.end(), [&](const std::string& each) { return means_column(column, each); });
  if (known == own.end()) {
    const auto near = core::did_you_mean(column, own);
    return fmt::format("unknown column '{}' is not read{}", core::shortened(column),
                       near ? fmt::format("; did you mean '{}'?", *near)
                            : "; docs/validation.md lists those that are");
  }
  const std::string read = column_in(columns, *known);
  return read == column
             ? fmt::format("column '{}' is read as '{}'", core::shortened(column), *known)
             : fmt::format("column '{}' is a second one of the meaning of '{}', which is read",
                           core::shortened(column), read);
}

}  // namespace

bool says_nothing(const std::string& cell) {
  static constexpr std::array<std::string_view, 17> kWords = {"",
                                                              "n/a",
                                                              "na",
                                                              "nan",
                                                              "null",
                                                              "?",
                                                              "-",
                                                              "unknown",
                                                              "not stated",
                                                              "--",
                                                              "unspecified",
                                                              "\xE2\x80\x93",
                                                              "\xE2\x80\x94",
                                                              "tbd",
                                                              "n.a.",
                                                              "n.a",
                                                              "not reported"};
  const std::string word = core::lower_case(cell);
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool RunRow::stated(std::string_view column) const {
  Stated visitor{column};
  fields(*this, visitor);
  return visitor.found;
}

bool RunRow::is_mixture() const {
  static constexpr std::array<const char*, 3> kMixtures = {"moe", "mixture", "mixtral"};
  return contains_any(core::lower_case(arch), kMixtures) || n_experts.value_or(0) > 1;
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
  if (says_none(out.head_dim) ||
      (std::atof(out.head_dim.c_str()) <= 0 &&
       out.head_dim.find_first_not_of("-+.0123456789") == std::string::npos)) {
    out.head_dim.clear();
  }
  out.id = out.id.empty() ? fmt::format("line {}", out.line) : out.id;
  out.problems = reader.take_problems();
  if (!out.unreadable.empty()) {
    out.problems = fmt::format("line {}: {}", out.line, out.unreadable);
  }
  out = with_noted_columns(std::move(out));
  settle_counts(reader.worded(), out);
  settle_numbers(reader.worded(), out);
  settle_figures(reader, out);
  settle_other_figures(reader.figures(), out);
  settle_modules(out);
  return out;
}

std::vector<std::string> check_run_columns(const import::CsvTable& table) {
  Names names;
  RunRow none;
  RunRow::fields(none, names);
  core::Diagnostics problems;
  const core::SourceMark header{table.file(), 1, 1, 1, ""};
  const auto& columns = table.columns();
  std::vector<std::string> told;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    std::string each = told_of_column(columns, at, names.all);
    if (!each.empty()) {
      told.push_back(std::move(each));
    }
  }
  static constexpr std::array<std::string_view, 14> kFigureColumns = {
      "measured_tokens_per_s_per_gpu",
      "measured_step_time_s",
      "step_time_s",
      "measured_tflops_per_gpu",
      "published_tflops_per_gpu",
      "tflops_per_gpu",
      "tokens_per_s",
      "samples_per_s",
      "samples_per_s_per_gpu",
      "steps_per_s",
      "step_time_ms",
      "mfu",
      "hfu",
      "gpu_hours"};
  const bool figures =
      std::any_of(kFigureColumns.begin(), kFigureColumns.end(),
                  [&](std::string_view column) { return !column_in(columns, column).empty(); });
  for (const std::string& column : names.required_names) {
    const bool figure = column == kFigureColumns.front();
    if (column_in(columns, column).empty() && !(figure && figures)) {
      problems.add(
          header,
          fmt::format(
              "there is no column '{}', nor another figure: tokens/s/GPU, tokens/s, "
              "samples/s, it/s, step time (s or ms), TFLOP/s/GPU, MFU, GPU hours and tokens",
              column));
    }
  }
  for (const std::string& each : told) {
    if (!problems.empty()) {
      problems.add(header, each);  // what may have been meant, all at once
    }
  }
  problems.throw_if_any();
  return told;
}

std::string configuration_text(const RunRow& row) {
  Values values{row.id.substr(0, row.id.rfind('-'))};
  RunRow::configuration(row, values);
  return values.text;
}

}  // namespace headway::validation

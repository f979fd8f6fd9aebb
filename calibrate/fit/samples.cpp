#include "calibrate/fit/samples.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "sim/core/error.h"
#include "sim/core/parse_word.h"
#include "sim/core/text.h"
#include "sim/import/csv.h"

namespace headway::fit {

namespace {

constexpr std::string_view kTitle = "# headway-samples 1";
constexpr const char* kColumns[] = {"kind",
                                    "op",
                                    "variant",
                                    "precision",
                                    "m",
                                    "n",
                                    "k",
                                    "batch",
                                    "sequence",
                                    "query_heads",
                                    "key_value_heads",
                                    "head_dim",
                                    "causal",
                                    "ranks",
                                    "ranks_per_node",
                                    "streams",
                                    "bytes",
                                    "beside",
                                    "repeats",
                                    "seconds",
                                    "spread_s",
                                    "elapsed_s",
                                    "clock_hz",
                                    "power_w",
                                    "temperature_c",
                                    "flags"};

/// An empty cell for zero: nothing was recorded.
template <class Number>
std::string cell(Number value) {
  return value == Number{} ? std::string() : fmt::format("{}", value);
}

/// Commas, quotes and line ends would break the row.
std::string plain(std::string text) {
  for (char& c : text) {
    c = c == ',' || c == '"' || c == '\n' || c == '\r' ? ' ' : c;
  }
  return text;
}

std::string flags_text(const std::vector<SampleFlag>& flags) {
  std::string out;
  for (const SampleFlag flag : flags) {
    out += (out.empty() ? "" : ";") + std::string(core::to_word(flag));
  }
  return out;
}

bool has_precision(SampleKind kind) {
  return kind == SampleKind::gemm || kind == SampleKind::attention ||
         kind == SampleKind::collective;
}

std::string row_text(const Sample& s) {
  const std::string cells[] = {std::string(core::to_word(s.kind)),
                               plain(s.op),
                               plain(s.variant),
                               has_precision(s.kind) ? std::string(core::to_word(s.precision)) : "",
                               cell(s.m),
                               cell(s.n),
                               cell(s.k),
                               cell(s.batch),
                               cell(s.sequence),
                               cell(s.query_heads),
                               cell(s.key_value_heads),
                               cell(s.head_dim),
                               s.causal ? "true" : "",
                               cell(s.ranks),
                               cell(s.ranks_per_node),
                               cell(s.streams),
                               cell(s.bytes),
                               plain(s.beside),
                               cell(s.repeats),
                               fmt::format("{}", s.seconds),
                               cell(s.spread_s),
                               cell(s.elapsed_s),
                               cell(s.clock_hz),
                               cell(s.power_w),
                               cell(s.temperature_c),
                               flags_text(s.flags)};
  static_assert(std::size(cells) == std::size(kColumns));
  std::string out;
  for (const auto& text : cells) {
    out += out.empty() ? text : "," + text;
  }
  return out + "\n";
}

/// The comment lines at the head of the file; the table begins after them.
struct Head {
  std::vector<Fact> facts;
  std::size_t size = 0;  ///< bytes
  int lines = 0;
};

Head read_head(std::string_view text) {
  Head head;
  while (head.size < text.size() && text[head.size] == '#') {
    const std::size_t end = std::min(text.find('\n', head.size), text.size());
    std::string_view line = text.substr(head.size + 1, end - head.size - 1);
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      const std::size_t begin = std::min(line.find_first_not_of(' '), colon);
      head.facts.push_back(
          {std::string(line.substr(begin, colon - begin)), std::string(line.substr(colon + 2))});
    }
    head.size = std::min(end + 1, text.size());
    ++head.lines;
  }
  return head;
}

/// Turns rows of the table into samples and collects what is wrong with them.
class RowReader {
 public:
  RowReader(const import::CsvTable& table, int lines_before)
      : table_(table), lines_before_(lines_before) {
    for (const auto& column : table.columns()) {
      const auto known = std::find(std::begin(kColumns), std::end(kColumns), column);
      if (known == std::end(kColumns)) {
        complain_in_header(fmt::format("there is no column '{}' in a table of samples{}", column,
                                       suggestion(column)));
      }
    }
    for (const char* needed : {"kind", "op", "seconds"}) {
      if (!has(needed)) {
        complain_in_header(fmt::format("the column '{}' is missing", needed));
      }
    }
    faults_.throw_if_any();
  }

  std::vector<Sample> read() {
    std::vector<Sample> samples;
    for (row_ = 0; row_ < table_.rows(); ++row_) {
      samples.push_back(read_row());
    }
    faults_.throw_if_any();
    return samples;
  }

 private:
  static std::string suggestion(const std::string& column) {
    const auto near = core::did_you_mean(
        column, std::vector<std::string>(std::begin(kColumns), std::end(kColumns)));
    return near ? fmt::format("; did you mean '{}'?", *near) : "";
  }

  [[nodiscard]] bool has(std::string_view column) const {
    const auto& columns = table_.columns();
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }

  void complain_in_header(std::string message) {
    faults_.add(core::SourceMark{table_.file(), lines_before_ + 1, 1, 1, ""}, std::move(message));
  }
  void complain(std::string message) {
    faults_.add(core::SourceMark{table_.file(), lines_before_ + table_.line(row_), 1, 1, ""},
                std::move(message));
  }

  std::string text(const char* column) const {
    return has(column) ? table_.text(row_, column) : "";
  }

  double number(const char* column) {
    const std::string cell_text = text(column);
    if (cell_text.empty()) {
      return 0;
    }
    const auto value = core::whole_text_as<double>(cell_text);
    if (!value || *value < 0) {
      complain(fmt::format("'{}' in column '{}' is no number of zero or more", cell_text, column));
      return 0;
    }
    return *value;
  }

  template <class Integer>
  Integer whole(const char* column) {
    const double value = number(column);
    if (value != std::floor(value) || value > 1e15) {
      complain(fmt::format("'{}' in column '{}' is not a whole number", text(column), column));
      return 0;
    }
    return static_cast<Integer>(value);
  }

  template <core::Worded E>
  E word(const char* column, E otherwise) {
    const std::string cell_text = text(column);
    if (cell_text.empty()) {
      return otherwise;
    }
    const auto value = core::from_word<E>(cell_text);
    if (!value) {
      complain(fmt::format("column '{}': {}", column, core::wrong_word<E>(cell_text, "word")));
    }
    return value.value_or(otherwise);
  }

  std::vector<SampleFlag> flags() {
    std::vector<SampleFlag> out;
    std::istringstream in(text("flags"));
    for (std::string flag; std::getline(in, flag, ';');) {
      const auto value = core::from_word<SampleFlag>(flag);
      if (value) {
        out.push_back(*value);
      } else {
        complain(fmt::format("column 'flags': {}", core::wrong_word<SampleFlag>(flag, "flag")));
      }
    }
    return out;
  }

  Sample read_row() {
    Sample s;
    const std::size_t before = faults_.size();
    if (text("kind").empty()) {
      complain("the row has no kind");
      return s;
    }
    s.kind = word("kind", SampleKind::gemm);
    s.op = text("op");
    s.variant = text("variant");
    s.precision = word("precision", core::Precision::bf16);
    s.m = whole<std::int64_t>("m");
    s.n = whole<std::int64_t>("n");
    s.k = whole<std::int64_t>("k");
    s.batch = whole<std::int64_t>("batch");
    s.sequence = whole<std::int64_t>("sequence");
    s.query_heads = whole<std::int64_t>("query_heads");
    s.key_value_heads = whole<std::int64_t>("key_value_heads");
    s.head_dim = whole<std::int64_t>("head_dim");
    s.causal = text("causal") == "true";
    s.ranks = whole<int>("ranks");
    s.ranks_per_node = whole<int>("ranks_per_node");
    s.streams = whole<int>("streams");
    read_timing(s);
    if (faults_.size() == before) {
      check(s);
    }
    return s;
  }

  void read_timing(Sample& s) {
    s.bytes = number("bytes");
    s.beside = text("beside");
    s.repeats = whole<std::int64_t>("repeats");
    s.seconds = number("seconds");
    s.spread_s = number("spread_s");
    s.elapsed_s = number("elapsed_s");
    s.clock_hz = number("clock_hz");
    s.power_w = number("power_w");
    s.temperature_c = number("temperature_c");
    s.flags = flags();
  }

  void need(bool filled, const char* cells, const Sample& s) {
    if (!filled) {
      complain(fmt::format("a {} sample needs {}", core::to_word(s.kind), cells));
    }
  }

  void check(const Sample& s) {
    need(!s.op.empty(), "op", s);
    need(s.seconds > 0, "seconds above zero", s);
    switch (s.kind) {
      case SampleKind::gemm:
        need(s.m > 0 && s.n > 0 && s.k > 0, "m, n and k", s);
        break;
      case SampleKind::attention:
        need(s.batch > 0 && s.sequence > 0 && s.query_heads > 0 && s.head_dim > 0,
             "batch, sequence, query_heads and head_dim", s);
        break;
      case SampleKind::collective:
        need(s.ranks > 1 && s.ranks_per_node > 0 && s.bytes > 0,
             "ranks above 1, ranks_per_node and bytes", s);
        break;
      case SampleKind::memory:
      case SampleKind::copy:
      case SampleKind::optimizer:
        need(s.bytes > 0, "bytes", s);
        break;
      case SampleKind::launch:
      case SampleKind::storage:
        break;
    }
  }

  const import::CsvTable& table_;
  int lines_before_;
  std::size_t row_ = 0;
  core::Diagnostics faults_;
};

}  // namespace

bool Sample::has(SampleFlag flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

void Sample::add(SampleFlag flag) {
  if (!has(flag)) {
    flags.push_back(flag);
  }
}

double work_flops(const Sample& s) {
  const auto count = [](std::int64_t value) { return static_cast<double>(value); };
  if (s.kind == SampleKind::gemm) {
    return 2 * count(s.m) * count(s.n) * count(s.k) * count(std::max<std::int64_t>(1, s.batch));
  }
  if (s.kind == SampleKind::attention) {
    const double forward = 4 * count(s.batch) * count(s.query_heads) * count(s.sequence) *
                           count(s.sequence) * count(s.head_dim) * (s.causal ? 0.5 : 1);
    return s.op == "backward" ? 2.5 * forward : forward;
  }
  return 0;
}

std::string SampleSet::fact(std::string_view name) const {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& f) { return f.name == name; });
  return found == facts.end() ? "" : found->value;
}

std::string write_samples(const SampleSet& set) {
  std::string out = std::string(kTitle) + "\n";
  for (const auto& fact : set.facts) {
    std::string value = fact.value;
    std::replace_if(
        value.begin(), value.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    out += fmt::format("# {}: {}\n", fact.name, value);
  }
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ",", kColumns[i]);
  }
  out += "\n";
  for (const auto& sample : set.samples) {
    out += row_text(sample);
  }
  return out;
}

SampleSet read_samples(std::string_view text, const std::string& file_name) {
  Head head = read_head(text);
  if (text.substr(0, kTitle.size()) != kTitle) {
    throw core::Error(core::SourceMark{file_name, 1, 1, 1, ""},
                      fmt::format("a table of samples begins with the line '{}'", kTitle));
  }
  const import::CsvTable table(text.substr(head.size), file_name);
  SampleSet set;
  set.samples = RowReader(table, head.lines).read();
  set.facts = std::move(head.facts);
  return set;
}

}  // namespace headway::fit

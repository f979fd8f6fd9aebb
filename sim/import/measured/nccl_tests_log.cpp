#include "sim/import/measured/nccl_tests_log.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// A word and where it stands in the text.
struct Word {
  std::string_view text;
  std::size_t offset = 0;
};

std::vector<Word> words_of(std::string_view line, std::size_t offset) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) {
      break;
    }
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back({line.substr(begin, end - begin), offset + begin});
    at = end;
  }
  return words;
}

bool is_type(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kTypes{
      "int8",  "uint8",  "int32",    "uint32",   "int64",    "uint64", "half",
      "float", "double", "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"};
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

/// Where the words between `type` and the times are a root alone, or `none`, nothing is reduced.
/// Source: test_opnames in src/common.cu of nccl-tests.
std::string reduction_of(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kOperations{"sum", "prod", "max",
                                                               "min", "avg",  "mulsum"};
  return std::find(kOperations.begin(), kOperations.end(), word) == kOperations.end()
             ? ""
             : std::string(word);
}

/// What mpirun puts before a line ends in this.
constexpr std::string_view kMpiPrefix = "<stdout>:";

/// Where the columns stand, counted from `size`.
struct Layout {
  std::size_t out_of_place = 5;             ///< column of the first `time`
  std::optional<std::size_t> in_place = 9;  ///< of the second
  std::size_t columns = 13;
};

/// The layout that a heading ("# size count type ... time algbw busbw ...") describes.
std::optional<Layout> heading_layout(const std::vector<Word>& words) {
  std::size_t start = 0;
  while (start + 3 < words.size() &&
         !(words[start].text == "size" && words[start + 1].text == "count" &&
           words[start + 2].text == "type")) {
    ++start;
  }
  std::vector<std::size_t> times;
  for (std::size_t i = start; i < words.size(); ++i) {
    if (words[i].text == "time" || words[i].text == "cputime") {
      times.push_back(i - start);
    }
  }
  if (start + 3 >= words.size() || times.empty()) {
    return std::nullopt;
  }
  Layout layout;
  layout.out_of_place = times[0];
  layout.in_place = times.size() > 1 ? std::optional(times[1]) : std::nullopt;
  layout.columns = words.size() - start;
  // -T 1: the column of a timestamp holds a date and a time of day, two words.
  layout.columns += words.back().text == "timestamp" ? 1 : 0;
  return layout;
}

/// Without a heading: 3 to 5 words come before the times, and each timing has 4 cells.
std::optional<Layout> counted_layout(std::size_t cells) {
  for (const std::size_t timings : {std::size_t{2}, std::size_t{1}}) {
    if (cells >= 3 + 4 * timings && cells <= 5 + 4 * timings) {
      const std::size_t first = cells - 4 * timings;
      return Layout{first, timings == 2 ? std::optional(first + 4) : std::nullopt, cells};
    }
  }
  return std::nullopt;
}

std::ptrdiff_t wrong_sizes(const NcclTestsLog& log) {
  return std::count_if(log.rows.begin(), log.rows.end(), [](const NcclTestsRow& row) {
    return (row.out_of_place && row.out_of_place->wrong) || (row.in_place && row.in_place->wrong);
  });
}

class LogReader {
 public:
  LogReader(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  NcclTestsLog read() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      read_line(text_.substr(at, end - at), at);
      at = end + 1;
    }
    if (log_.rows.empty() && faults_.empty()) {
      faults_.add(mark_of_file(file_name_),
                  "no line of results, as '8 2 float sum -1 13.67 0.00 0.00 0'; is this the "
                  "output of nccl-tests?");
    }
    faults_.throw_if_any();
    flag_wrong_data(log_);
    log_.ranks_listed.assign(ranks_.begin(), ranks_.end());
    for (const auto& [host, ranks] : ranks_of_host_) {
      log_.hosts.push_back(host);
    }
    return std::move(log_);
  }

 private:
  void read_line(std::string_view line, std::size_t offset) {
    if (const auto prefix = line.find(kMpiPrefix); prefix != std::string_view::npos) {
      offset += prefix + kMpiPrefix.size();
      line.remove_prefix(prefix + kMpiPrefix.size());
    }
    read_failure(line);
    const auto words = words_of(line, offset);
    if (line.find('#') != std::string_view::npos) {
      read_comment(words);
      return;
    }
    for (std::size_t i = 0; i + 3 < words.size(); ++i) {
      if (core::whole_text_as<std::uint64_t>(words[i].text) &&
          core::whole_text_as<std::uint64_t>(words[i + 1].text) && is_type(words[i + 2].text)) {
        read_row({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()});
        return;
      }
    }
  }

  /// "n01: Test NCCL failure common.cu:401 '...'", " .. n01 pid 1008: Test failure common.cu:588".
  /// Source: the macros of src/common.h of nccl-tests.
  void read_failure(std::string_view line) {
    static constexpr std::array<std::string_view, 4> kFailures{
        "Test NCCL failure", "Test CUDA failure", "Test failure", "Test timeout"};
    const bool fails = std::any_of(kFailures.begin(), kFailures.end(), [&](std::string_view words) {
      return line.find(words) != std::string_view::npos;
    });
    if (fails && log_.failure_line == 0) {
      log_.failure_line = line_;
      log_.failure = core::trimmed(line);
    }
  }

  void read_comment(const std::vector<Word>& words) {
    if (const auto layout = heading_layout(words)) {
      layout_ = layout;
      const auto is_cpu = [](const Word& word) { return word.text == "cputime"; };
      if (const auto cpu = std::find_if(words.begin(), words.end(), is_cpu); cpu != words.end()) {
        complain(*cpu, "the times are those of the CPU (-C 1), not of the collective");
      }
      return;
    }
    for (std::size_t i = 0; i + 3 < words.size(); ++i) {
      const auto is = [&](std::size_t at, std::string_view word) {
        return words[i + at].text == word;
      };
      if (is(0, "Rank") && (is(2, "Group") || is(2, "Pid"))) {
        read_rank({words.begin() + static_cast<std::ptrdiff_t>(i), words.end()});
      }
      log_.runs_begun += is(0, "nThread") ? 1 : 0;
      if (is(0, "Collective") && is(1, "test") && is(2, "starting:")) {
        log_.program = words[i + 3].text;
      }
      if (is(0, "Out") && is(1, "of") && is(2, "bounds") && i + 5 < words.size()) {
        log_.out_of_bounds = core::whole_text_as<double>(words[i + 5].text).value_or(0);
      }
      if (is(0, "Avg") && is(1, "bus") && is(2, "bandwidth")) {
        ++log_.runs_ended;
        log_.average_bus_gb_per_s = core::whole_text_as<double>(words.back().text);
      }
    }
  }

  /// "Rank 0 Group 0 Pid 1006102 on pool0-01806 device 0 [0000:19:00] NVIDIA H100 80GB HBM3"
  void read_rank(const std::vector<Word>& words) {
    const auto rank = core::whole_text_as<int>(words[1].text);
    if (!rank || !ranks_.insert(*rank).second) {
      return;
    }
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "on") {
        const std::string host(words[i + 1].text);
        log_.ranks_per_node = std::max(log_.ranks_per_node, ++ranks_of_host_[host]);
      }
      if (words[i].text.back() == ']') {
        const auto begin = words[i + 1].text.data();
        const auto& last = words.back().text;
        log_.device.assign(begin, static_cast<std::size_t>(last.data() + last.size() - begin));
        log_.device_line = line_;
      }
    }
  }

  void read_row(const std::vector<Word>& cells) {
    const auto layout = layout_ ? layout_ : counted_layout(cells.size());
    const auto& last = cells.back().text;
    const bool ends_the_text = last.data() + last.size() == text_.data() + text_.size();
    if (ends_the_text && (!layout || cells.size() < layout->columns)) {
      log_.cut_line = line_;
      return;
    }
    if (!layout || cells.size() != layout->columns) {
      complain(cells.back(), fmt::format("the row has {} cells, {}", cells.size(),
                                         layout ? fmt::format("the heading {}", layout->columns)
                                                : "which no layout of nccl-tests has"));
      return;
    }
    NcclTestsRow row;
    row.line = line_;
    row.bytes = *core::whole_text_as<std::uint64_t>(cells[0].text);
    if (static_cast<double>(row.bytes) > kLargestMessage) {
      complain(cells[0], "a message of more than a petabyte");
    }
    row.count = *core::whole_text_as<std::uint64_t>(cells[1].text);
    row.type = cells[2].text;
    row.reduction = layout->out_of_place > 3 ? reduction_of(cells[3].text) : "";
    row.out_of_place = read_timing(cells, layout->out_of_place);
    if (layout->in_place) {
      row.in_place = read_timing(cells, *layout->in_place);
    }
    log_.rows.push_back(std::move(row));
  }

  std::optional<NcclTiming> read_timing(const std::vector<Word>& cells, std::size_t first) {
    if (cells[first].text == "N/A") {
      return std::nullopt;
    }
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Word& cell = cells[first + i];
      const auto value = core::whole_text_as<double>(cell.text);
      // A time of zero is printed for an empty message and means nothing was sent.
      if (!value || !(*value >= 0) || *value > 1e15) {
        complain(cell, fmt::format("'{}' is not a {}", cell.text, i == 0 ? "time" : "bandwidth"));
        return std::nullopt;
      }
      values[i] = *value;
    }
    // The fourth cell is `#wrong`, a count that is printed as "%6g" is ("1.04858e+06", src/util.cu
    // of nccl-tests), or the older `error`, a deviation near rounding; "nan" is wrong too.
    const auto wrong =
        first + 3 < cells.size()
            ? core::whole_text_as<double, core::NonFinite::taken>(cells[first + 3].text)
            : std::nullopt;
    return NcclTiming{values[0], values[1], values[2], wrong && !(*wrong < 1)};
  }

  void complain(const Word& word, std::string message) {
    faults_.add(mark_at(text_, file_name_, word.offset, static_cast<int>(word.text.size())),
                std::move(message));
  }

  std::string_view text_;
  const std::string& file_name_;
  int line_ = 0;
  std::optional<Layout> layout_;
  std::set<int> ranks_;
  std::map<std::string, int> ranks_of_host_;
  NcclTestsLog log_;
  core::Diagnostics faults_;
};

}  // namespace

std::string wrong_data_of(const NcclTestsLog& log) {
  const auto wrong = wrong_sizes(log);
  const std::string sizes = fmt::format("{} of {} sizes have wrong values", wrong, log.rows.size());
  if (log.out_of_bounds > 0) {
    return fmt::format("{}, {:.0f} out of bounds", sizes, log.out_of_bounds);
  }
  return wrong > 0 ? sizes : "";
}

std::string unfinished_of(const NcclTestsLog& log) {
  if (log.failure_line == 0 && log.cut_line == 0 && log.runs_ended >= log.runs_begun) {
    return "";
  }
  const std::string last =
      log.rows.empty() ? "" : fmt::format("; its last size is {} B", log.rows.back().bytes);
  return (log.failure_line > 0 ? fmt::format("line {} says '{}'", log.failure_line, log.failure)
          : log.cut_line > 0
              ? fmt::format("it ends within line {}, which is left out", log.cut_line)
              : "it ends without '# Avg bus bandwidth'") +
         last;
}

void flag_wrong_data(NcclTestsLog& log) {
  if (log.out_of_bounds == 0 || wrong_sizes(log) > 0) {
    return;
  }
  for (NcclTestsRow& row : log.rows) {
    for (auto* timing : {&row.out_of_place, &row.in_place}) {
      if (*timing) {
        (*timing)->wrong = true;
      }
    }
  }
}

NcclTestsLog read_nccl_tests_log(std::string_view text, const std::string& file_name) {
  return LogReader(text, file_name).read();
}

}  // namespace headway::import

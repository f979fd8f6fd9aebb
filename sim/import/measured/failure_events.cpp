#include "sim/import/measured/failure_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/import/csv.h"

namespace headway::import {

using core::Seconds;
using failures::ComponentClass;

namespace {

/// What the words of known logs mean.
struct Kind {
  std::string_view word;
  ComponentClass component;
  int nodes_lost;
};
constexpr std::array kKinds{Kind{"node_failure", ComponentClass::host, 1},
                            Kind{"gpu_crash", ComponentClass::gpu, 1},
                            Kind{"nvlink_error", ComponentClass::nvlink, 1},
                            Kind{"hang", ComponentClass::software, 0},
                            Kind{"hang_at_eval", ComponentClass::software, 0},
                            Kind{"unexpected_termination", ComponentClass::unknown, 0},
                            Kind{"node_and_filesystem_failure", ComponentClass::storage_service, 1},
                            Kind{"emergency_maintenance", ComponentClass::maintenance, 0},
                            Kind{"planned_maintenance", ComponentClass::maintenance, 0}};

/// Rows that stopped no job.
constexpr std::array<std::string_view, 4> kNoInterruption{"start", "straggler",
                                                          "slow_node_suspected", "elastic_shrink"};

std::optional<int> digits(std::string_view text, std::size_t from, std::size_t count) {
  int value = 0;
  if (from + count > text.size()) {
    return std::nullopt;
  }
  const char* end = text.data() + from + count;
  const auto [stop, fault] = std::from_chars(text.data() + from, end, value);
  return fault == std::errc{} && stop == end && value >= 0 ? std::optional(value) : std::nullopt;
}

/// "20:14", "20:14:30" or "20:14:30.131500" in seconds.
std::optional<double> clock_time(std::string_view text) {
  constexpr std::size_t kWhole = 8;  // characters of "20:14:30"
  double fraction = 0;
  if (text.size() > kWhole && (text[kWhole] == '.' || text[kWhole] == ',')) {
    double scale = 1;
    for (const char c : text.substr(kWhole + 1)) {
      if (c < '0' || c > '9') {
        return std::nullopt;
      }
      scale /= 10;
      fraction += scale * (c - '0');
    }
    text = text.substr(0, kWhole);
  }
  const auto hour = digits(text, 0, 2);
  const auto minute = digits(text, 3, 2);
  const auto second = text.size() > 5 ? digits(text, 6, 2) : 0;
  const bool shape =
      (text.size() == 5 || (text.size() == kWhole && text[5] == ':')) && text[2] == ':';
  if (!shape || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return *hour * 3600.0 + *minute * 60.0 + *second + fraction;
}

/// The seconds that a clock of the zone at the end of a text is ahead of UTC: "Z", "+02:00",
/// "-0530", "+02". Takes the zone off the text; nothing where it has none.
std::optional<double> take_zone(std::string_view& text) {
  if (text.ends_with('Z') || text.ends_with('z')) {
    text.remove_suffix(1);
    return 0;
  }
  const auto at = text.find_last_of("+-");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view zone = text.substr(at + 1);
  const bool colon = zone.size() == 5 && zone[2] == ':';
  const auto hours = digits(zone, 0, 2);
  const auto minutes = zone.size() == 2 ? 0 : digits(zone, colon ? 3 : 2, 2);
  if ((zone.size() != 2 && zone.size() != 4 && !colon) || !hours || !minutes) {
    return std::nullopt;
  }
  const double ahead = *hours * 3600.0 + *minutes * 60.0;
  const bool behind = text[at] == '-';
  text = text.substr(0, at);
  return behind ? -ahead : ahead;
}

/// A point in time, of a zone that is written or of one that nobody names.
struct Moment {
  double seconds = 0;  ///< since 1970, of UTC where the zone is written
  bool zoned = false;
};

/// "2022-05-07", "2022-05-07 20:14", "2022-05-07T20:14:30", "2022-05-07T20:14:30.131500+02:00".
std::optional<Moment> date_time(std::string_view text) {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  const auto date = std::chrono::year(*year) / *month / *day;
  if (!date.ok()) {
    return std::nullopt;
  }
  const std::chrono::seconds midnight = std::chrono::sys_days(date).time_since_epoch();
  Moment moment{static_cast<double>(midnight.count()), false};
  if (text.size() > 10) {
    if (text[10] != ' ' && text[10] != 'T' && text[10] != 't') {
      return std::nullopt;
    }
    std::string_view clock = text.substr(11);
    const auto ahead = take_zone(clock);
    while (clock.ends_with(' ')) {
      clock.remove_suffix(1);
    }
    const auto time = clock_time(clock);
    if (!time) {
      return std::nullopt;
    }
    moment.seconds += *time - ahead.value_or(0);
    moment.zoned = ahead.has_value();
  }
  return moment;
}

std::optional<double> number(std::string_view text) {
  const auto value = core::whole_text_as<double>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// The text without leading comments, and how many lines they had.
std::pair<std::string_view, int> without_comments(std::string_view text) {
  int lines = 0;
  while (text.starts_with('#')) {
    const auto end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++lines;
  }
  return {text, lines};
}

class FailureLogReader {
 public:
  FailureLogReader(std::string_view text, int comments, const std::string& file)
      : table_(text, file), file_(file), comments_(comments) {
    time_ = first_of({"time", "datetime", "datetime_local", "date"});
    kind_ = first_of({"kind", "event"});
    if (time_.empty() || kind_.empty()) {
      throw core::Error(
          fmt::format("{}: a log of failures needs a column 'time' (or 'date') and a column 'kind' "
                      "(or 'event')",
                      file));
    }
  }

  FailureEvents read() {
    find_origin();
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      read_row(row);
    }
    faults_.throw_if_any();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool has(std::string_view column) const {
    const auto& columns = table_.columns();
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }
  [[nodiscard]] std::string first_of(std::initializer_list<std::string_view> names) const {
    for (const auto name : names) {
      if (has(name)) {
        return std::string(name);
      }
    }
    return {};
  }
  [[nodiscard]] int line(std::size_t row) const { return table_.line(row) + comments_; }

  /// The first row that says that the run started (a restart may say so again), else the first.
  void find_origin() {
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      const auto date = date_time(table_.text(row, time_));
      const bool starts = date && table_.text(row, kind_) == "start";
      origin_ = starts || !origin_ ? date : origin_;
      if (starts) {
        return;
      }
    }
  }

  void leave_out(std::size_t row, std::string_view why) {
    result_.left_out.push_back(
        fmt::format("{}:{}: '{}' {}", file_, line(row), table_.text(row, kind_), why));
  }
  void complain(std::size_t row, std::string message) {
    faults_.add(core::SourceMark{file_, line(row), 1, 1, {}}, std::move(message));
  }

  void read_row(std::size_t row) {
    const std::string& kind = table_.text(row, kind_);
    if (std::find(kNoInterruption.begin(), kNoInterruption.end(), kind) != kNoInterruption.end()) {
      return leave_out(row, "did not stop the job");
    }
    const std::string& when = table_.text(row, time_);
    std::optional<double> at = number(when);
    if (const auto date = date_time(when)) {
      if (date->zoned != origin_->zoned) {
        return complain(row, fmt::format("'{}' {} a time zone, and the start of the run {}; write "
                                         "all times with one, or none",
                                         when, date->zoned ? "has" : "has not",
                                         origin_->zoned ? "has" : "has not"));
      }
      at = date->seconds - origin_->seconds;
    }
    if (!at) {
      return leave_out(row, fmt::format("has no exact time: '{}' (read are seconds, 2022-05-07 "
                                        "20:14:30 and ISO 8601)",
                                        when));
    }
    if (*at < 0) {
      return complain(row, fmt::format("'{}' lies before the start of the run", when));
    }
    failures::RecordedFailureSpec event;
    event.at = Seconds(*at);
    event.name = kind;
    describe(row, kind, event);
    result_.events.push_back(std::move(event));
  }

  void describe(std::size_t row, const std::string& kind, failures::RecordedFailureSpec& event) {
    const auto known =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.word == kind; });
    if (known != kKinds.end()) {
      event.component = known->component;
      event.nodes_lost = known->nodes_lost;
    }
    if (has("component")) {
      const std::string& word = table_.text(row, "component");
      const auto component = core::from_word<ComponentClass>(word);
      if (!component) {
        return complain(row, fmt::format("'{}' is no component that fails", word));
      }
      event.component = *component;
    }
    if (has("nodes_lost")) {
      event.nodes_lost = std::max(0, table_.integer(row, "nodes_lost").value_or(event.nodes_lost));
    }
    if (has("repair")) {
      if (const auto repair = table_.number(row, "repair")) {
        event.repair = Seconds(std::max(0.0, *repair));
      }
    }
  }

  CsvTable table_;
  std::string file_;
  int comments_;
  std::string time_, kind_;
  std::optional<Moment> origin_;
  FailureEvents result_;
  core::Diagnostics faults_;
};

}  // namespace

FailureEvents read_failure_events(std::string_view text, const std::string& file) {
  const auto [table, comments] = without_comments(text);
  return FailureLogReader(table, comments, file).read();
}

}  // namespace headway::import

#include "sim/import/measured/fio_json.h"

#include <algorithm>
#include <charconv>

#include "sim/import/json_text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

using nlohmann::json;

/// fio prints its warnings before the object.
std::string_view from_first_brace(std::string_view text) {
  const std::size_t brace = text.find("{\n");
  const bool before = brace != std::string_view::npos && brace > 0 && text[brace - 1] == '\n';
  return before ? text.substr(brace) : text;
}

/// A number among "job options", where all values are texts; `otherwise` if absent.
int option(const json& options, const char* key, int otherwise) {
  return options.is_object() ? static_cast<int>(number_at(options, key).value_or(otherwise))
                             : otherwise;
}

class FioReader {
 public:
  FioReader(std::string_view text, const std::string& file_name)
      : text_(from_first_brace(text)),
        file_name_(file_name),
        line_offset_(static_cast<int>(std::count(
            text.begin(), text.end() - static_cast<std::ptrdiff_t>(text_.size()), '\n'))),
        top_(parse_json_object(text_, file_name, "the output of fio --output-format=json")) {}

  std::vector<FioTiming> read() {
    const auto jobs = top_.find("jobs");
    if (jobs == top_.end() || !jobs->is_array() || jobs->empty()) {
      throw core::Error(mark_of_file(file_name_),
                        "there is no list 'jobs'; run fio with --output-format=json");
    }
    for (const auto& one : *jobs) {
      read_job(one);
      ++job_;
    }
    if (timings_.empty() && faults_.empty()) {
      faults_.add(mark_of_key(text_, file_name_, "jobs"), "no job read or wrote anything");
    }
    faults_.throw_if_any();
    return std::move(timings_);
  }

 private:
  void complain(std::string message) {
    auto mark = mark_of_key(text_, file_name_, "jobname", job_);
    mark.line += mark.line > 0 ? line_offset_ : 0;
    faults_.add(std::move(mark), std::move(message));
  }

  void read_job(const json& one) {
    const std::string name = one.is_object() ? text_at(one, "jobname") : "";
    if (name.empty()) {
      complain(fmt::format("job {} has no jobname", job_));
      return;
    }
    if (const auto error = number_at(one, "error"); error && *error != 0) {
      complain(fmt::format("job '{}' failed with error {}", name, *error));
      return;
    }
    const json options = merged_options(one);
    const int streams =
        std::max(1, option(options, "numjobs", 1)) * std::max(1, option(options, "iodepth", 1));
    const bool direct = option(options, "direct", 0) == 1;
    for (const auto& [key, direction] :
         {std::pair{"read", FioDirection::read}, std::pair{"write", FioDirection::write}}) {
      if (one.contains(key)) {
        read_direction(one.at(key), {name, direction, streams, direct, 0, 0, 0, 0, 0});
      }
    }
    if (one.contains("sync")) {
      read_sync(one.at("sync"), name);
    }
  }

  /// "global options" with the job's own over them.
  [[nodiscard]] json merged_options(const json& one) const {
    json options = top_.value("global options", json::object());
    if (one.contains("job options")) {
      options.update(one.at("job options"));
    }
    return options;
  }

  void read_direction(const json& figures, FioTiming timing) {
    const double bytes = figures.is_object() ? number_at(figures, "io_bytes").value_or(-1) : -1;
    const double milliseconds =
        figures.is_object() ? number_at(figures, "runtime").value_or(-1) : -1;
    if (bytes < 0 || milliseconds < 0) {
      complain(fmt::format("job '{}': '{}' needs io_bytes and runtime", timing.job,
                           timing.direction == FioDirection::read ? "read" : "write"));
      return;
    }
    if (bytes <= 0 || milliseconds <= 0) {
      return;  // this direction was not used
    }
    timing.bytes = bytes;
    timing.seconds = milliseconds * 1e-3;
    // bw is in KiB/s; bw_bytes came with fio 3.
    timing.bytes_per_s = number_at(figures, "bw_bytes").value_or(timing.bytes / timing.seconds);
    timing.spread_bytes_per_s = number_at(figures, "bw_dev").value_or(0) * 1024;
    timing.operations = static_cast<std::int64_t>(number_at(figures, "total_ios").value_or(0));
    timings_.push_back(std::move(timing));
  }

  void read_sync(const json& figures, const std::string& name) {
    const auto latency =
        figures.is_object() && figures.contains("lat_ns") ? figures.at("lat_ns") : json();
    const double count = figures.is_object() ? number_at(figures, "total_ios").value_or(0) : 0;
    const double mean = latency.is_object() ? number_at(latency, "mean").value_or(0) : 0;
    if (mean > 0 && count > 0) {
      timings_.push_back({name, FioDirection::sync, 1, false, 0, mean * 1e-9, 0, 0,
                          static_cast<std::int64_t>(count)});
    }
  }

  std::string_view text_;
  const std::string& file_name_;
  int line_offset_;
  json top_;
  std::size_t job_ = 0;
  std::vector<FioTiming> timings_;
  core::Diagnostics faults_;
};

}  // namespace

std::vector<FioTiming> read_fio_json(std::string_view text, const std::string& file_name) {
  return FioReader(text, file_name).read();
}

}  // namespace headway::import

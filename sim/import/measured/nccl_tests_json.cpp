#include "sim/import/measured/nccl_tests_json.h"

#include <algorithm>
#include <map>

#include "sim/import/json_text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

using nlohmann::json;

class ReportReader {
 public:
  ReportReader(std::string_view text, const std::string& file_name)
      : text_(text),
        file_name_(file_name),
        top_(parse_json_object(text, file_name, "the report of nccl-tests -J")) {}

  NcclTestsLog read() {
    const auto results = top_.find("results");
    if (results == top_.end() || !results->is_array()) {
      throw core::Error(mark_of_file(file_name_),
                        "there is no list 'results'; is this the report of nccl-tests -J?");
    }
    read_config();
    for (const auto& result : *results) {
      read_result(result);
      ++row_;
    }
    if (log_.rows.empty() && faults_.empty()) {
      faults_.add(mark_of_key(text_, file_name_, "results"), "the list 'results' is empty");
    }
    faults_.throw_if_any();
    if (const auto average = top_.find("average_bus_bandwidth");
        average != top_.end() && average->is_object()) {
      log_.average_bus_gb_per_s = number_at(*average, "bandwidth");
    }
    if (const auto wrong = top_.find("out_of_bounds"); wrong != top_.end() && wrong->is_object()) {
      log_.out_of_bounds = number_at(*wrong, "count").value_or(0);
    }
    flag_wrong_data(log_);
    return std::move(log_);
  }

 private:
  void read_config() {
    if (const auto args = top_.find("args");
        args != top_.end() && args->is_array() && !args->empty() && args->front().is_string()) {
      const std::string program = args->front().get<std::string>();
      log_.program = program.substr(program.find_last_of('/') + 1);
    }
    const auto config = top_.find("config");
    if (config == top_.end() || !config->is_object() || !config->contains("devices")) {
      return;
    }
    std::map<std::string, int> ranks_of_host;
    for (const auto& device : config->at("devices")) {
      const auto rank = device.is_object() ? number_at(device, "rank") : std::nullopt;
      if (rank) {
        log_.ranks_listed.push_back(static_cast<int>(*rank));
        log_.ranks_per_node =
            std::max(log_.ranks_per_node, ++ranks_of_host[text_at(device, "hostname")]);
        log_.device = text_at(device, "device_info");
      }
    }
    std::sort(log_.ranks_listed.begin(), log_.ranks_listed.end());
    for (const auto& [host, ranks] : ranks_of_host) {
      log_.hosts.push_back(host);
    }
  }

  void complain(std::string message) {
    faults_.add(mark_of_key(text_, file_name_, "size", row_), std::move(message));
  }

  void read_result(const json& result) {
    const auto size = result.is_object() ? number_at(result, "size") : std::nullopt;
    if (!size || *size < 0) {
      complain(fmt::format("result {} has no size", row_));
      return;
    }
    if (*size > kLargestMessage) {
      complain(fmt::format("result {} is a message of more than a petabyte", row_));
      return;
    }
    NcclTestsRow row;
    row.line = mark_of_key(text_, file_name_, "size", row_).line;
    row.bytes = static_cast<std::uint64_t>(*size);
    row.count = static_cast<std::uint64_t>(
        std::clamp(number_at(result, "count").value_or(0), 0.0, kLargestMessage));
    row.type = text_at(result, "type");
    const std::string reduction = text_at(result, "redop");
    row.reduction = reduction == "none" ? "" : reduction;
    if (row.type.empty()) {
      complain(fmt::format("result {} has no type", row_));
    }
    row.out_of_place = read_timing(result, "out_of_place");
    row.in_place = read_timing(result, "in_place");
    log_.rows.push_back(std::move(row));
  }

  std::optional<NcclTiming> read_timing(const json& result, const char* key) {
    const auto found = result.find(key);
    if (found == result.end() || found->is_null()) {
      return std::nullopt;
    }
    if (found->is_object() && found->contains("cpu_time")) {
      complain("the times are those of the CPU (-C 1), not of the collective");
      return std::nullopt;
    }
    const auto number = [&](const char* name) {
      return found->is_object() ? number_at(*found, name).value_or(-1) : -1;
    };
    const double time = number("time");
    const double algorithm = number("alg_bw");
    const double bus = number("bus_bw");
    if (time < 0 || algorithm < 0 || bus < 0) {
      complain(fmt::format("result {}: '{}' needs the numbers time, alg_bw and bus_bw", row_, key));
      return std::nullopt;
    }
    return NcclTiming{time, algorithm, bus, number_at(*found, "nwrong").value_or(0) > 0};
  }

  std::string_view text_;
  const std::string& file_name_;
  json top_;
  std::size_t row_ = 0;
  NcclTestsLog log_;
  core::Diagnostics faults_;
};

}  // namespace

NcclTestsLog read_nccl_tests_json(std::string_view text, const std::string& file_name) {
  return ReportReader(text, file_name).read();
}

}  // namespace headway::import

#include "sim/import/measured/goodput_summary.h"

#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/error.h"
#include "sim/import/json_text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

using nlohmann::json;

/// "BadputType.Data_Loading_Sync" is DATA_LOADING_SYNC.
std::string kind_of_time(const std::string& key) {
  std::string word = key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1);
  for (char& c : word) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return word;
}

class GoodputReader {
 public:
  GoodputReader(std::string_view text, const std::string& file_name)
      : text_(text),
        file_name_(file_name),
        top_(parse_json_object(text, file_name, "details of ml-goodput-measurement")) {}

  GoodputSummary read() {
    GoodputSummary summary;
    for (const auto& [kind, seconds] : times("goodput_time")) {
      summary.productive += seconds;
    }
    summary.lost = times("badput_time");
    summary.elapsed = figure("total_elapsed_time");
    summary.ideal_step = figure("ideal_step_time");
    summary.steps = figure("max_productive_step");
    summary.disruptions = figure("disruption_count");
    faults_.throw_if_any();
    return summary;
  }

 private:
  /// A number of zero or more; of an object the sum of what is in it.
  double seconds_of(const char* key, const json& value) {
    if (value.is_object()) {
      double sum = 0;
      for (const auto& [name, part] : value.items()) {
        sum += seconds_of(key, part);
      }
      return sum;
    }
    if (value.is_null()) {
      return 0;
    }
    const double seconds = value.is_number() ? value.get<double>() : -1;
    if (!(seconds >= 0) || !std::isfinite(seconds)) {
      faults_.add(mark_of_key(text_, file_name_, key),
                  fmt::format("'{}' holds {}, which is no number of zero or more", key,
                              value.dump().substr(0, 40)));
      return 0;
    }
    return seconds;
  }

  std::map<std::string, double> times(const char* key) {
    std::map<std::string, double> out;
    const auto found = top_.find(key);
    if (found == top_.end() || !found->is_object()) {
      faults_.add(mark_of_key(text_, file_name_, key),
                  fmt::format("'{}' is no object of times", key));
      return out;
    }
    for (const auto& [name, value] : found->items()) {
      out[kind_of_time(name)] += seconds_of(key, value);
    }
    return out;
  }

  double figure(const char* key) {
    const auto found = top_.find(key);
    return found == top_.end() ? 0 : seconds_of(key, *found);
  }

  std::string_view text_;
  const std::string& file_name_;
  json top_;
  core::Diagnostics faults_;
};

}  // namespace

bool is_goodput_summary(std::string_view text) {
  return text.find("\"goodput_time\"") != std::string_view::npos &&
         text.find("\"badput_time\"") != std::string_view::npos &&
         text.find("\"total_elapsed_time\"") != std::string_view::npos;
}

GoodputSummary read_goodput_summary(std::string_view text, const std::string& file_name) {
  return GoodputReader(text, file_name).read();
}

}  // namespace headway::import

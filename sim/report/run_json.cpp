#include "sim/report/run_json.h"

#include "sim/report/json_parts.h"
#include "sim/report/table.h"

namespace headway::report {

namespace {

/// Appends `path,value` for every leaf below `json`; array elements are written "path[2]".
void flatten(const Json& json, const std::string& path, std::string& out) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      flatten(value, path.empty() ? key : path + "." + key, out);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      flatten(json[i], path + "[" + std::to_string(i) + "]", out);
    }
  } else {
    const std::string value =
        json.is_string() ? json.get<std::string>() : (json.is_null() ? "" : json.dump());
    out += csv_field(path) + "," + csv_field(value) + "\n";
  }
}

}  // namespace

std::string run_json(const RunReport& report) { return dump(run_object(report)); }

std::string run_csv(const RunReport& report) {
  std::string out = "key,value\n";
  flatten(run_object(report), "", out);
  return out;
}

}  // namespace headway::report

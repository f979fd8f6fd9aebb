#include "sim/report/table_json.h"

#include <cstdint>
#include <string>

#include "sim/core/text.h"
#include "sim/report/result_json.h"

namespace headway::report {

namespace {

/// Of a column of numbers: a number, nothing where the cell is empty, else its text.
Json value_of(const std::string& text) {
  if (const auto count = core::whole_text_as<std::int64_t>(text)) {
    return Json(*count);
  }
  if (const auto value = core::whole_text_as<double>(text)) {
    return Json(*value);
  }
  return text.empty() ? Json() : Json(text);
}

}  // namespace

std::string table_json(const std::string& schema, const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      object[table.columns[c].heading] = table.columns[c].numeric ? value_of(row[c]) : Json(row[c]);
    }
    rows.push_back(object);
  }
  return dump({{"schema", schema}, {"version", HEADWAY_VERSION}, {"rows", rows}});
}

}  // namespace headway::report

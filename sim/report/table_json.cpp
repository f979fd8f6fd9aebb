#include "sim/report/table_json.h"

#include <charconv>
#include <string>
#include <system_error>

#include "sim/report/result_json.h"

namespace headway::report {

namespace {

/// Of a column of numbers: a number, nothing where the cell is empty, else its text.
Json value_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole) {
    return text.empty() ? Json() : Json(text);
  }
  const bool counts = text.find_first_not_of("-0123456789") == std::string::npos;
  return counts ? Json(std::stoll(text)) : Json(value);
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

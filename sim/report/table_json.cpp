#include "sim/report/table_json.h"

#include "sim/report/result_json.h"

namespace headway::report {

std::string table_json(const std::string& schema, const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      object[table.columns[c].heading] = row[c];
    }
    rows.push_back(object);
  }
  return dump({{"schema", schema}, {"version", HEADWAY_VERSION}, {"rows", rows}});
}

}  // namespace headway::report

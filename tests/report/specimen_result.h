// A result of any verb with every member it may have: lists and maps have one part, numbers are 0.
#pragma once

#include <algorithm>
#include <string_view>

#include "sim/report/result_json.h"
#include "sim/report/result_types.h"

namespace headway::report {

/// Lists of a fixed length have all of it.
inline Json specimen_value(const core::Figure& figure) {
  if (figure.kind == core::FigureKind::list) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::max<std::size_t>(1, figure.length); ++i) {
      list.push_back(specimen_value(figure.parts.front()));
    }
    return list;
  }
  if (figure.kind == core::FigureKind::object || figure.kind == core::FigureKind::map) {
    Json object = Json::object();
    for (const auto& part : figure.parts) {
      object[part.key] = specimen_value(part);
    }
    return object;
  }
  return to_json(figure);
}

inline Json specimen_result(std::string_view schema) {
  const auto& types = result_types();
  const auto type = std::find_if(types.begin(), types.end(),
                                 [&](const ResultType& each) { return each.schema == schema; });
  Json json{{"schema", schema}};
  json.update(specimen_value(type->specimen));
  return json;
}

}  // namespace headway::report

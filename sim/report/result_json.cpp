#include "sim/report/result_json.h"

#include <fmt/format.h>

#include "sim/config/range_schema.h"
#include "sim/report/table.h"

namespace headway::report {

using core::Figure;
using core::FigureKind;

namespace {

constexpr std::string_view kMadeFrom =
    "Made from the field lists of the results by HEADWAY_UPDATE_GOLDEN=1 headway_report_test; do "
    "not edit.";

Json members(const Figure& figure) {
  Json out = Json::object();
  for (const Figure& part : figure.parts) {
    if (!part.absent || !part.on_request) {
      out[part.key] = to_json(part);
    }
  }
  return out;
}

Json elements(const Figure& figure) {
  Json out = Json::array();
  for (const Figure& part : figure.parts) {
    out.push_back(to_json(part));
  }
  return out;
}

const char* type_of(FigureKind kind) {
  switch (kind) {
    case FigureKind::number:
      return "number";
    case FigureKind::integer:
      return "integer";
    case FigureKind::flag:
      return "boolean";
    case FigureKind::text:
    case FigureKind::word:
    case FigureKind::digest:
      return "string";
    case FigureKind::object:
    case FigureKind::map:
      return "object";
    case FigureKind::list:
      return "array";
  }
  return "null";
}

Json schema_of_figure(const Figure& figure);

void add_object(const Figure& figure, Json& schema) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Figure& part : figure.parts) {
    properties[part.key] = schema_of_figure(part);
    if (!part.on_request) {
      required.push_back(part.key);
    }
  }
  schema["properties"] = std::move(properties);
  schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
}

void add_parts(const Figure& figure, Json& schema) {
  switch (figure.kind) {
    case FigureKind::object:
      add_object(figure, schema);
      return;
    case FigureKind::map:
      schema["additionalProperties"] = schema_of_figure(figure.parts.front());
      return;
    case FigureKind::list:
      schema["items"] = schema_of_figure(figure.parts.front());
      if (figure.length > 0) {
        schema["minItems"] = figure.length;
        schema["maxItems"] = figure.length;
      }
      return;
    default:
      return;
  }
}

Json schema_of_figure(const Figure& figure) {
  Json schema = Json::object();
  if (!figure.meaning.empty()) {
    const bool unit = !figure.unit.empty() && figure.unit != "1";
    schema["description"] =
        unit ? fmt::format("{} [{}]", figure.meaning, figure.unit) : std::string(figure.meaning);
  }
  const char* type = type_of(figure.kind);
  schema["type"] = figure.optional ? Json{type, "null"} : Json(type);
  if (figure.kind == FigureKind::word) {
    schema["enum"] = figure.words;
    if (figure.optional) {
      schema["enum"].push_back(nullptr);
    }
  }
  if (figure.kind == FigureKind::digest) {
    schema["pattern"] = "^[0-9a-f]{16}$";
  }
  if (figure.kind == FigureKind::number || figure.kind == FigureKind::integer) {
    config::add_range(figure.range, schema);
  }
  add_parts(figure, schema);
  return schema;
}

/// Appends `path,value` for every leaf below `json`; array elements are written "path[2]".
void flatten(const Json& json, const std::string& path, std::string& out) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      flatten(value, path.empty() ? key : path + "." + key, out);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      flatten(json[i], fmt::format("{}[{}]", path, i), out);
    }
  } else {
    const std::string value =
        json.is_string() ? json.get<std::string>() : (json.is_null() ? "" : json.dump());
    out += csv_field(path) + "," + csv_field(value) + "\n";
  }
}

}  // namespace

Json to_json(const Figure& figure) {
  if (figure.absent) {
    return nullptr;
  }
  switch (figure.kind) {
    case FigureKind::number:
      return figure.number;
    case FigureKind::integer:
      return figure.integer;
    case FigureKind::flag:
      return figure.integer != 0;
    case FigureKind::text:
    case FigureKind::word:
    case FigureKind::digest:
      return figure.text;
    case FigureKind::object:
    case FigureKind::map:
      return members(figure);
    case FigureKind::list:
      return elements(figure);
  }
  return nullptr;
}

Json result_object(std::string_view schema, const Figure& result) {
  Json out{{"schema", schema}};
  out.update(to_json(result));
  return out;
}

Json schema_of_result(std::string_view schema, const Figure& specimen) {
  Json out{{"$schema", "http://json-schema.org/draft-07/schema#"},
           {"$comment", kMadeFrom},
           {"title", fmt::format("A result with \"schema\": \"{}\"", schema)}};
  out.update(schema_of_figure(specimen));
  Json properties{{"schema", {{"const", schema}}}};
  properties.update(out["properties"]);
  out["properties"] = std::move(properties);
  out["required"].insert(out["required"].begin(), "schema");
  return out;
}

std::string flat_csv(const Json& object) {
  std::string out = "key,value\n";
  flatten(object, "", out);
  return out;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::report

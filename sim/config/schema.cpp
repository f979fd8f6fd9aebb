#include "sim/config/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/config/arguments/search_keys.h"
#include "sim/config/load.h"
#include "sim/config/range_schema.h"
#include "sim/config/spec_type.h"
#include "sim/config/unit_text.h"
#include "sim/config/writer.h"
#include "sim/core/error.h"

namespace headway::config {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNumberPattern = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?";

Json reference(std::string_view definition) {
  return {{"$ref", fmt::format("#/definitions/{}", definition)}};
}

/// One of several schemas.
Json any_of(std::vector<Json> schemas) { return {{"anyOf", Json(std::move(schemas))}}; }

/// `scalar`, or the same as {value: ..., source: ...}.
Json with_source(const Json& scalar) {
  Json sourced = {{"type", "object"}, {"additionalProperties", false}};
  sourced["properties"] = {{"value", scalar},
                           {"source", {{"type", "string"}}},
                           {"standard_error", {{"type", "number"}, {"minimum", 0}}}};
  sourced["required"] = Json::array({"value"});
  return any_of({scalar, sourced});
}

/// The words for a default in a schema; null where the type has none that can be written.
Json default_value(const SpecType& type, const void* value) {
  switch (type.shape) {
    case Shape::number:
      return type.get_number(value);
    case Shape::integer:
      return type.get_integer(value);
    case Shape::flag:
      return type.get_integer(value) != 0;
    case Shape::record:
    case Shape::list:
      return nullptr;
    case Shape::optional:
      return type.size(value) == 0 ? Json(nullptr)
                                   : default_value(*type.element, type.get_element(value, 0));
    default:
      return to_tree(type, value, {}).text;
  }
}

/// Keys of `search` and `sweep` that lead to fields of a scenario: a path, or its first part.
Json path_keys() {
  std::vector<std::string_view> parts;
  for (const Field& field : find_kind("scenarios")->type->fields) {
    if (field.type->shape == Shape::record && find_path_block(field.name) == nullptr) {
      parts.push_back(field.name);
    }
  }
  return {{"^[a-z0-9_]+([.][a-z0-9_]+|\\[[0-9]+\\])+$",
           {{"description", "Values that this field of the scenario is tried with."}}},
          {fmt::format("^({})$", fmt::join(parts, "|")),
           {{"description",
             "Fields of this block of the scenario, nested as there, each with the values that it "
             "is tried with."}}}};
}

/// Collects the definitions that a schema refers to.
class SchemaWriter {
 public:
  Json value(const SpecType& type, const core::Range& range, bool partial);
  /// Defines a struct; `partial`: as an override, where nothing is required.
  std::string record(const SpecType& type, bool partial);
  Json definitions() { return std::move(definitions_); }

 private:
  Json scalar(const SpecType& type, const core::Range& range);
  Json scalar_or_sourced(const SpecType& type, const core::Range& range);
  std::string quantity(Dimension dimension);
  Json object(const SpecType& type, bool partial);

  Json definitions_ = Json::object();
};

std::string SchemaWriter::quantity(Dimension dimension) {
  std::string name(dimension_name(dimension));
  name = name.substr(name.find(' ') + 1);
  std::replace(name.begin(), name.end(), ' ', '_');
  if (!definitions_.contains(name)) {
    const std::string pattern = fmt::format("^{} *{}$", kNumberPattern, unit_pattern(dimension));
    definitions_[name] = with_source({{"type", "string"}, {"pattern", pattern}});
  }
  return name;
}

Json SchemaWriter::scalar(const SpecType& type, const core::Range& range) {
  Json schema;
  switch (type.shape) {
    case Shape::integer:
      schema = {{"type", "integer"}, {"maximum", type.largest}};
      break;
    case Shape::number:
      schema = {{"type", "number"}};
      break;
    case Shape::flag:
      return {{"type", "boolean"}};
    case Shape::word:
      return {{"enum", type.words}};
    default:
      return {{"type", {"string", "number", "boolean"}}};
  }
  add_range(range, schema);
  return schema;
}

/// A plain value, or {value: ..., source: ...}, whose value only the reader checks: spelling it out
/// here would double the schema. Numbers may be text: with a magnitude, and YAML 1.1 parsers, which
/// many editors use, take 15.6e12 for text.
Json SchemaWriter::scalar_or_sourced(const SpecType& type, const core::Range& range) {
  if (!definitions_.contains("sourced_value")) {
    Json sourced = {{"type", "object"}, {"additionalProperties", false}};
    sourced["properties"] = {{"value", {{"type", {"string", "number", "boolean"}}}},
                             {"source", {{"type", "string"}}},
                             {"standard_error", {{"type", "number"}, {"minimum", 0}}}};
    sourced["required"] = Json::array({"value"});
    definitions_["sourced_value"] = std::move(sourced);
  }
  const bool counts = type.shape == Shape::number || type.shape == Shape::integer;
  if (counts && !definitions_.contains("written_number")) {
    const std::string pattern = fmt::format("^{}{}$", kNumberPattern, magnitude_pattern());
    definitions_["written_number"] =
        any_of({{{"type", "string"}, {"pattern", pattern}}, reference("sourced_value")});
  }
  return any_of({scalar(type, range), reference(counts ? "written_number" : "sourced_value")});
}

Json SchemaWriter::value(const SpecType& type, const core::Range& range, bool partial) {
  switch (type.shape) {
    case Shape::record:
      return reference(record(type, partial));
    case Shape::list: {
      Json items = {{"type", "array"}, {"items", value(*type.element, range, false)}};
      // Lengths of documents may stand in a file of their own.
      return type.element->name == "DocumentLength"
                 ? any_of({std::move(items), {{"type", "string"}, {"pattern", "\\.csv$"}}})
                 : items;
    }
    case Shape::optional:
      return any_of({value(*type.element, range, partial), {{"type", "null"}}});
    case Shape::or_auto:
      return any_of({{{"const", "auto"}}, value(*type.element, range, partial)});
    case Shape::quantity:
      return reference(quantity(type.dimension));
    default:
      return scalar_or_sourced(type, range);
  }
}

Json SchemaWriter::object(const SpecType& type, bool partial) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Field& field : type.fields) {
    Json schema = {{"description", field.description}};
    if (Json inner = value(*field.type, field.range, partial); inner.contains("$ref")) {
      // A sibling of $ref is ignored in draft-07, so the reference goes into allOf.
      schema["allOf"] = Json::array({std::move(inner)});
    } else {
      schema.update(inner);
    }
    if (field.required) {
      required.push_back(field.name);
    } else if (Json given = default_value(*field.type, field.in(type.defaults)); !given.is_null()) {
      schema["default"] = std::move(given);
    }
    properties[std::string(field.name)] = std::move(schema);
  }
  const std::string from = type.catalogue.empty()
                               ? "a file, such as ./x.yaml"
                               : fmt::format("an entry of configs/{}, or a file", type.catalogue);
  properties["use"] = {
      {"type", "string"},
      {"description", fmt::format("Name of {}; the other keys override it.", from)}};
  if (type.catalogue == "models") {
    properties["huggingface"] = {{"type", "string"},
                                 {"description", "Path of a Hugging Face config.json."}};
  }
  properties["source"] = {{"type", "string"},
                          {"description", "Where the figures come from: document and date."}};
  Json schema = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (type.name == "SearchSpec" || type.name == "SweepSpec") {  // search_keys.h
    schema["patternProperties"] = path_keys();
  }
  if (!partial && !required.empty()) {
    schema["required"] = std::move(required);
  }
  return schema;
}

std::string SchemaWriter::record(const SpecType& type, bool partial) {
  const std::string name(type.name);
  const std::string changed = name + "_overrides";
  if (!definitions_.contains(changed)) {
    definitions_[changed] = nullptr;
    definitions_[changed] = object(type, true);
  }
  if (partial) {
    return changed;
  }
  if (!definitions_.contains(name)) {
    const std::string written = name + "_complete";
    definitions_[name] = nullptr;
    definitions_[written] = object(type, false);
    const Json uses = {{"required", Json::array({"use"})}};
    const Json imports = {{"required", Json::array({"huggingface"})}};
    definitions_[name] = {{"if", type.catalogue == "models" ? any_of({uses, imports}) : uses},
                          {"then", reference(changed)},
                          {"else", reference(written)}};
  }
  return name;
}

}  // namespace

std::string schema_of(std::string_view kind) {
  const CatalogueKind* found = find_kind(kind);
  if (found == nullptr) {
    const auto kinds = catalogue_kinds();
    const auto near = core::did_you_mean(kind, {kinds.begin(), kinds.end()});
    throw core::Error(fmt::format("there is no kind of file '{}'; there are {}{}", kind,
                                  fmt::join(kinds, ", "),
                                  near ? fmt::format("; did you mean '{}'?", *near) : ""));
  }
  SchemaWriter writer;
  const std::string root = writer.record(*found->type, false);
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"$comment", fmt::format("Written by `headway schema {}` from the field lists; a "
                                          "test compares it. Do not edit.",
                                          kind)},
                 {"title", fmt::format("Headway: a file of configs/{}", kind)},
                 {"allOf", Json::array({reference(root)})},
                 {"definitions", writer.definitions()}};
  return schema.dump(2) + "\n";
}

}  // namespace headway::config

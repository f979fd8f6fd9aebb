// A tree of figures as JSON, as `key,value` lines and as JSON Schema.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/core/figures.h"

namespace headway::report {

using Json = nlohmann::ordered_json;

/// The values; what is absent or not finite is null.
Json to_json(const core::Figure& figure);

/// The whole result of a verb: `schema`, such as "headway.run/1", then its parts.
Json result_object(std::string_view schema, const core::Figure& result);

/// The JSON Schema (draft-07) of all results with these parts.
/// @param specimen  as `core::figures_of_type` makes it
Json schema_of_result(std::string_view schema, const core::Figure& specimen);

/// Two columns, `key,value`, with the dotted paths that `assert:` uses.
std::string flat_csv(const Json& object);

/// Text of an object: indented by two, one newline at the end; bytes that are no UTF-8 are
/// replaced.
std::string dump(const Json& json);

}  // namespace headway::report

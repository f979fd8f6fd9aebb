// Results that were printed as JSON, read back: each is what the field list of its schema says.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "sim/report/result_json.h"
#include "sim/report/result_types.h"

namespace headway::report {

/// A result in which no member is missing, none is unknown and each is of its kind. What may be
/// absent may be null, and so may every number, as one that is not finite is printed.
class ReadResult {
 public:
  /// @param file  for messages
  /// @throws core::Error that names the members that are not as the schema has them, or the schemas
  /// there are
  ReadResult(Json json, const std::string& file);

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] const ResultType& type() const { return *type_; }

 private:
  Json json_;
  const ResultType* type_ = nullptr;
};

using Keys = std::initializer_list<const char*>;

/// The member at a path of keys; null where there is none.
const Json& at(const Json& json, Keys keys);
/// The same as a number; nothing where there is none.
std::optional<double> number_at(const Json& json, Keys keys);
/// Entries that all of these lists of an object have: lists that belong together may differ in
/// length in a result that somebody edited.
std::size_t common_length(const Json& object, Keys keys);
/// The same as text; empty where there is none.
std::string text_at(const Json& json, Keys keys);

}  // namespace headway::report

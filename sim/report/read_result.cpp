#include "sim/report/read_result.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"

namespace headway::report {

namespace {

using core::Figure;
using core::FigureKind;

/// What a message says a figure should be.
std::string expected(const Figure& figure) {
  switch (figure.kind) {
    case FigureKind::number:
      return "a number";
    case FigureKind::integer:
      return "a whole number";
    case FigureKind::flag:
      return "true or false";
    case FigureKind::text:
    case FigureKind::word:
    case FigureKind::digest:
      return "text";
    case FigureKind::object:
    case FigureKind::map:
      return "an object";
    case FigureKind::list:
      return figure.length > 0 ? fmt::format("a list of {}", figure.length) : "a list";
  }
  return "";
}

std::string found(const Json& json) {
  if (json.is_array()) {
    return fmt::format("a list of {}", json.size());
  }
  return json.is_object() ? "an object"
                          : core::shortened(dump(json).substr(0, dump(json).size() - 1));
}

bool is_of_kind(const Json& json, const Figure& figure) {
  switch (figure.kind) {
    case FigureKind::number:
      return json.is_number() || json.is_null();
    case FigureKind::integer:
      return json.is_number_integer();
    case FigureKind::flag:
      return json.is_boolean();
    case FigureKind::text:
    case FigureKind::word:
    case FigureKind::digest:
      return json.is_string();
    case FigureKind::object:
    case FigureKind::map:
      return json.is_object();
    case FigureKind::list:
      return json.is_array() && (figure.length == 0 || json.size() == figure.length);
  }
  return false;
}

/// Holds a result to its field list, and remembers what is not so.
class Comparison {
 public:
  explicit Comparison(std::string file) : file_(std::move(file)) {}

  void compare(const Json& json, const Figure& figure, const std::string& path) {
    if (json.is_null() && figure.optional) {
      return;
    }
    if (!is_of_kind(json, figure)) {
      complain(fmt::format("{}: expected {}, found {}", path, expected(figure), found(json)));
    } else if (figure.kind == FigureKind::object) {
      compare_members(json, figure, path);
    } else if (figure.kind == FigureKind::map) {
      for (const auto& [key, value] : json.items()) {
        compare(value, figure.parts.front(), below(path, key));
      }
    } else if (figure.kind == FigureKind::list) {
      for (std::size_t i = 0; i < json.size(); ++i) {
        compare(json[i], figure.parts.front(), fmt::format("{}[{}]", path, i));
      }
    }
  }

  /// @param remedy  said behind all complaints
  void throw_if_any(const std::string& remedy) {
    if (!complaints_.empty()) {
      if (more_ > 0) {
        complaints_.push_back({std::nullopt, fmt::format("and {} more", more_)});
      }
      complaints_.push_back({std::nullopt, remedy});
      throw core::Error(std::move(complaints_));
    }
  }

 private:
  /// Enough to see what is wrong with the file.
  static constexpr std::size_t kMost = 8;

  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? core::shortened(key) : path + "." + core::shortened(key);
  }

  void compare_members(const Json& json, const Figure& figure, const std::string& path) {
    for (const Figure& part : figure.parts) {
      const auto member = json.find(part.key);
      if (member != json.end()) {
        compare(*member, part, below(path, part.key));
      } else if (!part.on_request) {
        complain(
            fmt::format("{}: expected {}, found nothing", below(path, part.key), expected(part)));
      }
    }
    for (const auto& [key, value] : json.items()) {
      const std::string& name = key;  // clang 14 captures no binding
      const bool known = std::any_of(figure.parts.begin(), figure.parts.end(),
                                     [&](const Figure& part) { return part.key == name; });
      if (!known && !(path.empty() && key == "schema")) {
        complain(fmt::format("{}: expected nothing of this name, found {}", below(path, key),
                             found(value)));
      }
    }
  }

  void complain(std::string message) {
    if (complaints_.size() < kMost) {
      complaints_.push_back({core::SourceMark{.file = file_}, std::move(message)});
    } else {
      ++more_;
    }
  }

  std::string file_;
  std::vector<core::Diagnostic> complaints_;
  std::size_t more_ = 0;
};

const ResultType& result_type(const Json& json, const std::string& file) {
  const std::string schema = text_at(json, {"schema"});
  std::vector<std::string_view> known;
  for (const ResultType& type : result_types()) {
    if (type.schema == schema) {
      return type;
    }
    known.push_back(type.schema);
  }
  throw core::Error(core::SourceMark{.file = file},
                    fmt::format("schema: expected one of {}, found '{}'; write a result with "
                                "'headway run SCENARIO --explain --pictures --out r.json'",
                                fmt::join(known, ", "), core::shortened(schema)));
}

}  // namespace

ReadResult::ReadResult(Json json, const std::string& file)
    : json_(std::move(json)), type_(&result_type(json_, file)) {
  Comparison comparison(file);
  comparison.compare(json_, type_->specimen, "");
  const std::string version = text_at(json_, {"version"});
  comparison.throw_if_any(fmt::format(
      "this is not all that a result of {} has{}; write it again with '{} ... --format json'",
      type_->schema,
      version.empty() || version == HEADWAY_VERSION
          ? ""
          : fmt::format(" (version {} wrote it, this is {})", core::shortened(version),
                        HEADWAY_VERSION),
      type_->command));
}

const Json& at(const Json& json, Keys keys) {
  static const Json none;
  const Json* here = &json;
  for (const char* key : keys) {
    if (!here->is_object() || !here->contains(key)) {
      return none;
    }
    here = &(*here)[key];
  }
  return *here;
}

std::optional<double> number_at(const Json& json, Keys keys) {
  const Json& value = at(json, keys);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string text_at(const Json& json, Keys keys) {
  const Json& value = at(json, keys);
  return value.is_string() ? value.get<std::string>() : "";
}

std::size_t common_length(const Json& object, Keys keys) {
  std::size_t least = SIZE_MAX;
  for (const char* key : keys) {
    least = std::min(least, at(object, {key}).size());
  }
  return keys.size() == 0 ? 0 : least;
}

}  // namespace headway::report

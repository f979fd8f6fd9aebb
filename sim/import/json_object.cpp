#include "sim/import/json_object.h"

#include <array>
#include <limits>
#include <utility>

#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// Replaces Python's words for non-finite numbers, outside strings, by texts of the same length,
/// which no number may be.
std::string without_python_numbers(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWords{
      {{"-Infinity", R"("-inf"   )"}, {"Infinity", R"("inf"   )"}, {"NaN", R"("?")"}}};
  std::string result(text);
  bool in_string = false;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (in_string) {
      if (result[i] == '\\') {
        ++i;
      } else if (result[i] == '"') {
        in_string = false;
      }
      continue;
    }
    in_string = result[i] == '"';
    for (const auto& [word, replacement] : kWords) {
      if (text.substr(i).starts_with(word)) {
        result.replace(i, word.size(), replacement);
        i += word.size() - 1;
        break;
      }
    }
  }
  return result;
}

/// What the parser's message says after its own position: "syntax error while ...".
std::string plain_reason(const std::string& what) {
  const std::size_t start = what.find("column ");
  const std::size_t colon = start == std::string::npos ? std::string::npos : what.find(": ", start);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

}  // namespace

JsonObject::JsonObject(std::string_view text, std::string file_name)
    : text_(text), file_name_(std::move(file_name)) {
  try {
    top_ = nlohmann::json::parse(without_python_numbers(text));
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    throw core::Error(mark_at(text_, file_name_, offset),
                      "not valid JSON: " + plain_reason(error.what()));
  }
  if (!top_.is_object()) {
    throw core::Error(
        mark_of_file(file_name_),
        "a model configuration is a JSON object, as '{\"model_type\": \"llama\", ...}'");
  }
}

const nlohmann::json* JsonObject::find(const char* key) const {
  const auto found = top_.find(key);
  return found == top_.end() || found->is_null() ? nullptr : &*found;
}

core::SourceMark JsonObject::mark_of(const char* key) const {
  const std::string quoted = '"' + std::string(key) + '"';
  const std::size_t offset = text_.find(quoted);
  return offset == std::string::npos || !top_.contains(key)
             ? mark_of_file(file_name_)
             : mark_at(text_, file_name_, offset, static_cast<int>(quoted.size()));
}

bool JsonObject::has(const char* key) const { return find(key) != nullptr; }

void JsonObject::complain(const char* key, std::string message) {
  faults_.add(mark_of(key), std::move(message));
}

int JsonObject::whole_of(const char* key, const nlohmann::json& value, int least) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!value.is_number_integer()) {
    complain(key, fmt::format("'{}' must be a whole number, not {}", key, value.dump()));
  } else if (number < least || number > std::numeric_limits<int>::max()) {
    complain(key, fmt::format("'{}' must be at least {} and fit in 31 bits, not {}", key, least,
                              value.dump()));
  } else {
    return value.get<int>();
  }
  return least;
}

int JsonObject::whole(const char* key, int least) {
  if (const nlohmann::json* value = find(key)) {
    return whole_of(key, *value, least);
  }
  complain(key, fmt::format("'{}' is missing", key));
  return least;
}

int JsonObject::whole_or(const char* key, int fallback, int least) {
  const nlohmann::json* value = find(key);
  return value != nullptr ? whole_of(key, *value, least) : fallback;
}

bool JsonObject::flag_or(const char* key, bool fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_boolean()) {
    complain(key, fmt::format("'{}' must be true or false, not {}", key, value->dump()));
    return fallback;
  }
  return value->get<bool>();
}

std::string JsonObject::word(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    complain(key, fmt::format("'{}' must be a text, not {}", key, value->dump()));
    return {};
  }
  return value->get<std::string>();
}

std::vector<std::string> JsonObject::words(const char* key) {
  std::vector<std::string> result;
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return result;
  }
  if (!value->is_array()) {
    complain(key, fmt::format("'{}' must be a list", key));
    return result;
  }
  for (const nlohmann::json& item : *value) {
    if (!item.is_string()) {
      complain(key, fmt::format("'{}' must be a list of texts; it holds {}", key, item.dump()));
      return {};
    }
    result.push_back(item.get<std::string>());
  }
  return result;
}

std::vector<int> JsonObject::wholes(const char* key) {
  std::vector<int> result;
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return result;
  }
  if (!value->is_array()) {
    complain(key, fmt::format("'{}' must be a list", key));
    return result;
  }
  for (const nlohmann::json& item : *value) {
    result.push_back(whole_of(key, item, 0));
  }
  return result;
}

}  // namespace headway::import

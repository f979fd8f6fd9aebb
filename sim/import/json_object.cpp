#include "sim/import/json_object.h"

#include <array>
#include <limits>
#include <utility>

#include "sim/core/shown_text.h"
#include "sim/import/json_text.h"
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

}  // namespace

JsonObject::JsonObject(std::string_view text, std::string file_name)
    : text_(text),
      file_name_(std::move(file_name)),
      top_(parse_json(without_python_numbers(text), file_name_)) {
  if (!top_.is_object()) {
    throw core::Error(
        mark_of_file(file_name_),
        "a model configuration is a JSON object, as '{\"model_type\": \"llama\", ...}'");
  }
}

const nlohmann::json* JsonObject::find(const char* key) const {
  asked_.emplace(key);
  const nlohmann::json* place = &top_;
  std::string_view rest = key;
  while (place->is_object()) {
    const std::size_t dot = rest.find('.');
    const auto found = place->find(std::string(rest.substr(0, dot)));
    if (found == place->end() || found->is_null()) {
      return nullptr;
    }
    place = &*found;
    if (dot == std::string_view::npos) {
      return place;
    }
    rest.remove_prefix(dot + 1);
  }
  return nullptr;
}

core::SourceMark JsonObject::mark_of(const char* key) const {
  const std::string_view whole = key;
  const std::size_t dot = whole.rfind('.');
  const auto last = dot == std::string_view::npos ? whole : whole.substr(dot + 1);
  const std::string quoted = '"' + std::string(last) + '"';
  const std::size_t offset = text_.find(quoted);
  const bool there = dot == std::string_view::npos ? top_.contains(key) : find(key) != nullptr;
  return offset == std::string::npos || !there
             ? mark_of_file(file_name_)
             : mark_at(text_, file_name_, offset, static_cast<int>(quoted.size()));
}

void JsonObject::enter(const char* key, std::initializer_list<const char*> shared) {
  nlohmann::json inner = top_.at(key);
  for (const char* name : shared) {
    if (!inner.contains(name) && top_.contains(name)) {
      inner[name] = top_.at(name);
    }
  }
  top_ = std::move(inner);
  asked_.clear();
}

std::vector<std::string> JsonObject::unread() const {
  const auto off = [](const nlohmann::json& value) {
    return value.is_null() || value == false || (value.is_number() && value == 0) ||
           (value.is_string() && value.get_ref<const std::string&>().empty()) ||
           (value.is_structured() && value.empty());
  };
  std::vector<std::string> list;
  const auto add = [&](const std::string& key, const nlohmann::json& value) {
    if (!off(value) && !asked_.contains(key)) {
      list.push_back(key);
    }
  };
  for (const auto& [key, value] : top_.items()) {
    const auto part = asked_.lower_bound(key + ".");
    if (!value.is_object() || part == asked_.end() || !part->starts_with(key + ".")) {
      add(key, value);
      continue;
    }
    for (const auto& [inner, held] : value.items()) {
      add(key + "." + inner, held);
    }
  }
  return list;
}

bool JsonObject::has(const char* key) const { return find(key) != nullptr; }

bool JsonObject::has_content(const char* key) const {
  const nlohmann::json* value = find(key);
  return value != nullptr && !(value->is_structured() && value->empty());
}

bool JsonObject::is_list(const char* key) const {
  const nlohmann::json* value = find(key);
  return value != nullptr && value->is_array();
}

bool JsonObject::is_word(const char* key) const {
  const nlohmann::json* value = find(key);
  return value != nullptr && value->is_string();
}

void JsonObject::complain(const char* key, std::string message) {
  faults_.add(mark_of(key), std::move(message));
}

int JsonObject::whole_of(const char* key, const nlohmann::json& value, int least) {
  const double number = value.is_number() ? value.get<double>() : 0;
  if (!value.is_number_integer()) {
    complain(key, fmt::format("'{}' must be a whole number, not {}", key,
                              core::shortened(value.dump())));
  } else if (number < least || number > std::numeric_limits<int>::max()) {
    complain(key, fmt::format("'{}' must be at least {} and fit in 31 bits, not {}", key, least,
                              core::shortened(value.dump())));
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
    complain(key, fmt::format("'{}' must be true or false, not {}", key,
                              core::shortened(value->dump())));
    return fallback;
  }
  return value->get<bool>();
}

double JsonObject::real_or(const char* key, double fallback) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_number() || value->get<double>() < 0) {
    complain(key, fmt::format("'{}' must be a number of zero or more, not {}", key,
                              core::shortened(value->dump())));
    return fallback;
  }
  return value->get<double>();
}

std::string JsonObject::word(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    complain(key, fmt::format("'{}' must be a text, not {}", key, core::shortened(value->dump())));
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
      complain(key, fmt::format("'{}' must be a list of texts; it holds {}", key,
                                core::shortened(item.dump())));
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

#include "sim/import/json_text.h"

#include <charconv>
#include <cmath>

#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// What the parser's message says after its own position: "syntax error while ...".
std::string plain_reason(const std::string& what) {
  const std::size_t start = what.find("column ");
  const std::size_t colon = start == std::string::npos ? std::string::npos : what.find(": ", start);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

}  // namespace

nlohmann::json parse_json_object(std::string_view text,
                                 const std::string& file_name,
                                 const std::string& what) {
  nlohmann::json top;
  try {
    top = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    throw core::Error(mark_at(text, file_name, offset),
                      "not valid JSON: " + plain_reason(error.what()));
  }
  if (!top.is_object()) {
    throw core::Error(mark_of_file(file_name), fmt::format("not {}: no JSON object", what));
  }
  return top;
}

core::SourceMark mark_of_key(std::string_view text,
                             const std::string& file_name,
                             const std::string& key,
                             std::size_t n) {
  const std::string quoted = '"' + key + '"';
  std::size_t at = text.find(quoted);
  for (; n > 0 && at != std::string_view::npos; --n) {
    at = text.find(quoted, at + quoted.size());
  }
  return at == std::string_view::npos
             ? mark_of_file(file_name)
             : mark_at(text, file_name, at, static_cast<int>(quoted.size()));
}

std::optional<double> number_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return std::nullopt;
  }
  double value = 0;
  if (found->is_number()) {
    value = found->get<double>();
  } else if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace headway::import

#include "sim/import/json_text.h"

#include <cmath>

#include "sim/core/text.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

/// What the parser's message says after its own position: "syntax error while ...".
std::string plain_reason(const std::string& what) {
  const std::size_t start = what.find("column ");
  const std::size_t colon = start == std::string::npos ? std::string::npos : what.find(": ", start);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

/// The place of the number that the parser's message quotes: "... number overflow parsing '1e999'".
core::SourceMark mark_of_number(std::string_view text,
                                const std::string& file_name,
                                const std::string& what) {
  const std::size_t open = what.find('\'');
  const std::size_t close = what.rfind('\'');
  const std::string number = open < close ? what.substr(open + 1, close - open - 1) : "";
  const std::size_t at = number.empty() ? std::string_view::npos : text.find(number);
  return at == std::string_view::npos
             ? mark_of_file(file_name)
             : mark_at(text, file_name, at, static_cast<int>(number.size()));
}

/// nlohmann's parser has no limits, but whoever walks the result has a stack, and every value takes
/// up to 100 bytes, however short its text.
void refuse_extremes(std::string_view text, const std::string& file_name) {
  constexpr int kDeepest = 200;              // a trace of torch.profiler nests 6 levels
  constexpr std::size_t kMost = 20'000'000;  // values; it has one for 14 bytes
  int depth = 0;
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        throw core::Error(mark_at(text, file_name, i),
                          fmt::format("nested more than {} levels deep", kDeepest));
      }
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && ++values > kMost) {
      throw core::Error(mark_at(text, file_name, i),
                        fmt::format("more than {} values; cut the file down to the part that is "
                                    "needed",
                                    kMost));
    } else {
      in_string = c == '"';
    }
  }
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& file_name) {
  refuse_extremes(text, file_name);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    throw core::Error(mark_at(text, file_name, offset),
                      "not valid JSON: " + plain_reason(error.what()));
  } catch (const nlohmann::json::out_of_range& error) {
    throw core::Error(mark_of_number(text, file_name, error.what()),
                      "this number is larger than a computer's numbers (about 1.8e308)");
  }
}

nlohmann::json parse_json_object(std::string_view text,
                                 const std::string& file_name,
                                 const std::string& what) {
  nlohmann::json top = parse_json(text, file_name);
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
  if (found->is_string()) {
    return core::whole_text_as<double>(found->get_ref<const std::string&>());
  }
  const double value = found->is_number() ? found->get<double>() : std::nan("");
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace headway::import

#include "sim/report/assert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "sim/core/shown_text.h"
#include "sim/report/json_parts.h"

namespace headway::report {

namespace {

/// A result in which every optional part is present: the paths a condition may name.
const Json& complete_result() {
  static const Json json = [] {
    RunReport report;
    report.campaign.emplace();
    report.campaign->closed_form_ettr = 0;
    report.cost.emplace();
    return run_object(report);
  }();
  return json;
}

/// "step.time_interval_s[0]" as "/step/time_interval_s/0".
Json::json_pointer pointer(const std::string& path) {
  std::string out = "/";
  for (const char c : path) {
    if (c != ']') {
      out += c == '.' || c == '[' ? '/' : c;
    }
  }
  return Json::json_pointer(out);
}

const Json* find(const Json& json, const std::string& path) {
  const auto at = pointer(path);
  return json.contains(at) ? &json.at(at) : nullptr;
}

/// Paths of all numbers and booleans below `json`.
void collect_paths(const Json& json, const std::string& path, std::vector<std::string>& out) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      collect_paths(value, path.empty() ? key : path + "." + key, out);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      collect_paths(json[i], fmt::format("{}[{}]", path, i), out);
    }
  } else if (json.is_number() || json.is_boolean()) {
    out.push_back(path);
  }
}

const std::vector<std::string>& known_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> out;
    collect_paths(complete_result(), "", out);
    return out;
  }();
  return paths;
}

std::optional<double> read_number(std::string_view text) {
  if (text == "true" || text == "false") {
    return text == "true" ? 1.0 : 0.0;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool holds(double value, const std::string& comparison, double number) {
  if (comparison == ">") {
    return value > number;
  }
  if (comparison == ">=") {
    return value >= number;
  }
  if (comparison == "<") {
    return value < number;
  }
  if (comparison == "<=") {
    return value <= number;
  }
  if (comparison == "==") {
    return value == number;
  }
  HEADWAY_CHECK(comparison == "!=", "unknown comparison '{}'", comparison);
  return value != number;
}

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

/// `path comparison number`; nothing if the text has another shape. Written by hand because
/// std::regex recurses once a character and a long text ends its stack.
std::optional<Assertion> read_assertion(const std::string& text) {
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const bool with_equals = text.compare(at + 1, 1, "=") == 0;
  const std::string comparison = text.substr(at, with_equals ? 2 : 1);
  const auto path = without_spaces(std::string_view(text).substr(0, at));
  const auto number =
      read_number(without_spaces(std::string_view(text).substr(at + comparison.size())));
  const bool is_path = !path.empty() && path.find_first_of(" \t\r\n") == std::string_view::npos;
  if (!number || !is_path || comparison == "=" || comparison == "!") {
    return std::nullopt;
  }
  return Assertion{text, std::string(path), comparison, *number};
}

void parse_one(const std::string& text,
               const std::optional<core::SourceMark>& mark,
               std::vector<Assertion>& out,
               core::Diagnostics& diagnostics) {
  auto assertion = read_assertion(text);
  if (!assertion) {
    diagnostics.add(
        mark,
        fmt::format("condition '{}' is not 'path > number'; write, for example, 'step.mfu > 0.38'",
                    core::shortened(text)));
    return;
  }
  const auto& known = known_paths();
  if (std::find(known.begin(), known.end(), assertion->path) == known.end()) {
    const auto guess = core::did_you_mean(assertion->path, known);
    diagnostics.add(mark,
                    fmt::format("the result has no number '{}'{}", core::shortened(assertion->path),
                                guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
    return;
  }
  out.push_back(std::move(*assertion));
}

}  // namespace

std::vector<Assertion> parse_assertions(const std::vector<std::string>& texts,
                                        const core::SourceMarks& marks) {
  std::vector<Assertion> out;
  core::Diagnostics diagnostics;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    parse_one(texts[i], core::find_mark(marks, fmt::format("assert[{}]", i)), out, diagnostics);
  }
  diagnostics.throw_if_any();
  return out;
}

std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunReport& report) {
  std::vector<std::string> failed;
  if (assertions.empty()) {
    return failed;
  }
  const Json result = run_object(report);
  for (const auto& assertion : assertions) {
    const Json* value = find(result, assertion.path);
    if (value == nullptr || value->is_null()) {
      failed.push_back(
          fmt::format("assert '{}' fails: this run has no {}", assertion.text, assertion.path));
      continue;
    }
    const double found =
        value->is_boolean() ? (value->get<bool>() ? 1.0 : 0.0) : value->get<double>();
    if (!holds(found, assertion.comparison, assertion.number)) {
      failed.push_back(fmt::format("assert '{}' fails: {} is {}", assertion.text, assertion.path,
                                   value->dump()));
    }
  }
  return failed;
}

}  // namespace headway::report

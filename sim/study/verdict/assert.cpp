#include "sim/study/verdict/assert.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "sim/core/figures.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::study {

namespace {

/// What every result has a part of.
const core::Figure& specimen() {
  static const core::Figure figure = core::figures_of_type<RunReport>();
  return figure;
}

bool is_known(const std::string& path) {
  const core::Figure* figure = core::find_figure(specimen(), path);
  return figure != nullptr && core::value_of(*figure);
}

std::optional<double> read_number(std::string_view text) {
  if (text == "true" || text == "false") {
    return text == "true" ? 1.0 : 0.0;
  }
  return core::whole_text_as<double>(text);
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
  const auto path = core::trimmed(std::string_view(text).substr(0, at));
  const auto number =
      read_number(core::trimmed(std::string_view(text).substr(at + comparison.size())));
  const bool is_path = !path.empty() && path.find_first_of(" \t\r\n") == std::string_view::npos;
  if (!number || !is_path || comparison == "=" || comparison == "!") {
    return std::nullopt;
  }
  return Assertion{text, std::string(path), comparison, *number};
}

std::string shown(const core::Figure& figure) {
  if (figure.kind == core::FigureKind::flag) {
    return figure.integer != 0 ? "true" : "false";
  }
  return figure.kind == core::FigureKind::integer ? fmt::format("{}", figure.integer)
                                                  : fmt::format("{}", figure.number);
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
  if (!is_known(assertion->path)) {
    diagnostics.add(mark,
                    fmt::format("the result has no number '{}'{}", core::shortened(assertion->path),
                                meant_figure(assertion->path)));
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

std::string meant_figure(const std::string& path) {
  const auto paths = core::number_paths(specimen());
  auto guess = core::did_you_mean(path, paths);
  const bool part = !path.empty() && core::find_figure(specimen(), path) == nullptr;
  for (const std::string& end : {"." + path + ".p50", "." + path}) {  // a name without its part
    const auto found = std::find_if(paths.begin(), paths.end(),
                                    [&](const std::string& known) { return known.ends_with(end); });
    if (part && !guess && found != paths.end()) {
      guess = *found;
    }
  }
  return guess ? fmt::format("; did you mean '{}'?", *guess)
               : "; docs/definitions.md lists them, as 'step.mfu'";
}

bool holds(double value, const Assertion& condition) {
  const std::string& comparison = condition.comparison;
  const double number = condition.number;
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

std::string judged_number(double value, const Assertion& condition) {
  constexpr int kFewest = 4, kMost = 15;  // digits
  std::string text = core::number(value);
  const auto tells = [&] {
    std::string plain = text;
    std::erase(plain, ',');
    const auto shown = read_number(plain);
    return !shown || holds(*shown, condition) == holds(value, condition);
  };
  for (int digits = kFewest; !tells() && digits <= kMost; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
  }
  return text;
}

std::string missing_part(std::string_view path, const training::Scenario& scenario) {
  const bool cost = path.starts_with("cost.");
  if ((cost || path.starts_with("campaign.")) && !scenario.run.until) {
    return "run.until";
  }
  if (path.starts_with("campaign.time_to_market.") && !scenario.run.bring_up) {
    return "run.bring_up";
  }
  return cost && !scenario.run.prices ? "run.prices" : "";
}

std::vector<std::string> failed_assertions(const std::vector<Assertion>& assertions,
                                           const RunReport& report) {
  std::vector<std::string> failed;
  if (assertions.empty()) {
    return failed;
  }
  const core::Figure result = core::figures_of(report);
  for (const auto& assertion : assertions) {
    const core::Figure* figure = core::find_figure(result, assertion.path);
    const auto found = figure == nullptr ? std::nullopt : core::value_of(*figure);
    if (!found) {
      const std::string part = missing_part(assertion.path, report.scenario);
      failed.push_back(fmt::format("assert '{}' fails: this run has no {}{}", assertion.text,
                                   assertion.path,
                                   part.empty() ? "" : ": the scenario has no " + part));
    } else if (!holds(*found, assertion)) {
      failed.push_back(fmt::format("assert '{}' fails: {} is {}", assertion.text, assertion.path,
                                   shown(*figure)));
    }
  }
  return failed;
}

}  // namespace headway::study

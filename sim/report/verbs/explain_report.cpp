#include "sim/report/verbs/explain_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "sim/study/words.h"

namespace headway::report {

namespace {

Table contributions_table(const training::Explanation& e) {
  Table table{"What the step is made of (critical path)",
              {{"#"}, {"what", false}, {"part of", false}, {"times"}, {"time [ms]"}, {"share [%]"}},
              {},
              true};
  int place = 0;
  for (const auto& c : e.largest) {
    table.rows.push_back({count(++place), c.what, std::string(study::in_words(c.activity)),
                          count(static_cast<double>(c.count)), number(c.time.si() * 1e3),
                          percent(c.share)});
  }
  table.rows.push_back(
      {"", "all else", "", "", number(e.rest.si() * 1e3), percent(e.rest / e.step)});
  table.rows.push_back({"", "step", "", "", number(e.step.si() * 1e3), percent(1)});
  return table;
}

Table formulas_table(const training::Explanation& e) {
  Table table{"Each of them once, in numbers",
              {{"#"}, {"closed form", false}, {"shorter with", false}},
              {},
              false};
  int place = 0;
  for (const auto& c : e.largest) {
    table.rows.push_back({count(++place), c.formula, c.change});
  }
  return table;
}

std::string relative(const std::optional<core::Seconds>& time, core::Seconds step) {
  return time ? fmt::format("{:+.2f}", 100 * (*time / step - 1)) : "-";
}

/// A bar of at most 20 characters, the widest input's the longest.
std::string bar(core::Seconds span, core::Seconds widest) {
  constexpr double kLongest = 20;
  const double share = widest.si() > 0 ? span / widest : 0;
  return std::string(static_cast<std::size_t>(std::lround(kLongest * share)), '#');
}

Table sensitivities_table(const training::Explanation& e) {
  Table table{"How the step answers to 10 % of each input",
              {{"input", false}, {"10 % less [%]"}, {"10 % more [%]"}, {"", false}},
              {},
              false};
  const core::Seconds widest =
      e.sensitivities.empty() ? core::Seconds(0) : e.sensitivities.front().span(e.step);
  for (const auto& s : e.sensitivities) {
    table.rows.push_back({s.input, relative(s.lower, e.step), relative(s.higher, e.step),
                          bar(s.span(e.step), widest)});
  }
  return table;
}

}  // namespace

std::vector<Table> explanation_tables(const training::Explanation& explanation) {
  return {contributions_table(explanation), formulas_table(explanation),
          sensitivities_table(explanation)};
}

}  // namespace headway::report

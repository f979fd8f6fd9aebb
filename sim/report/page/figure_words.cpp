#include "sim/report/page/figure_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "sim/core/units.h"
#include "sim/report/page/chart_parts.h"
#include "sim/report/page/html.h"
#include "sim/report/result_types.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr double kPercent = 100;  // Source: the prefix

using Words = std::pair<std::string_view, std::string_view>;

/// Names that people have for figures of runs and of comparisons.
constexpr std::array kNames{Words{"step.time_s", "step"},
                            Words{"step_time_s", "step"},
                            Words{"step_s", "step"},
                            Words{"step.tokens_per_s", "tokens a second"},
                            Words{"tokens_per_s", "tokens a second"},
                            Words{"step.mfu", "MFU"},
                            Words{"mfu", "MFU"},
                            Words{"step.hfu", "HFU"},
                            Words{"memory.peak_bytes", "memory at the peak"},
                            Words{"campaign.wall_days", "wall clock"},
                            Words{"wall_days", "wall clock"},
                            Words{"campaign.ettr", "ETTR"},
                            Words{"ettr", "ETTR"},
                            Words{"campaign.goodput", "goodput"},
                            Words{"campaign.tokens", "tokens of the run"},
                            Words{"tokens", "tokens of the run"},
                            Words{"cost.total_usd", "cost"},
                            Words{"total_usd", "cost"},
                            Words{"usd_per_million_tokens", "cost of a million tokens"}};

/// Parts of a distribution, which end its path.
constexpr std::array kSpread{Words{".p50", ", median"}, Words{".p5", ", 5th percentile"},
                             Words{".p95", ", 95th percentile"}, Words{".mean", ", mean"}};

/// The unit of the field list; empty where it has none, or the path is of no figure.
std::string_view unit_of(std::string_view schema, std::string_view path) {
  for (const ResultType& type : result_types()) {
    if (type.schema == schema) {
      const core::Figure* known = core::find_figure(type.specimen, path);
      return known == nullptr ? std::string_view{} : known->unit;
    }
  }
  return {};
}

}  // namespace

std::string figure_name(std::string_view path) {
  std::string_view spread;
  for (const auto& [end, words] : kSpread) {
    if (path.ends_with(end)) {
      path.remove_suffix(end.size());
      spread = words;
    }
  }
  const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Words& words) { return words.first == path; });
  const std::string name =
      known == kNames.end() ? spaced(std::string(path)) : std::string(known->second);
  return name + std::string(spread);
}

std::string figure_unit(std::string_view schema, std::string_view path) {
  const std::string_view unit = unit_of(schema, path);
  return std::string(unit == "1" ? "%" : unit == "B" ? "GiB" : unit == "d" ? "days" : unit);
}

double figure_factor(std::string_view schema, std::string_view path) {
  const std::string_view unit = unit_of(schema, path);
  return unit == "1" ? kPercent : unit == "B" ? 1 / (1_GiB).si() : 1;
}

std::string figure_number(std::string_view schema, std::string_view path, const Json& value) {
  const double factor = figure_factor(schema, path);
  if (factor == kPercent && value.is_number()) {
    return study::percent_figures(value.get<double>());
  }
  if (factor != 1 && value.is_number()) {
    return number(factor * value.get<double>());
  }
  constexpr double kMany = 1e9;  // tokens of a run: 15.6 T
  const std::string_view unit = unit_of(schema, path);
  const bool counts = value.is_number() && (unit.empty() || unit == "tokens");
  return counts && std::abs(value.get<double>()) >= kMany ? core::compact(value.get<double>())
                                                          : text_of(value);
}

std::string figure_text(std::string_view schema, std::string_view path, const Json& value) {
  const std::string unit = figure_unit(schema, path);
  const bool bare = unit.empty() || !value.is_number();
  return figure_number(schema, path, value) + (bare ? "" : " " + unit);
}

std::string figure_heading(std::string_view schema, std::string_view path) {
  const std::string unit = figure_unit(schema, path);
  return figure_name(path) + (unit.empty() ? "" : fmt::format(" [{}]", unit));
}

std::string microseconds_text(double us) {
  constexpr double kThousand = 1000;  // Source: the prefix
  return us < kThousand ? number(us) + " us" : number(us / kThousand) + " ms";
}

}  // namespace headway::report

#include "sim/report/page/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "sim/report/figure_rows.h"
#include "sim/report/page/chart_parts.h"
#include "sim/report/page/figure_words.h"
#include "sim/report/page/html.h"
#include "sim/report/read_result.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

bool is(const Json& result, std::string_view verb) {
  return text_at(result, {"schema"}).starts_with(fmt::format("headway.{}/", verb));
}

void add_spread(const Json& spread,
                std::string (*text)(double),
                const std::string& unit,
                const std::string& what,
                Tiles& tiles) {
  if (spread.is_null()) {
    return;
  }
  const auto scaled = [&](const char* key) {
    const auto value = number_at(spread, {key});
    return value ? text(*value) : "-";
  };
  const std::string median = scaled("p50");
  const std::string range = range_text(scaled("p5"), scaled("p95"));
  tiles.emplace_back(median + unit,
                     fmt::format("{}; 5 to 95 %: {}", what, range == median ? "the same" : range));
}

/// Step, memory, run and cost, wherever a result has them.
Tiles run_tiles(const Json& run) {
  Tiles tiles;
  if (const auto step = number_at(run, {"step", "time_s"})) {
    const Json& interval = at(run, {"step", "time_interval_s"});
    tiles.emplace_back(
        number(*step) + " s",
        fmt::format("step; 90 %: {}", range_text(text_of(interval[0]), text_of(interval[1]))));
  }
  if (const auto mfu = number_at(run, {"step", "mfu"})) {
    tiles.emplace_back(
        percent(*mfu) + " %",
        fmt::format("MFU; {} TFLOP/s a GPU", text_of(at(run, {"step", "model_tflops_per_gpu"}))));
  }
  const auto peak = number_at(run, {"memory", "peak_bytes"});
  const auto capacity = number_at(run, {"memory", "capacity_bytes"});
  if (peak && capacity && *peak > *capacity) {
    tiles.emplace_back(fmt::format("{} of {} GiB", number(core::Bytes(*peak) / 1_GiB),
                                   number(core::Bytes(*capacity) / 1_GiB)),
                       "are needed on the fullest GPU: it does not fit");
  } else if (peak && capacity) {
    tiles.emplace_back(percent(1 - *peak / *capacity) + " %",
                       "of the GPU's memory is free at the peak");
  }
  add_spread(at(run, {"campaign", "wall_days"}), number, " days", "wall clock", tiles);
  add_spread(at(run, {"campaign", "ettr"}), study::percent_figures, " %", "ETTR, median", tiles);
  add_spread(at(run, {"cost", "total_usd"}), number, " USD", "cost", tiles);
  if (const auto parameters = number_at(run, {"model", "parameters"})) {
    tiles.emplace_back(number(*parameters / 1e9) + " B",
                       fmt::format("parameters of {}", text_at(run, {"model", "name"})));
  }
  if (const auto tokens = number_at(run, {"step", "tokens_per_s"})) {
    tiles.emplace_back(number(*tokens), "tokens a second");
  }
  return tiles;
}

Tiles plan_tiles(const Json& result) {
  const Json& plans = at(result, {"plans"});
  Tiles tiles;
  if (!plans.empty()) {
    tiles = run_tiles(plans[0]);
  }
  const auto layouts = number_at(result, {"enumerated"});
  const auto simulated = number_at(result, {"simulated"});
  if (layouts && simulated) {
    tiles.emplace_back(count(*layouts),
                       fmt::format("layouts looked at, {} of them simulated", count(*simulated)));
  }
  return tiles;
}

/// Figures that a comparison shows first.
constexpr const char* kCompared[] = {"step_time_s", "mfu", "wall_days", "total_usd", "ettr"};

Tiles compare_tiles(const Json& result) {
  Tiles tiles;
  for (const char* key : kCompared) {
    if (const std::string change = change_of_sides(result, key); !change.empty()) {
      tiles.emplace_back(
          change, fmt::format("{} of B: {}, of A {}", figure_name(key), side_text(result, "b", key),
                              side_text(result, "a", key)));
    }
  }
  return tiles;
}

/// The best row of a sweep; null where none works.
const Json& best_row(const Json& result) {
  const Json& point = at(result, {"best_point"});
  if (point.is_number()) {
    for (const auto& row : at(result, {"rows"})) {
      if (row["point"] == point) {
        return row;
      }
    }
  }
  static const Json kNone;
  return kNone;
}

Tiles sweep_tiles(const Json& result) {
  Tiles tiles;
  const Json& best = best_row(result);
  if (!best.is_null()) {
    for (const auto& [path, value] : best["figures"].items()) {
      tiles.emplace_back(figure_text("headway.run/1", path, value),
                         fmt::format("{} of the best point", figure_name(path)));
    }
  }
  int works = 0;
  for (const auto& row : at(result, {"rows"})) {
    works += row["status"] == "ok" ? 1 : 0;
  }
  tiles.emplace_back(count(works),
                     fmt::format("of {} points are ok", text_of(at(result, {"points"}))));
  return tiles;
}

Tiles drill_tiles(const Json& result) {
  Tiles tiles;
  const auto add = [&](Keys keys, double scale, const char* unit, const char* what) {
    if (const auto value = number_at(result, keys)) {
      tiles.emplace_back(number(*value * scale) + unit, what);
    }
  };
  constexpr double kMinute = 60;  // Source: the minute
  add({"lost", "time_s"}, 1 / kMinute, " min", "of useful time are lost");
  add({"lost", "usd"}, 1, " USD", "it costs");
  add({"running_again_at_s"}, 1 / kMinute, " min", "until steps are as before");
  // Where a fault stops the job no step ends while it lasts, and there is nothing to compare.
  if (number_at(result, {"step", "slowdown"}).value_or(1) > 1) {
    add({"step", "slowdown"}, 1, "", "step while it lasts / healthy step");
  }
  add({"since_save_s"}, 1 / kMinute, " min", "of work since the last save when it strikes");
  return tiles;
}

/// The value that was looked for, and what the figure of the condition is there.
Tiles solve_tiles(const Json& result) {
  Tiles tiles;
  if (const Json& answer = at(result, {"answer"}); answer.is_object()) {
    tiles.emplace_back(text_of(answer["value"]), text_at(result, {"key"}));
    tiles.emplace_back(text_of(answer["figure"]), "where " + text_at(result, {"condition"}));
  }
  return tiles;
}

/// "of 1,471 rows" in which a figure is there.
std::string rows_of(const Json& summary) {
  return fmt::format("of {} rows", text_of(at(summary, {"n"})));
}

/// First what the verdict speaks of, each source left out, then all rows as they are.
Tiles validate_tiles(const Json& result) {
  Tiles tiles;
  for (const auto& [part, errors] : at(result, {"left_out", "parts"}).items()) {
    if (const auto median = number_at(errors, {"median_abs_error"})) {
      tiles.emplace_back(percent(*median) + " %",
                         fmt::format("median error {} of {}, each source predicted without it",
                                     rows_of(errors), part));
    }
  }
  const Json& all = at(result, {"summary"});
  const std::string here = rows_of(all) + " of every part, with the constants as they are";
  const auto add = [&](const char* key, const std::string& what) {
    if (const auto share = number_at(all, {key})) {
      tiles.emplace_back(percent(*share) + " %", what);
    }
  };
  add("median_abs_error", "median error of tokens a second " + here);
  add("p90_abs_error", "90th percentile of the error " + here);
  add("within_10", "of these rows are within 10 %");
  add("coverage_90", "of these measurements are in their 90 % interval");
  add("median_abs_memory_error", "median error of the peak memory, of rows that state it");
  if (const auto rows = number_at(all, {"n"})) {
    tiles.emplace_back(count(*rows), fmt::format("published rows predicted, {} not",
                                                 text_of(at(all, {"n_skipped"}))));
  }
  return tiles;
}

/// Measured over predicted, the step first.
Tiles profile_tiles(const Json& result) {
  Tiles tiles;
  for (const auto& row : at(result, {"rows"})) {
    if (const auto ratio = number_at(row, {"ratio"}); ratio && row["unit"] == "s") {
      tiles.emplace_back(
          change_text(*ratio),
          fmt::format("{}: {} s measured, {} s predicted", spaced(row["figure"].get<std::string>()),
                      text_of(row["measured"]), text_of(row["predicted"])));
    }
  }
  constexpr std::size_t kMost = 6;
  tiles.resize(std::min(tiles.size(), kMost));
  return tiles;
}

struct Verb {
  const char* name;
  Tiles (*tiles)(const Json&);
};
constexpr Verb kVerbs[] = {
    {"plan", plan_tiles},        {"compare", compare_tiles}, {"compare-profile", profile_tiles},
    {"sweep", sweep_tiles},      {"solve", solve_tiles},     {"drill", drill_tiles},
    {"validate", validate_tiles}};

}  // namespace

std::optional<double> ratio_of_sides(const Json& result, const char* key) {
  const auto a = number_at(result, {"a", "figures", key});
  const auto b = number_at(result, {"b", "figures", key});
  return a && b && *a != 0 ? std::optional(*b / *a) : std::nullopt;
}

std::string change_of_sides(const Json& result, const char* key) {
  const auto ratio = ratio_of_sides(result, key);
  if (!ratio) {
    return "";
  }
  const double change = number_at(result, {"b", "figures", key}).value() -
                        number_at(result, {"a", "figures", key}).value();
  if (figure_unit("headway.compare/1", fmt::format("a.figures.{}", key)) == "%") {
    constexpr double kShown = 0.0005;  // what does not round to 0.0
    return std::abs(change) < kShown
               ? "0.0 points"
               : fmt::format("{}{} points", change > 0 ? "+" : "", percent(change));
  }
  return change_text(*ratio);
}

std::string change_text(double ratio) {
  if (ratio >= 2) {
    return number(ratio) + " x";
  }
  constexpr double kShown = 0.0005;  // what does not round to 0.0 %
  return std::abs(ratio - 1) < kShown
             ? "0.0 %"
             : fmt::format("{}{} %", ratio > 1 ? "+" : "", percent(ratio - 1));
}

std::string side_text(const Json& result, const char* side, const char* key) {
  return figure_text("headway.compare/1", fmt::format("a.figures.{}", key),
                     at(result, {side, "figures", key}));
}

Tiles tiles_of(const Json& result) {
  for (const Verb& verb : kVerbs) {
    if (is(result, verb.name)) {
      return verb.tiles(result);
    }
  }
  return run_tiles(result);
}

std::string verdict_of(const Json& result) {
  for (const char* key : {"verdict", "limit"}) {
    if (std::string verdict = text_at(result, {key}); !verdict.empty()) {
      return verdict;
    }
  }
  std::string all;  // of an answer in sentences
  for (const auto& sentence : at(result, {"sentences"})) {
    all += (all.empty() ? "" : " ") + text_of(sentence);
  }
  return all;
}

}  // namespace headway::report

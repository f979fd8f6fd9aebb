#include "sim/report/page/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "sim/report/page/chart_parts.h"
#include "sim/report/page/html.h"
#include "sim/report/read_result.h"

namespace headway::report {

namespace {

bool is(const Json& result, std::string_view verb) {
  return text_at(result, {"schema"}).starts_with(fmt::format("headway.{}/", verb));
}

std::string percent_or_none(std::optional<double> share) {
  return share ? percent(*share) + " %" : "-";
}

void add_spread(const Json& spread,
                double scale,
                const std::string& unit,
                const std::string& what,
                Tiles& tiles) {
  if (spread.is_null()) {
    return;
  }
  const auto scaled = [&](const char* key) {
    const auto value = number_at(spread, {key});
    return core::cell(value ? std::optional(scale * *value) : std::nullopt);
  };
  tiles.emplace_back(scaled("p50") + unit,
                     fmt::format("{}; 5 to 95 %: {} to {}", what, scaled("p5"), scaled("p95")));
}

/// Step, memory, run and cost, wherever a result has them.
Tiles run_tiles(const Json& run) {
  Tiles tiles;
  if (const auto step = number_at(run, {"step", "time_s"})) {
    const Json& interval = at(run, {"step", "time_interval_s"});
    tiles.emplace_back(
        number(*step) + " s",
        fmt::format("step; 90 %: {} to {}", text_of(interval[0]), text_of(interval[1])));
  }
  if (const auto mfu = number_at(run, {"step", "mfu"})) {
    tiles.emplace_back(
        percent(*mfu) + " %",
        fmt::format("MFU; {} TFLOP/s a GPU", text_of(at(run, {"step", "model_tflops_per_gpu"}))));
  }
  const auto peak = number_at(run, {"memory", "peak_bytes"});
  const auto capacity = number_at(run, {"memory", "capacity_bytes"});
  if (peak && capacity) {
    tiles.emplace_back(percent(1 - *peak / *capacity) + " %",
                       "of the GPU's memory is free at the peak");
  }
  add_spread(at(run, {"campaign", "wall_days"}), 1, " days", "wall clock", tiles);
  add_spread(at(run, {"campaign", "ettr"}), 100, " %", "ETTR", tiles);
  add_spread(at(run, {"cost", "total_usd"}), 1, " USD", "cost", tiles);
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

/// "tensor 2", "pipeline 4", "data 8": a layout without the degrees that are one.
void add_layout(const Json& layout, std::vector<std::string>& words) {
  for (const auto& [key, value] : layout.items()) {
    const bool always = key == "tensor" || key == "pipeline";
    if (value.is_number_integer() && (always || value.get<std::int64_t>() > 1)) {
      words.push_back(fmt::format("{} {}", spaced(key), value.get<std::int64_t>()));
    }
  }
}

std::string plan_sentence(const Json& result) {
  const Json& plans = at(result, {"plans"});
  if (plans.empty()) {
    return "";  // the reasons say why
  }
  std::string text = fmt::format("Plan 1 is the best by {}: {}.", text_at(result, {"objective"}),
                                 plan_words(plans[0], plans));
  if (plans.size() == 1) {
    return text + " No other plan was found.";
  }
  text +=
      fmt::format(" Plan 2 is {} % behind.", percent(number_at(plans[1], {"behind"}).value_or(0)));
  const Json& apart = at(result, {"apart"});
  if (apart.is_boolean()) {
    text += apart.get<bool>() ? " The 90 % intervals of the two lie apart."
                              : " The 90 % intervals of the two overlap: try both.";
  }
  return text;
}

/// Figures that a comparison shows first, and what they are.
struct Compared {
  const char* key;
  const char* what;
};
constexpr Compared kCompared[] = {{"step_time_s", "step time"},
                                  {"mfu", "MFU"},
                                  {"wall_days", "days"},
                                  {"total_usd", "cost"},
                                  {"ettr", "ETTR"}};

/// B / A; nothing where either lacks the figure.
std::optional<double> ratio_of(const Json& result, const char* key) {
  const auto a = number_at(result, {"a", "figures", key});
  const auto b = number_at(result, {"b", "figures", key});
  return a && b && *a != 0 ? std::optional(*b / *a) : std::nullopt;
}

/// "+12.5 %", or from twice on "2.72 x".
std::string change_text(double ratio) {
  if (ratio >= 2) {
    return number(ratio) + " x";
  }
  return fmt::format("{}{} %", ratio > 1 ? "+" : "", percent(ratio - 1));
}

Tiles compare_tiles(const Json& result) {
  Tiles tiles;
  for (const auto& [key, what] : kCompared) {
    if (const auto ratio = ratio_of(result, key)) {
      tiles.emplace_back(
          change_text(*ratio),
          fmt::format("{} of B: {} for {}", what, text_of(at(result, {"b", "figures", key})),
                      text_of(at(result, {"a", "figures", key}))));
    }
  }
  return tiles;
}

std::string compare_sentence(const Json& result) {
  const auto ratio = ratio_of(result, "step_time_s");
  if (!ratio) {
    return "";
  }
  const std::string a = text_at(result, {"a", "name"});
  const std::string b = text_at(result, {"b", "name"});
  if (*ratio == 1) {
    return fmt::format("A step takes as long on A ({}) as on B ({}).", a, b);
  }
  if (*ratio >= 2) {
    return fmt::format("A step takes {} times as long on B ({}) as on A ({}).", number(*ratio), b,
                       a);
  }
  return fmt::format("A step takes {} % {} on B ({}) than on A ({}).",
                     percent(std::abs(*ratio - 1)), *ratio > 1 ? "longer" : "less", b, a);
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

/// Bytes in GiB, as they are too long for a tile.
std::string figure_text(const std::string& path, const Json& value) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return path.ends_with("_bytes") && value.is_number() ? number(value.get<double>() / kGiB) + " GiB"
                                                       : text_of(value);
}

std::string changes_of(const Json& row) {
  std::vector<std::string> words;
  for (const auto& [key, value] : row["changes"].items()) {
    words.push_back(fmt::format("{} {}", key, text_of(value)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

Tiles sweep_tiles(const Json& result) {
  Tiles tiles;
  const Json& best = best_row(result);
  if (!best.is_null()) {
    for (const auto& [path, value] : best["figures"].items()) {
      tiles.emplace_back(figure_text(path, value), fmt::format("{} of the best point", path));
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

std::string sweep_sentence(const Json& result) {
  const Json& best = best_row(result);
  return best.is_null() ? "No point works."
                        : fmt::format("Best is point {}: {}, with the {} {}.",
                                      text_of(best["point"]), changes_of(best),
                                      text_at(result, {"best_is"}), text_at(result, {"best"}));
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
  add({"step", "slowdown"}, 1, "", "step while it lasts / healthy step");
  add({"since_save_s"}, 1 / kMinute, " min", "of work since the last save when it strikes");
  return tiles;
}

std::string drill_sentence(const Json& result) {
  const Json& remedies = at(result, {"remedies"});
  if (remedies.empty() || number_at(remedies[0], {"saved_s"}).value_or(0) <= 0) {
    return "";
  }
  return fmt::format("Most would be saved by: {} ({}).", text_of(remedies[0]["name"]),
                     text_of(remedies[0]["how"]));
}

Tiles validate_tiles(const Json& result) {
  const Json& all = at(result, {"summary"});
  Tiles tiles;
  const auto add = [&](const char* key, const char* what) {
    if (const auto share = number_at(all, {key})) {
      tiles.emplace_back(percent(*share) + " %", what);
    }
  };
  add("median_abs_error", "median error of tokens a second");
  add("p90_abs_error", "90th percentile of the error");
  add("within_10", "of the rows are within 10 %");
  add("coverage_90", "of the measurements are in their 90 % interval");
  add("median_abs_memory_error", "median error of the peak memory");
  if (const auto rows = number_at(all, {"n"})) {
    tiles.emplace_back(count(*rows), fmt::format("published rows predicted, {} not",
                                                 text_of(at(all, {"n_skipped"}))));
  }
  return tiles;
}

std::string validate_sentence(const Json& result) {
  std::string text;
  for (const auto& [part, errors] : at(result, {"left_out", "parts"}).items()) {
    text += fmt::format("{}{} {} in the median, {} at the 90th percentile",
                        text.empty() ? "With each source left out: " : "; ", part,
                        percent_or_none(number_at(errors, {"median_abs_error"})),
                        percent_or_none(number_at(errors, {"p90_abs_error"})));
  }
  return text.empty() ? "" : text + ".";
}

struct Verb {
  const char* name;
  Tiles (*tiles)(const Json&);
  std::string (*sentence)(const Json&);
};
constexpr Verb kVerbs[] = {{"plan", plan_tiles, plan_sentence},
                           {"compare", compare_tiles, compare_sentence},
                           {"sweep", sweep_tiles, sweep_sentence},
                           {"drill", drill_tiles, drill_sentence},
                           {"validate", validate_tiles, validate_sentence}};

}  // namespace

Tiles tiles_of(const Json& result) {
  for (const Verb& verb : kVerbs) {
    if (is(result, verb.name)) {
      return verb.tiles(result);
    }
  }
  return run_tiles(result);
}

std::string verdict_of(const Json& result) {
  if (std::string limit = text_at(result, {"limit"}); !limit.empty()) {
    return limit;
  }
  for (const Verb& verb : kVerbs) {
    if (is(result, verb.name)) {
      return verb.sentence(result);
    }
  }
  return "";
}

std::string plan_words(const Json& plan, const Json& plans) {
  const auto differs = [&](const char* key) {
    return std::any_of(plans.begin(), plans.end(),
                       [&](const Json& other) { return at(other, {key}) != at(plan, {key}); });
  };
  std::vector<std::string> words;
  if (differs("machine")) {
    words.push_back(text_at(plan, {"machine"}));
  }
  if (const auto nodes = number_at(plan, {"nodes"}); nodes && differs("nodes")) {
    words.push_back(count(*nodes) + " nodes");
  }
  if (const auto board = number_at(plan, {"board_w"}); board && differs("board_w")) {
    words.push_back(fmt::format("boards of {} W", count(std::floor(*board))));
  }
  add_layout(plan["layout"], words);
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace headway::report

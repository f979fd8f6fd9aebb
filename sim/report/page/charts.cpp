#include "sim/report/page/charts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "sim/core/activity.h"
#include "sim/core/units.h"
#include "sim/drill/symptom.h"
#include "sim/report/page/chart_parts.h"
#include "sim/report/page/figure_words.h"
#include "sim/report/page/html.h"
#include "sim/report/page/tiles.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

/// What the Pareto front is of: "front of time and money".
std::string front_of(const Json& result) {
  std::string goals;
  for (const auto& goal : at(result, {"beside"})) {
    goals += ", " + goal.get<std::string>();
  }
  return "front of " + (goals.empty() ? "time and money" : text_at(result, {"objective"}) + goals);
}

/// Points of the chart of all layouts: more would make the page larger than is good to send.
constexpr std::size_t kMostLayouts = 800;

/// Six digits: what a screen shows of a number takes less room than the number.
double shown_digits(const Json& value) {
  return std::stod(fmt::format("{:.6g}", value.get<double>()));
}

bool has_days_and_dollars(const Json& layout) {
  return layout["days"].is_number() && layout["usd"].is_number();
}

/// The layouts that were simulated and have days and dollars: all, or, of more than kMostLayouts,
/// those of plans in the table and of the others every so many.
std::vector<const Json*> drawn_layouts(const Json& result) {
  std::vector<const Json*> listed, others;
  for (const auto& one : at(result, {"simulated_plans"})) {
    if (has_days_and_dollars(one)) {
      const bool plan = number_at(one, {"plan"}).value_or(0) >= 1 || one["pareto"] == true;
      (plan ? listed : others).push_back(&one);
    }
  }
  const std::size_t room = kMostLayouts - std::min(kMostLayouts, listed.size());
  const std::size_t kept = std::min(room, others.size());
  for (std::size_t i = 0; i < kept; ++i) {
    listed.push_back(others[i * others.size() / kept]);
  }
  return listed;
}

/// Their points, with the place of its plan where the table has it.
Json simulated_layouts(const Json& result) {
  Json points = Json::array();
  for (const Json* drawn : drawn_layouts(result)) {
    const Json& one = *drawn;
    const Json& plans = at(result, {"plans"});
    const auto place = static_cast<std::size_t>(number_at(one, {"plan"}).value_or(0));
    const bool listed = place >= 1 && place <= plans.size();
    const std::string machine = text_at(one, {"machine"});
    const std::string cluster =
        fmt::format("{}{}{} nodes", machine, machine.empty() ? "" : ", ", text_of(one["nodes"]));
    std::string words = fmt::format("{}, {}", text_at(one, {"layout"}), cluster);
    if (listed) {
      words = fmt::format("{}. {}", place, text_at(plans[place - 1], {"name"}));
    }
    points.push_back({{"point", points.size() + 1},
                      {"plan", one["plan"]},
                      {"what", words},
                      {"cluster", cluster},
                      {"days", shown_digits(one["days"])},
                      {"dollars", shown_digits(one["usd"])},
                      {"front", one["pareto"] == true ? "on it"
                                : listed              ? "behind it"
                                                      : "not in the table"},
                      {"run", one["own_run"] == true ? "simulated" : "in proportion"}});
  }
  return points;
}

/// The front stands out from what is behind it, on paper of both colours; only what there is has a
/// place in the legend.
Json front_colours(const Json& points) {
  Json words = Json::array();
  Json colours = Json::array();
  for (const auto& [word, colour] :
       {std::pair("on it", "#e45756"), std::pair("behind it", "#4c78a8"),
        std::pair("not in the table", "#9aa5b1")}) {
    const auto has = [&word = word](const Json& point) { return point["front"] == word; };
    if (std::any_of(points.begin(), points.end(), has)) {
      words.push_back(word);
      colours.push_back(colour);
    }
  }
  return {{"scale", {{"domain", words}, {"range", colours}}}};
}

/// The causes of a step's seconds.
Json all_causes() {
  Json causes = Json::array();
  for (const auto& cause : enum_words(core::Activity{})) {
    causes.push_back(study::in_words(cause.value));
  }
  return causes;
}

/// A bar for each plan, made of parts in this order; zeros are left out.
/// @param parts_of  the parts of a plan by their names: numbers, drawn times `scale`
Json bars_of_plans(const Json& plans,
                   const Json& order,
                   const std::string& quantity,
                   double scale,
                   const std::function<Json(const Json&)>& parts_of) {
  Json values = Json::array();
  std::size_t number = 0;
  for (const auto& plan : plans) {
    const std::string words = fmt::format("{}. {}", ++number, text_at(plan, {"name"}));
    const Json parts = parts_of(plan);
    for (std::size_t place = 0; place < order.size(); ++place) {
      const Json& value = at(parts, {order[place].get<std::string>().c_str()});
      if (value.is_number() && value != 0) {
        values.push_back({{"what", words},
                          {"part", order[place]},
                          {"place", place},
                          {"value", scale * value.get<double>()}});
      }
    }
  }
  return named_bars(values, quantity, order);
}

/// What every layout costs in days and dollars.
void add_front(const Json& result, std::vector<Chart>& charts) {
  Json spec = base(simulated_layouts(result), "point");
  spec["height"] = 260;
  spec["mark"]["filled"] = true;
  spec["mark"]["size"] = 60;
  // The page's script ties the brush to the plans' table: `chosen` has the points inside it.
  spec["params"] = Json::array(
      {{{"name", "brush"}, {"select", "interval"}}, {{"name", "chosen"}, {"value", nullptr}}});
  const Json apart = {{"scale", {{"zero", false}, {"padding", 8}}}};  // whole points at the edge
  spec["encoding"] = {
      {"x", axis("days", "quantitative", "days, median", apart)},
      {"y", axis("dollars", "quantitative", "USD, median", apart)},
      {"color", axis("front", "nominal", front_of(result), front_colours(spec["data"]["values"]))},
      // By the alphabet the front comes last, on top of all others.
      {"order", {{"field", "front"}, {"type", "nominal"}, {"sort", "ascending"}}},
      {"opacity",
       {{"condition", {{"test", "!chosen || indexof(chosen, datum.point) >= 0"}, {"value", 1}}},
        {"value", 0.15}}},
      {"tooltip",
       Json::array({axis("what", "nominal", "layout"), axis("days", "quantitative", "days"),
                    axis("dollars", "quantitative", "USD"), axis("run", "nominal", "its run")})}};
  const std::size_t drawn = spec["data"]["values"].size();
  const Json& values = spec["data"]["values"];
  if (std::any_of(values.begin(), values.end(), [&](const Json& point) {
        return point["cluster"] != values.front()["cluster"];
      })) {
    spec["encoding"]["shape"] = axis("cluster", "nominal", "cluster");
  }
  const Json& simulated = at(result, {"simulated_plans"});
  const auto all = static_cast<std::size_t>(
      std::count_if(simulated.begin(), simulated.end(), has_days_and_dollars));
  add(charts, "front",
      fmt::format("Days and dollars of {}; of a run in proportion the days are those of the "
                  "fastest layout there, times the steps' ratio",
                  all > drawn ? fmt::format("{} of {} layouts that were simulated", drawn, all)
                              : "every layout that was simulated"),
      spec);
}

/// Where the step of each plan goes, what every layout costs, what memory each plan takes.
void add_plan(const Json& result, std::vector<Chart>& charts) {
  const Json& plans = at(result, {"plans"});
  const auto causes = [](const Json& plan) -> Json {
    return step_in_words(at(plan, {"step", "breakdown_s"}));
  };
  const auto kinds = [](const Json& plan) -> Json { return at(plan, {"memory", "by_kind_bytes"}); };
  add(charts, "plans", "Where the step of each plan goes",
      bars_of_plans(plans, all_causes(), "seconds, mean of ranks", 1, causes));
  add_front(result, charts);
  add(charts, "plan_memory", "Memory of the fullest GPU of each plan",
      bars_of_plans(plans, kHeldKinds, "GiB", 1 / (1_GiB).si(), kinds));
}

/// A time in seconds as an axis says it. Source: the minute, the hour.
constexpr const char* kTimes =
    "datum.value < 60 ? datum.value + ' s' : datum.value < 3600 ? datum.value / 60 + ' min' : "
    "datum.value / 3600 + ' h'";

/// The rows of a cascade, from the fault up: the layers, then who acts.
std::vector<std::string> cascade_rows() {
  std::vector<std::string> rows{"fault"};
  for (const auto& layer : enum_words(drill::StackLayer{})) {
    rows.emplace_back(layer.word);
  }
  for (const char* acting : {"alarm", "blame", "recovery"}) {
    rows.emplace_back(acting);
  }
  return rows;
}

/// The row of a moment: its layer, or who acts then.
std::string cascade_row(const Json& moment) {
  if (moment["layer"].is_string()) {
    return moment["layer"];
  }
  const std::string what = moment["moment"];
  return what == "fault" || what == "alarm" || what == "blame" ? what
         : what == "healed"                                    ? "fault"
         : what == "save"                                      ? "storage"
                                                               : "recovery";
}

/// When each layer shows something, where the time is lost, and what would have saved some of it.
void add_drill(const Json& result, std::vector<Chart>& charts) {
  constexpr double kShortest = 10;  // seconds of a scale on which all happens at once
  double last = kShortest;
  Json moments = Json::array();
  for (const auto& moment : at(result, {"timeline"})) {
    last = std::max(last, number_at(moment, {"at_s"}).value_or(0));
    moments.push_back({{"layer", cascade_row(moment)},
                       {"seconds", moment["at_s"]},
                       {"moment", moment["moment"]},
                       {"text", moment["text"]}});
  }
  Json spec = base(moments, "point");
  const auto rows = cascade_rows();
  constexpr int kRow = 26;  // pixels
  spec["height"] = kRow * static_cast<int>(rows.size());
  spec["mark"]["filled"] = true;
  spec["mark"]["size"] = 80;
  spec["encoding"] = {
      {"x",
       axis("seconds", "quantitative", "time after the fault, logarithmic",
            {{"scale", {{"type", "symlog"}, {"domain", {0, last}}}},
             {"axis", {{"values", {0, 1, 10, 60, 600, 3600, 36000}}, {"labelExpr", kTimes}}}})},
      {"y", axis("layer", "nominal", "",
                 {{"sort", nullptr}, {"scale", {{"domain", rows}}}, {"axis", {{"grid", true}}}})},
      {"color", axis("moment", "nominal", "")},
      {"tooltip", Json::array({axis("text", "nominal", "what"),
                               axis("seconds", "quantitative", "seconds after the fault")})}};
  add(charts, "cascade", "What happens after the fault, by layer", spec);
  Json accounts = at(result, {"lost", "accounts_s"});
  if (accounts.is_object()) {
    accounts.erase("useful");
    add(charts, "lost", "Where the time goes that is not useful",
        waterfall(run_in_words(accounts), 1, "seconds"));
  }
  Json saved = Json::array();
  for (const auto& remedy : at(result, {"remedies"})) {
    if (number_at(remedy, {"saved_s"}).value_or(0) > 0) {
      saved.push_back({{"what", remedy["name"]}, {"value", remedy["saved_s"]}});
    }
  }
  add(charts, "remedies", "What would have saved time", bars(saved, "seconds saved"));
}

/// A row of a two-sided chart.
Json row_of(const std::string& what, double value, bool more, const std::string& text) {
  return {{"what", what},
          {"value", value},
          {"text", text},
          {"label", what + ": " + text},
          {"side", more ? "more on B" : "less on B"}};
}

/// What B changes of every figure of A: ratios, so that twice and half are as far from 1. The axis
/// goes as far as the bars, to each side.
void add_sides(const Json& result, std::vector<Chart>& charts) {
  constexpr double kShown = 0.0005;  // what does not round to 0.0 %
  Json values = Json::array();
  constexpr double kNearest = 1.01;  // of a scale on which nothing differs
  double least = 1 / kNearest;
  double most = kNearest;
  for (const auto& [key, value] : at(result, {"a", "figures"}).items()) {
    const auto ratio = ratio_of_sides(result, key.c_str());
    if (ratio && *ratio > 0 && std::abs(*ratio - 1) >= kShown) {
      values.push_back(row_of(
          figure_name(key), *ratio, *ratio > 1,
          fmt::format("{} ({} to {})", change_text(*ratio), side_text(result, "a", key.c_str()),
                      side_text(result, "b", key.c_str()))));
      least = std::min(least, *ratio);
      most = std::max(most, *ratio);
    }
  }
  add(charts, "sides", "What B changes of A",
      two_sided(values, "B / A, logarithmic", 1,
                {{"type", "log"}, {"domain", {least, most}}, {"nice", false}}));
}

/// Which parts of a whole differ, in its own unit and as a share of the whole of A.
void add_parts(const Json& result,
               const char* id,
               const char* member,
               const std::string& title,
               double scale,
               const std::string& unit,
               std::vector<Chart>& charts) {
  Json values = Json::array();
  for (const Json& part : at(result, {member})) {
    const auto difference = number_at(part, {"difference"});
    const auto share = number_at(part, {"share"});
    constexpr double kRounding = 1e-9;  // Source: sums of doubles
    if (difference && share && std::abs(*share) > kRounding) {
      const char* sign = *difference > 0 ? "+" : "";
      values.push_back(
          row_of(text_at(part, {"words"}), scale * *difference, *difference > 0,
                 fmt::format("{}{} {}, {}{} % of A's", sign, number(scale * *difference), unit,
                             sign, number(100 * *share))));
    }
  }
  add(charts, id, title, two_sided(values, fmt::format("B - A [{}]", unit), 0, Json::object()));
}

/// What each layer of the architecture makes of the difference of one figure.
void add_layers(const Json& result,
                const char* id,
                const char* figure,
                const std::string& title,
                const std::string& unit,
                std::vector<Chart>& charts) {
  Json values = Json::array();
  for (const Json& layer : at(result, {"layers"})) {
    constexpr double kRounding = 1e-9;  // Source: sums of doubles
    const double part = number_at(layer, {"figures", figure, "shapley"}).value_or(0);
    if (std::abs(part) > kRounding) {
      values.push_back(row_of(text_at(layer, {"layer"}), part, part > 0,
                              fmt::format("{}{} {}", part > 0 ? "+" : "", number(part), unit)));
    }
  }
  add(charts, id, title, two_sided(values, fmt::format("B - A [{}]", unit), 0, Json::object()));
}

void add_compare(const Json& result, std::vector<Chart>& charts) {
  constexpr double kHour = 3600;  // Source: the hour
  add_sides(result, charts);
  add_parts(result, "step_parts", "step_parts_s", "Where the step differs", 1, "s", charts);
  add_parts(result, "run_parts", "ledger_parts_gpu_s", "Where the GPU time of the run differs",
            1 / kHour, "GPU h", charts);
  add_parts(result, "cost_parts", "cost_parts_usd", "Where the cost differs", 1, "USD", charts);
  add_layers(result, "step_layers", "step_time_s", "Which layer makes the step differ", "s",
             charts);
  add_layers(result, "run_layers", "wall_days", "Which layer makes the run differ", "days", charts);
  add_layers(result, "cost_layers", "total_usd", "Which layer makes the cost differ", "USD",
             charts);
}

/// Every published run beside its prediction.
void add_validation(const Json& result, std::vector<Chart>& charts) {
  constexpr const char* kMeasured = "measured_tokens_per_s_per_gpu";
  constexpr const char* kPredicted = "predicted_tokens_per_s_per_gpu";
  Json values = Json::array();
  for (const auto& row : at(result, {"rows"})) {
    if (at(row, {kMeasured}).is_number() && at(row, {kPredicted}).is_number()) {
      Json value = {
          {"id", row["id"]}, {"measured", row[kMeasured]}, {"predicted", row[kPredicted]}};
      if (const Json& interval = at(row, {"interval"});
          interval.is_array() && interval.size() == 2) {
        value["low"] = interval[0];
        value["high"] = interval[1];
      }
      if (const std::string part = text_at(row, {"part"}); !part.empty()) {
        value["part"] = part;
      }
      values.push_back(value);
    }
  }
  const Json log = {{"scale", {{"type", "log"}}}};
  const Json x = axis("measured", "quantitative", "measured tokens/s a GPU", log);
  const Json y = axis("predicted", "quantitative", "predicted tokens/s a GPU", log);
  const Json equal = {{"mark", {{"type", "line"}, {"color", "#d33"}, {"strokeDash", {4, 4}}}},
                      {"encoding", {{"x", x}, {"y", axis("measured", "quantitative", "", log)}}}};
  const Json intervals = {
      {"mark", {{"type", "rule"}, {"color", "#888"}, {"opacity", 0.6}}},
      {"encoding",
       {{"x", x}, {"y", axis("low", "quantitative", "", log)}, {"y2", {{"field", "high"}}}}}};
  constexpr std::size_t kFew = 100;  // points that do not cover one another
  const Json points = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", values.size() < kFew ? 50 : 18}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", axis("part", "nominal", "", {{"legend", {{"orient", "top"}, {"columns", 2}}}})},
        {"tooltip", Json::array({axis("id", "nominal", "row"), axis("part", "nominal", "of"),
                                 axis("measured", "quantitative", "measured"),
                                 axis("predicted", "quantitative", "predicted")})}}}};
  Json spec = base(values, "point");
  spec.erase("mark");
  spec["height"] = 420;
  spec["layer"] = Json::array({equal, intervals, points});
  add(charts, "validation",
      "Measured runs, their predictions and 90 % intervals; on the dashed line both are equal",
      spec);
}

/// What a profile measured beside the prediction, each figure in seconds.
void add_profile(const Json& result, std::vector<Chart>& charts) {
  Json values = Json::array();
  for (const auto& row : at(result, {"rows"})) {
    if (row["unit"] != "s" || (row["measured"] == 0 && row["predicted"] == 0)) {
      continue;
    }
    const std::string what = spaced(row["figure"].get<std::string>());
    for (const char* side : {"measured", "predicted"}) {
      values.push_back(
          {{"what", what}, {"side", side}, {"value", row[side]}, {"meaning", row["meaning"]}});
    }
  }
  Json spec = base(values, "bar");
  constexpr int kRow = 34;  // pixels of two bars
  spec["height"] = kRow * static_cast<int>(std::max<std::size_t>(1, values.size() / 2));
  spec["encoding"] = {
      {"y", axis("what", "nominal", "", {{"sort", nullptr}})},
      {"yOffset", {{"field", "side"}}},
      {"x", axis("value", "quantitative", "seconds of a step, mean over the profiles' ranks")},
      {"color", axis("side", "nominal", "")},
      {"tooltip", Json::array({axis("meaning", "nominal", "what"), axis("side", "nominal", "side"),
                               axis("value", "quantitative", "seconds")})}};
  add(charts, "profile", "What was measured beside what is predicted", spec);
}

}  // namespace

std::vector<Chart> charts_of(const ReadResult& result) {
  using Adds = void (*)(const Json&, std::vector<Chart>&);
  static const std::map<std::string_view, Adds> verbs{{"headway.run/1", add_run},
                                                      {"headway.plan/1", add_plan},
                                                      {"headway.drill/1", add_drill},
                                                      {"headway.compare/1", add_compare},
                                                      {"headway.sweep/1", add_sweep},
                                                      {"headway.validate/1", add_validation},
                                                      {"headway.compare-profile/1", add_profile}};
  std::vector<Chart> charts;
  if (const auto verb = verbs.find(result.type().schema); verb != verbs.end()) {
    verb->second(result.json(), charts);
  }
  return charts;
}

std::optional<Chart> timeline_chart(const ReadResult& result) {
  const Json& timeline = at(result.json(), {"pictures", "timeline"});
  if (timeline.is_null()) {
    return std::nullopt;
  }
  Json spans_of_stages = Json::array();
  for (const Json& stage : timeline["stages"]) {
    const std::size_t spans =
        common_length(stage, {"begin_us", "length_us", "what", "micro_batch"});
    for (std::size_t i = 0; i < spans; ++i) {
      const Json& what = timeline["names"].at(stage["what"][i].get<std::size_t>());
      const double begin = stage["begin_us"][i].get<double>() / 1e6;
      if (what != "waiting for another stage") {
        spans_of_stages.push_back({{"stage", stage["stage"]},
                                   {"what", what},
                                   {"begin", begin},
                                   {"end", begin + stage["length_us"][i].get<double>() / 1e6},
                                   {"micro-batch", stage["micro_batch"][i]}});
      }
    }
  }
  Json spec = base(spans_of_stages, "bar");
  spec["height"] = height_of_rows(spans_of_stages, "stage", 16);
  spec["encoding"] = {{"x", axis("begin", "quantitative", "seconds from the start of the step")},
                      {"x2", {{"field", "end"}}},
                      {"y", axis("stage", "ordinal", "pipeline stage")},
                      {"color", axis("what", "nominal", "")},
                      {"tooltip", Json::array({axis("what", "nominal", "what"),
                                               axis("micro-batch", "quantitative", "micro-batch"),
                                               axis("begin", "quantitative", "begin [s]"),
                                               axis("end", "quantitative", "end [s]")})}};
  spec["description"] = "What every stage does in a step";
  return Chart{"timeline", "What every stage does in a step", std::move(spec)};
}

}  // namespace headway::report

#include "sim/report/page/charts.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

namespace headway::report {

namespace {

/// One field of the data on one axis.
Json axis(const char* field,
          const char* type,
          const std::string& title,
          const Json& more = Json::object()) {
  Json out = {{"field", field}, {"type", type}, {"title", title}};
  out.update(more);
  return out;
}

Json base(const Json& values, const char* mark) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", "container"},
          {"background", nullptr},
          {"data", {{"values", values}}},
          {"mark", {{"type", mark}, {"tooltip", true}}}};
}

const Json kInOrder = {{"sort", nullptr}};

/// Horizontal bars, one a row of {what, value}, in the order of the rows.
Json bars(const Json& values, const std::string& quantity) {
  Json spec = base(values, "bar");
  spec["height"] = {{"step", 22}};
  spec["encoding"] = {
      {"y", axis("what", "nominal", "", {{"sort", nullptr}, {"axis", {{"labelLimit", 260}}}})},
      {"x", axis("value", "quantitative", quantity)}};
  return spec;
}

/// Rows {what, value} of an object of numbers; zeros left out, largest first.
Json rows_of_object(const Json& object, double scale) {
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [key, value] : object.items()) {
    if (value.is_number() && value.get<double>() != 0) {
      parts.emplace_back(value.get<double>() * scale, key);
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json rows = Json::array();
  for (const auto& [value, key] : parts) {
    std::string what = key;
    std::replace(what.begin(), what.end(), '_', ' ');
    rows.push_back({{"what", what}, {"value", value}});
  }
  return rows;
}

/// The member at a path of keys; null where there is none.
const Json& at(const Json& result, std::initializer_list<const char*> keys) {
  static const Json kNone;
  const Json* here = &result;
  for (const char* key : keys) {
    if (!here->is_object() || !here->contains(key)) {
      return kNone;
    }
    here = &(*here)[key];
  }
  return *here;
}

/// Parts of a whole, each beginning where the last ended: where the step or the money goes.
Json waterfall(const Json& object, double scale, const std::string& quantity) {
  Json values = rows_of_object(object, scale);
  double begin = 0;
  for (auto& row : values) {
    row["begin"] = begin;
    begin += row["value"].get<double>();
    row["end"] = begin;
  }
  Json spec = bars(values, quantity);
  spec["encoding"]["x"] = axis("begin", "quantitative", quantity);
  spec["encoding"]["x2"] = {{"field", "end"}};
  spec["encoding"]["color"] = axis("what", "nominal", "", {{"legend", nullptr}, {"sort", nullptr}});
  spec["encoding"]["tooltip"] =
      Json::array({axis("what", "nominal", "cause"), axis("value", "quantitative", quantity)});
  return spec;
}

void add(std::vector<Chart>& charts, const char* id, const std::string& title, Json spec) {
  const auto& values = spec["data"]["values"];
  if (!values.empty()) {
    spec["description"] = title;
    charts.push_back({id, title, std::move(spec)});
  }
}

Json memory_chart(const Json& stages, double capacity) {
  Json values = Json::array();
  int stage = 0;
  for (const auto& kinds : stages) {
    for (const auto& [kind, bytes] : kinds.items()) {
      values.push_back({{"stage", stage},
                        {"kind", kind},
                        {"GiB", bytes.get<double>() / (1024.0 * 1024 * 1024)}});
    }
    ++stage;
  }
  Json spec = base(values, "bar");
  spec.erase("mark");
  spec["height"] = 240;
  Json bar = {{"mark", {{"type", "bar"}, {"tooltip", true}}},
              {"encoding",
               {{"x", axis("stage", "ordinal", "pipeline stage")},
                {"y", axis("GiB", "quantitative", "GiB on the fullest GPU")},
                {"color", axis("kind", "nominal", "", kInOrder)}}}};
  Json rule = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}, {"color", "#d33"}}},
               {"data", {{"values", {{{"GiB", capacity / (1024.0 * 1024 * 1024)}}}}}},
               {"encoding", {{"y", axis("GiB", "quantitative", "GiB on the fullest GPU")}}}};
  spec["layer"] = Json::array({bar, rule});
  return spec;
}

Json interval_chart(const Json& curve) {
  Json values = Json::array();
  for (const auto& point : curve) {
    if (point["ettr"].is_number()) {
      values.push_back(
          {{"interval", point["interval_s"]}, {"ETTR", 100 * point["ettr"].get<double>()}});
    }
  }
  Json spec = base(values, "line");
  spec["mark"]["point"] = true;
  spec["height"] = 220;
  spec["encoding"] = {
      {"x", axis("interval", "quantitative", "work between checkpoints [s]",
                 {{"scale", {{"type", "log"}}}})},
      {"y", axis("ETTR", "quantitative", "ETTR [%]", {{"scale", {{"zero", false}}}})}};
  return spec;
}

/// How the step changes with each input: a tornado.
Json sensitivities_chart(const Json& sensitivities, double step) {
  Json values = Json::array();
  for (const auto& input : sensitivities) {
    for (const auto& [key, how] :
         {std::pair{"lower_step_s", "10 % less"}, std::pair{"higher_step_s", "10 % more"}}) {
      if (input[key].is_number()) {
        values.push_back({{"what", input["input"]},
                          {"how", how},
                          {"value", 100 * (input[key].get<double>() / step - 1)}});
      }
    }
  }
  Json spec = bars(values, "change of the step [%]");
  spec["encoding"]["color"] = axis("how", "nominal", "input");
  return spec;
}

Json published_chart(const Json& published) {
  Json values = Json::array();
  for (const auto& row : published) {
    values.push_back({{"what", row["quantity"]}, {"value", 100 * row["error"].get<double>()}});
  }
  return bars(values, "predicted / published - 1 [%]");
}

void add_run(const Json& result, std::vector<Chart>& charts) {
  add(charts, "breakdown", "Where the step goes",
      waterfall(at(result, {"step", "breakdown_s"}), 1, "seconds, mean of ranks"));
  if (const Json& stages = at(result, {"pictures", "stage_memory_bytes"}); stages.is_array()) {
    add(charts, "memory", "Memory of every stage; the dashed line is the GPU's",
        memory_chart(stages, at(result, {"memory", "capacity_bytes"}).get<double>()));
  } else {
    add(charts, "memory", "Memory of the fullest GPU",
        waterfall(at(result, {"memory", "by_kind_bytes"}), 1 / (1024.0 * 1024 * 1024), "GiB"));
  }
  Json links = Json::array();
  if (const Json& tiers = at(result, {"step", "links"}); tiers.is_array()) {
    for (const auto& link : tiers) {
      links.push_back({{"what", link["tier"]}, {"value", 100 * link["busiest"].get<double>()}});
    }
  }
  add(charts, "links", "Use of the busiest link of each tier", bars(links, "% of the step"));
  if (const Json& explained = at(result, {"explanation", "sensitivities"}); explained.is_array()) {
    add(charts, "sensitivities", "How the step answers to 10 % of each input",
        sensitivities_chart(explained, at(result, {"step", "time_s"}).get<double>()));
  }
  add(charts, "ledger", "Where the GPU time of the run goes",
      waterfall(at(result, {"campaign", "ledger_gpu_s"}), 1.0 / 3600, "GPU-hours"));
  Json causes = Json::array();
  if (const Json& hazards = at(result, {"campaign", "interruptions_by_hazard"});
      hazards.is_array()) {
    for (const auto& hazard : hazards) {
      if (hazard["mean"].is_number() && hazard["mean"].get<double>() > 0) {
        causes.push_back({{"what", hazard["hazard"]}, {"value", hazard["mean"]}});
      }
    }
  }
  add(charts, "interruptions", "Interruptions by cause", bars(causes, "interruptions, mean"));
  Json items = Json::object();
  for (const char* item : {"gpus_usd", "spares_usd", "storage_usd", "electricity_usd"}) {
    if (const Json& dollars = at(result, {"cost", item}); dollars.is_number()) {
      items[item] = dollars;
    }
  }
  add(charts, "cost", "Cost of the mean run by item", waterfall(items, 1, "USD"));
  if (const Json& curve = at(result, {"campaign", "advice", "interval_curve"}); curve.is_array()) {
    add(charts, "interval", "ETTR against the time between checkpoints", interval_chart(curve));
  }
  if (const Json& published = at(result, {"published"}); published.is_array()) {
    add(charts, "published", "Published figures and ours", published_chart(published));
  }
}

/// "1. tensor 2, pipeline 4, data 8": a layout without the degrees that are one.
std::string words_of(const Json& layout, int place) {
  std::string words = std::to_string(place) + ".";
  for (const auto& [key, value] : layout.items()) {
    const bool always = key == "tensor" || key == "pipeline";
    if (value.is_number_integer() && (always || value.get<std::int64_t>() > 1)) {
      words += fmt::format("{} {} {}", place > 0 && words.back() == '.' ? "" : ",", key,
                           value.get<std::int64_t>());
    }
  }
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Step time of each plan, and what it costs in days and dollars.
void add_plan(const Json& result, std::vector<Chart>& charts) {
  const Json& plans = at(result, {"plans"});
  if (!plans.is_array()) {
    return;
  }
  Json values = Json::array();
  Json front = Json::array();
  for (const auto& plan : plans) {
    const std::string words = words_of(at(plan, {"layout"}), static_cast<int>(values.size()) + 1);
    values.push_back({{"what", words}, {"value", at(plan, {"step", "time_s"})}});
    const Json& days = at(plan, {"campaign", "wall_days", "p50"});
    const Json& dollars = at(plan, {"cost", "total_usd", "p50"});
    if (days.is_number() && dollars.is_number()) {
      front.push_back({{"what", words},
                       {"days", days},
                       {"dollars", dollars},
                       {"front", at(plan, {"pareto"}) == true ? "on the front" : "behind it"}});
    }
  }
  add(charts, "plans", "Step time of each plan", bars(values, "step [s]"));
  Json spec = base(front, "point");
  spec["height"] = 260;
  spec["mark"]["filled"] = true;
  spec["mark"]["size"] = 60;
  const Json apart = {{"scale", {{"zero", false}}}};
  spec["encoding"] = {{"x", axis("days", "quantitative", "days, median", apart)},
                      {"y", axis("dollars", "quantitative", "USD, median", apart)},
                      {"color", axis("front", "nominal", "Pareto front")},
                      {"tooltip", Json::array({axis("what", "nominal", "layout"),
                                               axis("days", "quantitative", "days"),
                                               axis("dollars", "quantitative", "USD")})}};
  add(charts, "front", "Days and dollars of each plan", spec);
}

/// When each layer shows something, where the time is lost, and what would have saved some of it.
void add_drill(const Json& result, std::vector<Chart>& charts) {
  Json moments = Json::array();
  if (const Json& timeline = at(result, {"timeline"}); timeline.is_array()) {
    for (const auto& moment : timeline) {
      const Json& layer = at(moment, {"layer"});
      moments.push_back({{"layer", layer.is_string() ? layer : Json("the job")},
                         {"seconds", moment["at_s"]},
                         {"moment", moment["moment"]},
                         {"text", moment["text"]}});
    }
  }
  Json spec = base(moments, "point");
  spec["height"] = {{"step", 30}};
  spec["mark"]["filled"] = true;
  spec["mark"]["size"] = 80;
  spec["encoding"] = {
      {"x", axis("seconds", "quantitative", "seconds after the fault",
                 {{"scale", {{"type", "symlog"}}}})},
      {"y", axis("layer", "nominal", "", {{"sort", nullptr}})},
      {"color", axis("moment", "nominal", "")},
      {"tooltip", Json::array({axis("text", "nominal", "what"),
                               axis("seconds", "quantitative", "seconds after the fault")})}};
  add(charts, "cascade", "What happens after the fault, by layer", spec);
  Json accounts = at(result, {"lost", "accounts_s"});
  if (accounts.is_object()) {
    accounts.erase("useful");
    add(charts, "lost", "Where the time goes that is not useful",
        waterfall(accounts, 1, "seconds"));
  }
  Json saved = Json::array();
  if (const Json& remedies = at(result, {"remedies"}); remedies.is_array()) {
    for (const auto& remedy : remedies) {
      saved.push_back({{"what", at(remedy, {"name"})}, {"value", at(remedy, {"saved_s"})}});
    }
  }
  add(charts, "remedies", "What would have saved time", bars(saved, "seconds saved"));
}

/// What B changes of every figure of A.
void add_compare(const Json& result, std::vector<Chart>& charts) {
  const Json& a = at(result, {"a", "figures"});
  const Json& b = at(result, {"b", "figures"});
  if (!a.is_object() || !b.is_object()) {
    return;
  }
  Json values = Json::array();
  for (const auto& [key, value] : a.items()) {
    const Json& other = at(b, {key.c_str()});
    if (value.is_number() && other.is_number() && value.get<double>() != 0) {
      std::string what = key;
      std::replace(what.begin(), what.end(), '_', ' ');
      values.push_back(
          {{"what", what}, {"value", 100 * (other.get<double>() / value.get<double>() - 1)}});
    }
  }
  add(charts, "sides", "What the second changes of the first", bars(values, "B / A - 1 [%]"));
}

/// Every published run beside its prediction.
void add_validation(const Json& result, std::vector<Chart>& charts) {
  const Json& rows = at(result, {"rows"});
  if (!rows.is_array()) {
    return;
  }
  constexpr const char* kMeasured = "measured_tokens_per_s_per_gpu";
  constexpr const char* kPredicted = "predicted_tokens_per_s_per_gpu";
  Json values = Json::array();
  for (const auto& row : rows) {
    if (at(row, {kMeasured}).is_number() && at(row, {kPredicted}).is_number()) {
      Json value = {
          {"id", row["id"]}, {"measured", row[kMeasured]}, {"predicted", row[kPredicted]}};
      if (const Json& interval = at(row, {"interval"});
          interval.is_array() && interval.size() == 2) {
        value["low"] = interval[0];
        value["high"] = interval[1];
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
      {"mark", {{"type", "rule"}, {"opacity", 0.35}}},
      {"encoding",
       {{"x", x}, {"y", axis("low", "quantitative", "", log)}, {"y2", {{"field", "high"}}}}}};
  const Json points = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 18}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"tooltip",
         Json::array({axis("id", "nominal", "row"), axis("measured", "quantitative", "measured"),
                      axis("predicted", "quantitative", "predicted")})}}}};
  Json spec = base(values, "point");
  spec.erase("mark");
  spec["height"] = 420;
  spec["layer"] = Json::array({equal, intervals, points});
  add(charts, "validation",
      "Published runs, their predictions and 90 % intervals; the dashed line is equal", spec);
}

}  // namespace

std::vector<Chart> charts_of(const Json& result) {
  std::vector<Chart> charts;
  const std::string schema = result.value("schema", "");
  if (schema.starts_with("headway.run/")) {
    add_run(result, charts);
  } else if (schema.starts_with("headway.plan/")) {
    add_plan(result, charts);
  } else if (schema.starts_with("headway.drill/")) {
    add_drill(result, charts);
  } else if (schema.starts_with("headway.compare/")) {
    add_compare(result, charts);
  } else if (schema.starts_with("headway.validate/")) {
    add_validation(result, charts);
  }
  return charts;
}

}  // namespace headway::report

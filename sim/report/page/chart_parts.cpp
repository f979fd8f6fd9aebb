#include "sim/report/page/chart_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "sim/campaign/result.h"
#include "sim/core/activity.h"
#include "sim/report/wrap.h"
#include "sim/study/words.h"

namespace headway::report {

namespace {

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
    rows.push_back({{"what", spaced(key)}, {"value", value}});
  }
  return rows;
}

template <class Enum>
Json named(const Json& parts) {
  Json out = Json::object();
  for (const auto& [value, word] : enum_words(Enum{})) {
    if (const Json& part = at(parts, {std::string(word).c_str()}); !part.is_null()) {
      out[std::string(study::in_words(value))] = part;
    }
  }
  return out;
}

/// Rows whose words stand over their bars, not at an axis.
Json rows_under_words() {
  return axis("what", "nominal", "",
              {{"sort", nullptr}, {"axis", nullptr}, {"scale", {{"paddingInner", 0}}}});
}

}  // namespace

Json step_in_words(const Json& breakdown) { return named<core::Activity>(breakdown); }

Json run_in_words(const Json& ledger) { return named<campaign::Account>(ledger); }

Json upright(const char* field, const std::string& title, const Json& more) {
  Json out = axis(field, "ordinal", title, more);
  out["axis"] = {{"labelAngle", 0}, {"labelOverlap", true}};
  return out;
}

std::string spaced(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

Json axis(const char* field, const char* type, const std::string& title, const Json& more) {
  Json out = {{"field", field}, {"type", type}, {"title", title}};
  out.update(more);
  return out;
}

Json base(const Json& values, const char* mark) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", "container"},
          {"background", nullptr},
          {"config", {{"axis", {{"labelSeparation", 6}}}}},  // long numbers stay apart
          {"data", {{"values", values}}},
          {"mark", {{"type", mark}, {"tooltip", true}}}};
}

Json height_of_rows(const Json& values, const char* field, int row) {
  std::set<std::string> different;
  for (const Json& value : values) {
    different.insert(value[field].dump());
  }
  return row * static_cast<int>(different.size());
}

Json bars(const Json& values, const std::string& quantity) {
  Json spec = base(values, "bar");
  spec["height"] = height_of_rows(values, "what", 22);
  spec["encoding"] = {
      {"y", axis("what", "nominal", "", {{"sort", nullptr}, {"axis", {{"labelLimit", 260}}}})},
      {"x", axis("value", "quantitative", quantity)}};
  return spec;
}

Json named_bars(Json values, const std::string& quantity, const Json& parts) {
  constexpr int kLine = 14, kBar = 12, kGap = 12;  // [pixels]
  constexpr std::size_t kColumns = 68;             // of a phone
  std::size_t lines = 1;
  Json names = Json::array();
  for (Json& row : values) {
    const auto folded = wrapped(row["what"].get<std::string>(), kColumns);
    lines = std::max(lines, folded.size());
    row["what"] = fmt::format("{}", fmt::join(folded, "\n"));
    if (const Json name = {{"what", row["what"]}}; names.empty() || names.back() != name) {
      names.push_back(name);
    }
  }
  const int height = static_cast<int>(lines) * kLine + kBar + kGap;
  Json spec = base(values, "bar");
  spec.erase("mark");
  spec["height"] = height_of_rows(values, "what", height);
  const Json rows = rows_under_words();
  Json bar = {{"mark",
               {{"type", "bar"},
                {"height", kBar},
                {"yOffset", (height - kBar) / 2 - kGap},
                {"tooltip", true}}},
              {"encoding", {{"y", rows}, {"x", axis("value", "quantitative", quantity)}}}};
  if (!parts.is_null()) {
    // Of all parts, so that a part has one colour wherever it is; the legend names those drawn.
    Json drawn = Json::array();
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(drawn), [&](const Json& part) {
      return std::any_of(values.begin(), values.end(),
                         [&](const Json& row) { return row["part"] == part; });
    });
    Json scale = {{"domain", parts}};
    if (constexpr std::size_t kOwnColours = 10; parts.size() > kOwnColours) {
      scale["scheme"] = "tableau20";  // the default has ten colours, then begins again
    }
    bar["encoding"]["color"] =
        axis("part", "nominal", "",
             {{"sort", parts},
              {"scale", scale},
              {"legend", {{"orient", "bottom"}, {"columns", 2}, {"values", drawn}}}});
    bar["encoding"]["order"] = axis("place", "quantitative", "");
  }
  Json top = rows;
  top["bandPosition"] = 0;
  const Json words = {
      {"data", {{"values", names}}},
      {"mark",
       {{"type", "text"},
        {"align", "left"},
        {"baseline", "top"},
        {"lineBreak", "\n"},
        {"lineHeight", kLine},
        {"fontSize", 11}}},
      {"encoding", {{"y", top}, {"x", {{"value", 0}}}, {"text", {{"field", "what"}}}}}};
  spec["layer"] = Json::array({bar, words});
  return spec;
}

Json two_sided(const Json& values, const std::string& quantity, double zero, const Json& scale) {
  constexpr int kRow = 38, kBar = 9;  // [pixels]
  Json spec = base(values, "bar");
  spec.erase("mark");
  spec["height"] = height_of_rows(values, "what", kRow);
  const Json rows = rows_under_words();
  const Json colours = {
      {"scale", {{"domain", {"less on B", "more on B"}}, {"range", {"#4c8dd6", "#e08a2e"}}}}};
  const Json x = axis("value", "quantitative", quantity,
                      {{"scale", scale}, {"axis", {{"grid", false}, {"tickCount", 5}}}});
  // Its edge is drawn even where it has no length; a bar from a value of its own, not from 0, which
  // a logarithm lacks.
  const Json bar = {{"mark",
                     {{"type", "bar"},
                      {"height", kBar},
                      {"yOffset", kBar},
                      {"strokeWidth", 2},
                      {"tooltip", true}}},
                    {"encoding",
                     {{"y", rows},
                      {"x", x},
                      {"x2", {{"datum", zero}}},
                      {"color", axis("side", "nominal", "", colours)},
                      {"stroke", axis("side", "nominal", "", colours)},
                      {"tooltip", Json::array({axis("what", "nominal", "what"),
                                               axis("text", "nominal", quantity)})}}}};
  const Json words = {
      {"mark", {{"type", "text"}, {"align", "left"}, {"yOffset", -kBar}, {"fontSize", 12}}},
      {"encoding", {{"y", rows}, {"x", {{"value", 0}}}, {"text", {{"field", "label"}}}}}};
  spec["config"]["legend"] = {{"orient", "bottom"}};
  spec["layer"] = Json::array({bar, words});
  return spec;
}

Json times(const Json& number, double factor) {
  return number.is_number() ? Json(factor * number.get<double>()) : Json();
}

Json waterfall(const Json& object, double scale, const std::string& quantity) {
  Json values = rows_of_object(object, scale);
  double begin = 0;
  for (auto& row : values) {
    row["begin"] = begin;
    begin += row["value"].get<double>();
    row["end"] = begin;
  }
  return spans(values, quantity);
}

Json spans(const Json& values, const std::string& quantity) {
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

}  // namespace headway::report

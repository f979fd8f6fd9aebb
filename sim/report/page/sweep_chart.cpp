// The chart of `headway sweep`.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/report/page/chart_parts.h"
#include "sim/report/page/figure_words.h"

namespace headway::report {

namespace {

/// A change as a number where it is one: axes are in order then.
Json value_of_axis(const Json& change) {
  Json read = Json::parse(change.get<std::string>(), nullptr, false);
  return read.is_number() ? read : change;
}

/// Of the data, not its name: Vega-Lite reads dots and brackets of a field as a path.
std::string field_of(std::size_t place) { return fmt::format("axis {}", place + 1); }

/// The points that have the figure by which points are ranked.
/// @param axes  the keys that points change, in order of their first use
Json points_of(const Json& rows, const std::string& best, std::vector<std::string>& axes) {
  Json values = Json::array();
  for (const Json& row : rows) {
    const Json figure =
        times(at(row, {"figures"}).value(best, Json()), figure_factor(kRunSchema, best));
    Json point = {{"point", row["point"]}, {"figure", figure}, {"status", row["status"]}};
    for (const auto& [key, value] : row["changes"].items()) {
      const auto known = std::find(axes.begin(), axes.end(), key);
      const auto place = static_cast<std::size_t>(known - axes.begin());
      if (known == axes.end()) {
        axes.push_back(key);
      }
      point[field_of(place)] = value_of_axis(value);
    }
    if (!figure.is_null()) {
      values.push_back(std::move(point));
    }
  }
  return values;
}

/// The figure by which points are ranked; where it is the same of all, the first that is not.
std::string figure_that_varies(const Json& result) {
  const std::string best = text_at(result, {"best"});
  std::vector<std::string> paths{best};
  std::map<std::string, std::set<double>> values;
  for (const Json& row : at(result, {"rows"})) {
    for (const auto& [path, value] : at(row, {"figures"}).items()) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
        paths.push_back(path);
      }
      if (value.is_number()) {
        values[path].insert(value.get<double>());
      }
    }
  }
  const auto varies = std::find_if(
      paths.begin(), paths.end(), [&](const std::string& path) { return values[path].size() > 1; });
  return varies == paths.end() ? best : *varies;
}

/// More of them would stand too close on a small screen.
constexpr std::size_t kMostTicks = 12;

/// The values of a field, each once.
Json different(const Json& values, const std::string& field) {
  Json found = Json::array();
  for (const Json& value : values) {
    const Json one = value.value(field, Json());
    if (std::find(found.begin(), found.end(), one) == found.end()) {
      found.push_back(one);
    }
  }
  return found;
}

Json nominal(const std::vector<std::string>& axes, std::size_t place) {
  return axis(field_of(place).c_str(), "nominal", axes[place], {{"sort", nullptr}});
}

}  // namespace

// The first axis goes along the chart, the second is in colours, the third in dashes, or shapes
// where there are no lines; further ones are lines of their own that say their values.
void add_sweep(const Json& result, std::vector<Chart>& charts) {
  const std::string best = figure_that_varies(result);
  std::vector<std::string> axes;
  const Json values = points_of(at(result, {"rows"}), best, axes);
  if (axes.empty()) {
    return;
  }
  const bool numeric = std::all_of(values.begin(), values.end(), [](const Json& point) {
    return point.value(field_of(0), Json()).is_number();
  });
  Json spec = base(values, numeric ? "line" : "point");
  spec["mark"]["point"] = numeric;
  spec["height"] = 300;
  // A little room, so that the outermost points are whole; ticks where points are.
  const Json near = {{"scale", {{"zero", false}, {"padding", 12}}}};
  Json along = near;
  if (const Json ticks = different(values, field_of(0)); ticks.size() <= kMostTicks) {
    along["axis"] = {{"values", ticks}};
  }
  Json told = Json::array({axis("point", "nominal", "point"),
                           axis("figure", "quantitative", figure_heading(kRunSchema, best)),
                           axis("status", "nominal", "status")});
  Json lines = Json::array();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    told.push_back(nominal(axes, i));
    if (i > 2) {
      lines.push_back(nominal(axes, i));
    }
  }
  spec["encoding"] = {
      {"x", numeric ? axis(field_of(0).c_str(), "quantitative", axes[0], along) : nominal(axes, 0)},
      {"y", axis("figure", "quantitative", figure_heading(kRunSchema, best), near)},
      {"detail", lines},
      {"tooltip", told}};
  if (axes.size() > 1) {
    spec["encoding"]["color"] = nominal(axes, 1);
  }
  if (axes.size() > 2) {
    spec["encoding"][numeric ? "strokeDash" : "shape"] = nominal(axes, 2);
  }
  add(charts, "sweep", "Every point of the sweep: " + figure_name(best), spec);
}

}  // namespace headway::report

// The charts of `headway run`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "sim/campaign/result.h"
#include "sim/core/units.h"
#include "sim/report/figure_rows.h"
#include "sim/report/page/chart_parts.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr double kBytesPerGiB = (1_GiB).si();

/// A kind has one colour in every chart of memory.
Json kind_colour() {
  const Json order = kHeldKinds;
  return axis("kind", "nominal", "", {{"sort", order}, {"scale", {{"domain", order}}}});
}

Json memory_chart(const Json& stages, const Json& capacity) {
  Json values = Json::array();
  int stage = 0;
  for (const auto& kinds : stages) {
    for (const auto& [kind, bytes] : kinds.items()) {
      values.push_back({{"stage", stage}, {"kind", kind}, {"GiB", times(bytes, 1 / kBytesPerGiB)}});
    }
    ++stage;
  }
  Json spec = base(values, "bar");
  spec.erase("mark");
  spec["height"] = 240;
  Json bar = {{"mark", {{"type", "bar"}, {"tooltip", true}}},
              {"encoding",
               {{"x", upright("stage", "pipeline stage")},
                {"y", axis("GiB", "quantitative", "GiB on the fullest GPU")},
                {"color", kind_colour()}}}};
  Json rule = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}, {"color", "#d33"}}},
               {"data", {{"values", {{{"GiB", times(capacity, 1 / kBytesPerGiB)}}}}}},
               {"encoding", {{"y", axis("GiB", "quantitative", "GiB on the fullest GPU")}}}};
  spec["layer"] = Json::array({bar, rule});
  return spec;
}

/// ETTR against something of the job.
/// @param of    the member of each point that it is, times `scale`
/// @param now   of the job as it is
Json ettr_chart(
    const Json& curve, const char* of, double scale, const std::string& quantity, const Json& now) {
  Json values = Json::array();
  for (const auto& point : curve) {
    values.push_back({{"x", times(point[of], scale)}, {"ETTR", times(point["ettr"], 100)}});
  }
  const Json x =
      axis("x", "quantitative", quantity, {{"scale", {{"type", "log"}, {"nice", false}}}});
  Json spec = base(values, "line");
  spec.erase("mark");
  spec["height"] = 220;
  const Json line = {
      {"mark", {{"type", "line"}, {"point", true}, {"tooltip", true}}},
      {"encoding",
       {{"x", x},
        {"y", axis("ETTR", "quantitative", "mean ETTR [%]", {{"scale", {{"zero", false}}}})}}}};
  Json as_it_is = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}, {"color", "#d33"}}},
                   {"data", {{"values", {{{"x", times(now, scale)}}}}}},
                   {"encoding", {{"x", x}}}};
  spec["layer"] = Json::array({line, as_it_is});
  return spec;
}

/// Bandwidth of the storage that the job has; null where it is not on the curve.
Json own_storage(const Json& curve) {
  for (const auto& point : curve) {
    if (number_at(point, {"factor"}) == 1.0) {
      return point["write_bandwidth_bytes_per_s"];
    }
  }
  return {};
}

/// How the step changes with each input: a tornado.
Json sensitivities_chart(const Json& sensitivities, double step) {
  Json values = Json::array();
  for (const auto& input : sensitivities) {
    for (const auto& [key, how] :
         {std::pair{"lower_step_s", "10 % less"}, std::pair{"higher_step_s", "10 % more"}}) {
      if (const auto changed = number_at(input, {key})) {
        values.push_back(
            {{"what", input["input"]}, {"how", how}, {"value", 100 * (*changed / step - 1)}});
      }
    }
  }
  Json spec = bars(values, "change of the step [%]");
  spec["encoding"]["color"] = axis("how", "nominal", "input");
  return spec;
}

/// The words of ml-goodput-measurement (AI-Hypercomputer, BadputType of its goodput_utils.py) for
/// an account of the job's own time; it has none for useful time.
std::string_view badput_of(campaign::Account account) {
  using campaign::Account;
  switch (account) {
    case Account::useful:
      return "";
    case Account::lost:
      return "wasted progress from disruption";
    case Account::checkpoint:
      return "unproductive checkpoint save time";
    case Account::load:
      return "unproductive checkpoint restore time";
    case Account::detect:
    case Account::diagnose:
    case Account::wait:
    case Account::cut_off:
    case Account::maintenance:
      return "infrastructure recovery from disruption";
    case Account::restart:
      return "program startup";
    case Account::input:
      return "data loading";
    case Account::protection:
    case Account::degraded:
    case Account::spare_idle:
      return "other";
  }
  return "";
}

/// From all GPU time paid for down to the goodput, the largest loss first.
Json badput_chart(const Json& ledger) {
  std::map<std::string_view, double> causes;
  double all = 0;
  for (const auto& [account, word] : enum_words(campaign::Account{})) {
    const double seconds = number_at(ledger, {std::string(word).c_str()}).value_or(0);
    all += seconds;
    causes[badput_of(account)] += seconds;
  }
  if (!(all > 0)) {
    return bars(Json::array(), "");
  }
  const double useful = causes.extract("").mapped();
  std::vector<std::pair<std::string_view, double>> losses(causes.begin(), causes.end());
  std::stable_sort(losses.begin(), losses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  Json values = Json::array();
  const auto add_row = [&](std::string_view what, double begin, double end) {
    values.push_back({{"what", what},
                      {"value", 100 * (end - begin) / all},
                      {"begin", 100 * begin / all},
                      {"end", 100 * end / all}});
  };
  double left = all;
  add_row("all GPU time", 0, all);
  for (const auto& [what, seconds] : losses) {
    if (seconds > 0) {
      add_row(what, left - seconds, left);
      left -= seconds;
    }
  }
  add_row("goodput", 0, useful);
  Json spec = spans(values, "% of the GPU time paid for");
  spec["encoding"]["x"]["scale"] = {{"domain", {0, 100}}};
  return spec;
}

/// How many trials had which goodput.
Json goodput_chart(const Json& histogram) {
  Json values = Json::array();
  const Json& counts = at(histogram, {"counts"});
  const double low = number_at(histogram, {"low"}).value_or(0);
  const double width = number_at(histogram, {"high"}).value_or(0) - low;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const auto end_of = [&](std::size_t bins) {
      return 100 * (low + width * static_cast<double>(bins) / static_cast<double>(counts.size()));
    };
    values.push_back({{"from", end_of(bin)}, {"to", end_of(bin + 1)}, {"trials", counts[bin]}});
  }
  Json spec = base(values, "bar");
  if (!(width > 0)) {  // all trials are alike: a bin without a width is not drawn
    values.clear();
  }
  spec["data"]["values"] = values;
  spec["height"] = 220;
  spec["encoding"] = {{"x", axis("from", "quantitative", "goodput [%]",
                                 {{"bin", {{"binned", true}}}, {"scale", {{"zero", false}}}})},
                      {"x2", {{"field", "to"}}},
                      {"y", axis("trials", "quantitative", "trials")}};
  return spec;
}

/// A page stays small: points of a line over the step.
constexpr std::size_t kMostPoints = 100;
/// Stages that are lines of their own in a chart over the step.
constexpr std::size_t kMostLines = 4;

/// From when on, how much.
using Course = std::vector<std::pair<double, double>>;

/// Of more than kMostPoints changes the means over so many equal windows.
Course averaged(const Course& course, double end) {
  if (course.size() <= kMostPoints) {
    return course;
  }
  Course kept;
  double now = 0;
  std::size_t next = 0;
  for (std::size_t w = 0; w < kMostPoints; ++w) {
    const double begin = end * static_cast<double>(w) / kMostPoints;
    const double until = end * static_cast<double>(w + 1) / kMostPoints;
    double at = begin, sum = 0;
    for (; next < course.size() && course[next].first < until; ++next) {
      sum += now * (course[next].first - at);
      at = course[next].first;
      now = course[next].second;
    }
    kept.emplace_back(begin, (sum + now * (until - at)) / (until - begin));
  }
  return kept;
}

/// Lines that go up and down by steps, of rows {seconds, `what`, `of`}.
Json course_chart(const Json& values,
                  const char* what,
                  const std::string& quantity,
                  const char* of,
                  const std::string& lines) {
  Json spec = base(values, "line");
  spec["mark"]["interpolate"] = "step-after";
  spec["height"] = 220;
  spec["encoding"] = {{"x", axis("seconds", "quantitative", "seconds from the start of the step")},
                      {"y", axis(what, "quantitative", quantity)},
                      {"color", axis(of, "nominal", lines, {{"sort", nullptr}})}};
  return spec;
}

/// As many digits as a chart shows: a page stays small.
double brief(double value, double digits) { return std::round(value * digits) / digits; }

constexpr double kMillionths = 1e6, kHundredths = 100;

/// Some stages from the first to the last.
std::vector<std::size_t> some_of(std::size_t stages) {
  const std::size_t lines = std::min(stages, kMostLines);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < lines; ++i) {
    shown.push_back(lines == 1 ? 0 : i * (stages - 1) / (lines - 1));
  }
  return shown;
}

/// Sum of all kinds of a course at one of its moments [GiB].
double held_at(const Json& course, std::size_t moment) {
  double sum = 0;
  for (const char* kind : kHeldKinds) {
    sum += course[fmt::format("{}_bytes", kind)][moment].get<double>();
  }
  return sum / kBytesPerGiB;
}

/// Moments that all lists of a course have: a result may have been edited.
std::size_t moments_of(const Json& course) {
  std::size_t moments = course["from_us"].size();
  for (const char* kind : kHeldKinds) {
    moments = std::min(moments, course[fmt::format("{}_bytes", kind)].size());
  }
  return moments;
}

/// When the last span of a stage ends [s].
double end_of(const Json& stage) {
  const std::size_t spans = common_length(stage, {"begin_us", "length_us"});
  return spans == 0 ? 0
                    : (stage["begin_us"][spans - 1].get<double>() +
                       stage["length_us"][spans - 1].get<double>()) /
                          1e6;
}

/// What the GPUs of some stages hold while the step goes on.
Json held_chart(const Json& timeline) {
  const Json& stages = at(timeline, {"stages"});
  Json values = Json::array();
  for (const std::size_t s : some_of(stages.size())) {
    const Json& from = stages[s]["held"]["from_us"];
    const auto add_point = [&](double seconds, std::size_t moment) {
      values.push_back({{"seconds", brief(seconds, kMillionths)},
                        {"GiB", brief(held_at(stages[s]["held"], moment), kHundredths)},
                        {"stage", stages[s]["stage"]}});
    };
    const std::size_t moments = moments_of(stages[s]["held"]);
    for (std::size_t i = 0; i < moments; ++i) {
      add_point(from[i].get<double>() / 1e6, i);
    }
    if (moments > 0) {
      add_point(end_of(stages[s]), moments - 1);
    }
  }
  return course_chart(values, "GiB", "GiB on the fullest GPU", "stage", "pipeline stage");
}

/// The fullest of the stages that are drawn, then the first and the last.
std::vector<std::size_t> stages_by_kind(const Json& stages) {
  std::set<std::size_t> ends;
  if (!stages.empty()) {
    ends = {0, stages.size() - 1};
  }
  std::size_t fullest = 0;
  double most = -1;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (std::size_t i = 0; i < moments_of(stages[s]["held"]); ++i) {
      if (const double held = held_at(stages[s]["held"], i); held > most) {
        most = held;
        fullest = s;
      }
    }
  }
  ends.erase(fullest);
  std::vector<std::size_t> shown(ends.begin(), ends.end());
  if (!stages.empty()) {
    shown.insert(shown.begin(), fullest);
  }
  return shown;
}

/// What the GPU of a stage holds while the step goes on, by kind: the fullest stage, or one that is
/// chosen below the chart.
Json kinds_chart(const Json& timeline) {
  const Json& stages = at(timeline, {"stages"});
  Json values = Json::array();
  Json numbers = Json::array();
  for (const std::size_t s : stages_by_kind(stages)) {
    const Json& held = stages[s]["held"];
    const Json& from = held["from_us"];
    numbers.push_back(stages[s]["stage"]);
    const std::size_t moments = moments_of(held);
    for (std::size_t i = 0; i <= moments && moments > 0; ++i) {
      const bool last = i == moments;
      Json row = {
          {"stage", stages[s]["stage"]},
          {"seconds", brief(last ? end_of(stages[s]) : from[i].get<double>() / 1e6, kMillionths)}};
      for (const char* kind : kHeldKinds) {
        const double bytes = held[fmt::format("{}_bytes", kind)][last ? i - 1 : i].get<double>();
        row[kind] = brief(bytes / kBytesPerGiB, kHundredths);
      }
      values.push_back(std::move(row));
    }
  }
  Json spec = base(values, "area");
  spec["mark"]["interpolate"] = "step-after";
  spec["height"] = 260;
  if (numbers.size() > 1) {
    spec["params"] = Json::array(
        {{{"name", "shown"},
          {"value", numbers.front()},
          {"bind", {{"input", "select"}, {"options", numbers}, {"name", "pipeline stage "}}}}});
    spec["transform"].push_back({{"filter", "datum.stage == shown"}});
  }
  spec["transform"].push_back({{"fold", kHeldKinds}, {"as", {"kind", "GiB"}}});
  spec["transform"].push_back(
      {{"calculate", "indexof(" + Json(kHeldKinds).dump() + ", datum.kind)"}, {"as", "place"}});
  spec["encoding"] = {
      {"x", axis("seconds", "quantitative", "seconds from the start of the step")},
      {"y", axis("GiB", "quantitative", "GiB on the fullest GPU", {{"stack", "zero"}})},
      {"color", kind_colour()},
      {"order", {{"field", "place"}, {"type", "quantitative"}}}};
  return spec;
}

/// What the busiest link of each tier carries while the step goes on.
Json loads_chart(const Json& loads, double step) {
  Json values = Json::array();
  for (const Json& link : loads) {
    const double capacity = number_at(link, {"capacity_bytes_per_s"}).value_or(1);
    Course course;
    for (std::size_t i = 0; i < common_length(link, {"from_ns", "load_bytes_per_s"}); ++i) {
      course.emplace_back(link["from_ns"][i].get<double>() / 1e9,
                          100 * link["load_bytes_per_s"][i].get<double>() / capacity);
    }
    for (const auto& [seconds, load] : averaged(course, step)) {
      values.push_back({{"seconds", brief(seconds, kMillionths)},
                        {"load", brief(load, kHundredths)},
                        {"tier", link["tier"]}});
    }
  }
  return course_chart(values, "load", "% of what it can carry", "tier", "busiest link of");
}

/// What the cables between leaves and spines carry.
Json cables_chart(const Json& map) {
  Json values = Json::array();
  const auto range = [](std::int64_t first, std::int64_t last) {
    return range_text(std::to_string(first), std::to_string(last));
  };
  const auto whole = [](const Json& number) { return number.get<std::int64_t>(); };
  for (const Json& leaf : at(map, {"leaves"})) {
    const std::string row = range(whole(leaf["first"]), whole(leaf["last"]));
    std::int64_t first = 0;
    for (const Json& use : leaf["use"]) {
      const std::int64_t last =
          std::min(first + whole(map["spines_a_column"]), whole(map["spines"])) - 1;
      values.push_back({{"leaf", row},
                        {"spine", map["pooled"] == true ? "all" : range(first, last)},
                        {"use", times(use, 100)}});
      first = last + 1;
    }
  }
  Json spec = base(values, "rect");
  spec["height"] = height_of_rows(values, "leaf", 12);
  spec["encoding"] = {{"x", upright("spine", "spine", {{"sort", nullptr}})},
                      {"y", axis("leaf", "ordinal", "leaf", {{"sort", nullptr}})},
                      {"color", axis("use", "quantitative", "% of the step",
                                     {{"scale", {{"scheme", "viridis"}, {"domainMin", 0}}}})}};
  return spec;
}

void add_step(const Json& result, std::vector<Chart>& charts) {
  add(charts, "breakdown", "Where the step goes",
      waterfall(step_in_words(at(result, {"step", "breakdown_s"})), 1, "seconds, mean of ranks"));
  const Json& capacity = at(result, {"memory", "capacity_bytes"});
  if (const Json& stages = at(result, {"pictures", "stage_memory_bytes"}); !stages.is_null()) {
    add(charts, "memory", "Memory of every stage; the dashed line is the GPU's",
        memory_chart(stages, capacity));
  } else {
    add(charts, "memory", "Memory of the fullest GPU",
        waterfall(at(result, {"memory", "by_kind_bytes"}), 1 / kBytesPerGiB, "GiB"));
  }
  const double step = number_at(result, {"step", "time_s"}).value_or(0);
  add(charts, "held", "Memory over the step; of close moments the fullest",
      held_chart(at(result, {"pictures", "timeline"})));
  add(charts, "kinds", "Memory over the step by kind; of close moments the fullest",
      kinds_chart(at(result, {"pictures", "timeline"})));
  Json links = Json::array();
  for (const auto& link : at(result, {"step", "links"})) {
    links.push_back({{"what", link["tier"]}, {"value", times(link["busiest"], 100)}});
  }
  add(charts, "links", "Use of the busiest link of each tier", bars(links, "% of the step"));
  add(charts, "cables", "Use of the busiest cable between leaves and spines",
      cables_chart(at(result, {"pictures", "cables"})));
  add(charts, "loads",
      "Load of the busiest link of each tier over the step; of close moments the mean",
      loads_chart(at(result, {"pictures", "loads"}), step));
  add(charts, "sensitivities", "How the step answers to 10 % of each input",
      sensitivities_chart(at(result, {"explanation", "sensitivities"}), step));
}

void add_campaign(const Json& result, std::vector<Chart>& charts) {
  add(charts, "ledger", "Where the GPU time of the run goes",
      waterfall(run_in_words(at(result, {"campaign", "ledger_gpu_s"})), 1.0 / 3600, "GPU-hours"));
  add(charts, "badput", "From all GPU time to goodput, in the words of ml-goodput-measurement",
      badput_chart(at(result, {"campaign", "ledger_gpu_s"})));
  add(charts, "goodput", "Goodput of the trials",
      goodput_chart(at(result, {"pictures", "campaign", "goodput"})));
  Json causes = Json::array();
  for (const auto& hazard : at(result, {"campaign", "interruptions_by_hazard"})) {
    if (number_at(hazard, {"mean"}).value_or(0) > 0) {
      causes.push_back({{"what", hazard["hazard"]}, {"value", hazard["mean"]}});
    }
  }
  add(charts, "interruptions", "Interruptions by cause", bars(causes, "interruptions, mean"));
  Json items = Json::object();
  for (const study::BillPart& part : study::kBillParts) {
    const std::string item(part.path.substr(part.path.rfind('.') + 1));
    items[std::string(part.words)] = at(result, {"cost", item.c_str()});
  }
  add(charts, "cost", "Cost of the mean run by item", waterfall(items, 1, "USD"));
  add(charts, "interval", "ETTR against the time between checkpoints; the dashed line is the job's",
      ettr_chart(at(result, {"campaign", "advice", "interval_curve"}), "interval_s", 1,
                 "work between checkpoints [s]",
                 at(result, {"campaign", "checkpoint_interval_s"})));
  add(charts, "storage", "ETTR against the bandwidth of the storage; the dashed line is the job's",
      ettr_chart(at(result, {"pictures", "campaign", "storage_curve"}),
                 "write_bandwidth_bytes_per_s", 1e-9, "storage, writing and reading [GB/s]",
                 own_storage(at(result, {"pictures", "campaign", "storage_curve"}))));
}

}  // namespace

void add_run(const Json& result, std::vector<Chart>& charts) {
  add_step(result, charts);
  add_campaign(result, charts);
  Json errors = Json::array();
  for (const auto& row : at(result, {"published"})) {
    errors.push_back({{"what", row["quantity"]}, {"value", times(row["error"], 100)}});
  }
  add(charts, "published", "Published figures and ours",
      bars(errors, "predicted / published - 1 [%]"));
}

}  // namespace headway::report

// The charts of `headway run`.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

#include "sim/campaign/result.h"
#include "sim/core/units.h"
#include "sim/report/page/chart_parts.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr double kBytesPerGiB = (1_GiB).si();

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
               {{"x", axis("stage", "ordinal", "pipeline stage")},
                {"y", axis("GiB", "quantitative", "GiB on the fullest GPU")},
                {"color", axis("kind", "nominal", "", {{"sort", nullptr}})}}}};
  Json rule = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}, {"color", "#d33"}}},
               {"data", {{"values", {{{"GiB", times(capacity, 1 / kBytesPerGiB)}}}}}},
               {"encoding", {{"y", axis("GiB", "quantitative", "GiB on the fullest GPU")}}}};
  spec["layer"] = Json::array({bar, rule});
  return spec;
}

/// @param now  the interval of the job as it is
Json interval_chart(const Json& curve, const Json& now) {
  Json values = Json::array();
  for (const auto& point : curve) {
    values.push_back({{"interval", point["interval_s"]}, {"ETTR", times(point["ettr"], 100)}});
  }
  const Json x = axis("interval", "quantitative", "work between checkpoints [s]",
                      {{"scale", {{"type", "log"}}}});
  Json spec = base(values, "line");
  spec.erase("mark");
  spec["height"] = 220;
  const Json line = {
      {"mark", {{"type", "line"}, {"point", true}, {"tooltip", true}}},
      {"encoding",
       {{"x", x},
        {"y", axis("ETTR", "quantitative", "ETTR [%]", {{"scale", {{"zero", false}}}})}}}};
  Json as_it_is = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}, {"color", "#d33"}}},
                   {"data", {{"values", {{{"interval", now}}}}}},
                   {"encoding", {{"x", x}}}};
  spec["layer"] = Json::array({line, as_it_is});
  return spec;
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
    case Account::maintenance:
      return "infrastructure recovery from disruption";
    case Account::restart:
      return "program startup";
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

/// What the cables between leaves and spines carry.
Json cables_chart(const Json& map) {
  Json values = Json::array();
  const auto range = [](std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
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
  spec["encoding"] = {{"x", axis("spine", "ordinal", "spine", {{"sort", nullptr}})},
                      {"y", axis("leaf", "ordinal", "leaf", {{"sort", nullptr}})},
                      {"color", axis("use", "quantitative", "% of the step",
                                     {{"scale", {{"scheme", "viridis"}, {"domainMin", 0}}}})}};
  return spec;
}

void add_step(const Json& result, std::vector<Chart>& charts) {
  add(charts, "breakdown", "Where the step goes",
      waterfall(at(result, {"step", "breakdown_s"}), 1, "seconds, mean of ranks"));
  const Json& capacity = at(result, {"memory", "capacity_bytes"});
  if (const Json& stages = at(result, {"pictures", "stage_memory_bytes"}); !stages.is_null()) {
    add(charts, "memory", "Memory of every stage; the dashed line is the GPU's",
        memory_chart(stages, capacity));
  } else {
    add(charts, "memory", "Memory of the fullest GPU",
        waterfall(at(result, {"memory", "by_kind_bytes"}), 1 / kBytesPerGiB, "GiB"));
  }
  Json links = Json::array();
  for (const auto& link : at(result, {"step", "links"})) {
    links.push_back({{"what", link["tier"]}, {"value", times(link["busiest"], 100)}});
  }
  add(charts, "links", "Use of the busiest link of each tier", bars(links, "% of the step"));
  add(charts, "cables", "Use of the busiest cable between leaves and spines",
      cables_chart(at(result, {"pictures", "cables"})));
  add(charts, "sensitivities", "How the step answers to 10 % of each input",
      sensitivities_chart(at(result, {"explanation", "sensitivities"}),
                          number_at(result, {"step", "time_s"}).value_or(0)));
}

void add_campaign(const Json& result, std::vector<Chart>& charts) {
  add(charts, "ledger", "Where the GPU time of the run goes",
      waterfall(at(result, {"campaign", "ledger_gpu_s"}), 1.0 / 3600, "GPU-hours"));
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
  for (const char* item : {"gpus_usd", "spares_usd", "storage_usd", "electricity_usd"}) {
    items[item] = at(result, {"cost", item});
  }
  add(charts, "cost", "Cost of the mean run by item", waterfall(items, 1, "USD"));
  add(charts, "interval", "ETTR against the time between checkpoints; the dashed line is the job's",
      interval_chart(at(result, {"campaign", "advice", "interval_curve"}),
                     at(result, {"campaign", "checkpoint_interval_s"})));
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

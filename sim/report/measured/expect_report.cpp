#include "sim/report/measured/expect_report.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "sim/report/result_json.h"
#include "sim/study/nccl_tests_names.h"

namespace headway::report {

using study::Measure;
using study::Scope;
using study::Threshold;

namespace {

/// A unit that people read, and its size.
struct ThresholdUnit {
  const char* name;
  double size;
};

ThresholdUnit threshold_unit(Measure measure) {
  switch (measure) {
    case Measure::bus_bandwidth:
      return {"GB/s", 1e9};
    case Measure::gemm_rate:
      return {"TFLOP/s", 1e12};
    case Measure::tokens_per_s_per_gpu:
      return {"tokens/s", 1};
    case Measure::step_time:
    case Measure::save_stall:
    case Measure::save_time:
    case Measure::restart_time:
      return {"s", 1};
  }
  return {"", 1};
}

std::string in_threshold_unit(const Threshold& threshold, double value) {
  return number(value / threshold_unit(threshold.measure).size);
}

/// "all_reduce at 1 GiB", "gemm_rate large: 8192 x 8192 x 8192 bf16", "step_time".
std::string what_is_measured(const Threshold& threshold) {
  if (threshold.collective) {
    return fmt::format("{} at {}", core::to_word(*threshold.collective),
                       study::size_words(static_cast<std::uint64_t>(threshold.size->si())));
  }
  const std::string word(core::to_word(threshold.measure));
  return threshold.shape.empty() ? word : word + " " + threshold.shape;
}

std::string where_measured(const Threshold& threshold) {
  return fmt::format("{} ({} GPU{})", core::to_word(threshold.scope),
                     count(static_cast<double>(threshold.gpus)), threshold.gpus == 1 ? "" : "s");
}

Table threshold_table(const study::ExpectReport& report) {
  Table table{"What a sound cluster reaches",
              {{"figure", false},
               {"of", false},
               {"expected"},
               {"90 % interval", true},
               {"limit"},
               {"unit", false}},
              {}};
  for (const Threshold& threshold : report.thresholds) {
    table.rows.push_back(
        {what_is_measured(threshold), where_measured(threshold),
         in_threshold_unit(threshold, threshold.expected),
         fmt::format("{} to {}", in_threshold_unit(threshold, threshold.interval[0]),
                     in_threshold_unit(threshold, threshold.interval[1])),
         fmt::format("{} {}", study::more_is_better(threshold.measure) ? ">=" : "<=",
                     in_threshold_unit(threshold, threshold.limit())),
         threshold_unit(threshold.measure).name});
  }
  return table;
}

Table verdict_table(const study::ExpectReport& report) {
  Table table{"Measured",
              {{"figure", false},
               {"of", false},
               {"nodes", false},
               {"measured"},
               {"limit"},
               {"unit", false},
               {"", false},
               {"file", false}},
              {}};
  for (const auto& verdict : report.verdicts) {
    const Threshold& threshold = verdict.threshold;
    const auto& nodes = verdict.nodes;
    const std::string named = nodes.empty()       ? "-"
                              : nodes.size() <= 2 ? fmt::format("{}", fmt::join(nodes, " "))
                                                  : fmt::format("{} ... {} ({})", nodes.front(),
                                                                nodes.back(), nodes.size());
    table.rows.push_back(
        {what_is_measured(threshold), where_measured(threshold), named,
         in_threshold_unit(threshold, verdict.measured),
         fmt::format("{} {}", study::more_is_better(threshold.measure) ? ">=" : "<=",
                     in_threshold_unit(threshold, threshold.limit())),
         threshold_unit(threshold.measure).name,
         verdict.passed()              ? "pass"
         : !verdict.wrong_data.empty() ? "WRONG DATA"
         : !verdict.unfinished.empty() ? "DID NOT END"
                                       : "FAIL",
         verdict.source});
  }
  return table;
}

Table node_table(const study::ExpectReport& report) {
  Table table{"Nodes", {{"node", false}, {"tests"}, {"failed"}, {"state", false}}, {}};
  for (const auto& node : report.nodes) {
    table.rows.push_back({node.node, std::to_string(node.tests), std::to_string(node.failed),
                          std::string(core::to_word(node.state))});
  }
  return table;
}

/// Bus bandwidths of the widest scope: the group that was asked for, else the whole job.
std::vector<const Threshold*> widest_bandwidths(const study::ExpectReport& report) {
  const auto has = [&](Scope scope) {
    return std::any_of(report.thresholds.begin(), report.thresholds.end(),
                       [&](const Threshold& t) { return t.collective && t.scope == scope; });
  };
  const Scope scope = has(Scope::group) ? Scope::group : has(Scope::job) ? Scope::job : Scope::node;
  std::vector<const Threshold*> out;
  for (const Threshold& threshold : report.thresholds) {
    if (threshold.collective && threshold.scope == scope) {
      out.push_back(&threshold);
    }
  }
  return out;
}

/// "name-with-dashes", as Kubernetes wants names.
std::string object_name(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool fits = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (fits || (!out.empty() && out.back() != '-')) {
      out += fits ? lower : '-';
    }
  }
  out = out.substr(0, 63);
  while (!out.empty() && out.back() == '-') {
    out.pop_back();
  }
  return out.empty() ? "headway" : out;
}

/// What the engine calls its test; empty where it has none.
std::string nvcre_variant(core::CollectiveKind kind) {
  switch (kind) {
    case core::CollectiveKind::all_reduce:
      return "nccl-all-reduce";
    case core::CollectiveKind::all_gather:
      return "nccl-all-gather";
    case core::CollectiveKind::all_to_all:
      return "nccl-alltoall";
    case core::CollectiveKind::reduce_scatter:
    case core::CollectiveKind::broadcast:
    case core::CollectiveKind::send_receive:
      return "";
  }
  return "";
}

const Threshold* first_of(const study::ExpectReport& report, Measure measure) {
  const auto found = std::find_if(report.thresholds.begin(), report.thresholds.end(),
                                  [&](const Threshold& t) { return t.measure == measure; });
  return found == report.thresholds.end() ? nullptr : &*found;
}

}  // namespace

Document expect_document(const study::ExpectReport& report) {
  Document document;
  document.title = "What to expect of " + report.scenario.name;
  document.tables = {threshold_table(report)};
  if (!report.verdicts.empty()) {
    document.tables.push_back(verdict_table(report));
  }
  if (!report.nodes.empty()) {
    document.tables.push_back(node_table(report));
  }
  for (const auto& assumption : report.assumptions) {
    document.closing.push_back("Assumed: " + assumption + ".");
  }
  document.closing.push_back(study::expect_sentence(report));
  return document;
}

std::string expect_csv(const study::ExpectReport& report) {
  Table table{"",
              {{"measure"},
               {"scope"},
               {"collective"},
               {"shape"},
               {"gpus"},
               {"nodes"},
               {"size_bytes"},
               {"unit"},
               {"expected"},
               {"low"},
               {"high"},
               {"limit"},
               {"at_least"},
               {"source"},
               {"measured"},
               {"passed"}},
              {}};
  const auto add = [&](const Threshold& t, const std::string& source, const std::string& measured,
                       const std::string& passed) {
    table.rows.push_back(
        {std::string(core::to_word(t.measure)), std::string(core::to_word(t.scope)),
         t.collective ? std::string(core::to_word(*t.collective)) : "", t.shape,
         std::to_string(t.gpus), std::to_string(t.nodes),
         t.size ? fmt::format("{:.0f}", t.size->si()) : "", std::string(study::unit_of(t.measure)),
         fmt::format("{:.6g}", t.expected), fmt::format("{:.6g}", t.interval[0]),
         fmt::format("{:.6g}", t.interval[1]), fmt::format("{:.6g}", t.limit()),
         study::more_is_better(t.measure) ? "true" : "false", source, measured, passed});
  };
  for (const Threshold& threshold : report.thresholds) {
    add(threshold, "", "", "");
  }
  for (const auto& verdict : report.verdicts) {
    add(verdict.threshold, verdict.source, fmt::format("{:.6g}", verdict.measured),
        verdict.passed() ? "true" : "false");
  }
  return to_csv(table);
}

std::string expect_json(const study::ExpectReport& report) {
  return dump(result_object("headway.expect/1", core::figures_of(report)));
}

std::string expect_nvcre(const study::ExpectReport& report) {
  Json categories = Json::array();
  for (const Threshold* threshold : widest_bandwidths(report)) {
    const std::string variant = nvcre_variant(*threshold->collective);
    if (variant.empty()) {
      continue;
    }
    const std::string expression = fmt::format("value >= {:.1f}", threshold->limit() / 1e9);
    const Json options{{"thresholds", {{"busBandwidthGBps", expression}}}};
    const Json category{{"domain", "communication"}, {"variant", variant}, {"options", options}};
    // Sizes rise, so the largest message of a collective comes last.
    if (!categories.empty() && categories.back()["variant"] == variant) {
      categories.back() = category;
    } else {
      categories.push_back(category);
    }
  }
  return dump(Json{{"apiVersion", "nvcre.nvidia.com/v1alpha1"},
                   {"kind", "Certification"},
                   {"metadata", {{"name", object_name(report.scenario.name)}}},
                   {"spec", {{"categories", categories}}}});
}

std::string expect_cvs(const study::ExpectReport& report) {
  std::string precision = report.precision;
  std::transform(precision.begin(), precision.end(), precision.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  Json cell;
  if (const Threshold* time = first_of(report, Measure::step_time)) {
    cell["training.elapsed_time_per_iteration"] = {{"kind", "max"}, {"value", time->limit() * 1e3}};
  }
  if (const Threshold* rate = first_of(report, Measure::tokens_per_s_per_gpu)) {
    cell["training.tokens_per_gpu"] = {{"kind", "min"}, {"value", rate->limit()}};
  }
  const std::string key =
      fmt::format("MBS={},GBS={},PRECISION={}", report.micro_batch, report.global_batch, precision);
  return dump(
      Json{{"_comment", "Ends of 90 % intervals that headway predicts for " + report.scenario.name},
           {key, cell}});
}

std::string expect_cvs_rccl(const study::ExpectReport& report) {
  Json results = Json::object();
  for (const Threshold* threshold : widest_bandwidths(report)) {
    const std::string program =
        fmt::format("{}_perf", study::nccl_tests_name(*threshold->collective));
    const std::string size = fmt::format("{:.0f}", threshold->size->si());
    results[program]["bus_bw"][size] = fmt::format("{:.2f}", threshold->limit() / 1e9);
  }
  return dump(Json{{"rccl", {{"results", results}}}});
}

}  // namespace headway::report

// headway plan: which parallel layout is fastest on this cluster.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/reflect.h"
#include "sim/config/unit_text.h"
#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/core/parse_word.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/predict.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

/// A positive quantity from its text.
template <class Quantity>
Quantity limit_value(const std::string& key, const std::string& text) {
  std::string why;
  const auto si = config::parse_quantity(text, config::reflect::dimension_of(Quantity{}), why);
  if (!si || *si <= 0) {
    throw core::Error(
        fmt::format("--limit {}: {}", key, si ? "'" + text + "' must be positive" : why));
  }
  return Quantity(*si);
}

/// @param limit  must not be set yet
template <class T>
void set_once(const std::string& key, T value, std::optional<T>& limit) {
  if (limit) {
    throw core::Error(fmt::format("--limit {}=... is given twice; keep one", key));
  }
  limit = value;
}

/// Sets one limit from "deadline=34 d", "budget=5e6 USD" or "gpus=1024".
void set_limit(const std::string& text, plan::Limits& limits) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  std::string why;
  const auto gpus = config::parse_number(value, why);
  if (key == "deadline") {
    set_once(key, limit_value<core::Seconds>(key, value), limits.deadline);
  } else if (key == "budget") {
    set_once(key, limit_value<core::Dollars>(key, value), limits.budget);
  } else if (key == "gpus" && gpus && gpus->rest.empty() && gpus->value >= 1) {
    const auto count = core::narrow<std::int64_t>(gpus->value);
    if (!count) {
      throw core::Error(
          fmt::format("--limit gpus: '{}' is more than 9.2e18; write the GPUs there "
                      "may be, or leave the limit out",
                      value));
    }
    set_once(key, *count, limits.gpus);
  } else {
    throw core::Error(
        fmt::format("--limit '{}': write 'deadline=34 d', 'budget=5e6 USD' or 'gpus=1024'", text));
  }
}

void check_sizes(std::vector<int> nodes) {
  std::sort(nodes.begin(), nodes.end());
  if (const auto twice = std::adjacent_find(nodes.begin(), nodes.end()); twice != nodes.end()) {
    throw core::Error(
        fmt::format("--nodes names {} more than once; each size is planned once", *twice));
  }
}

}  // namespace

int run_plan(int argc, char** argv) {
  CLI::App app(
      "Tries the tensor, pipeline, data and micro-batch layouts of a scenario and ranks them by "
      "step, days, dollars or goodput.");
  CommonOptions options;
  std::string scenario;
  plan::PlanOptions how;
  describe(app, "plan",
           "  headway plan configs/scenarios/gpt-3-175b-1024-a100.yaml\n"
           "  headway plan s.yaml --nodes 32,64,128 --objective dollars --limit 'deadline=60 d'");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML)")->required()->option_text(" ");
  app.add_option("--top", how.keep, "Plans printed")
      ->check(number_between(1, 1000))
      ->option_text("N [10]");
  app.add_option_function<std::string>(
         "--objective",
         [&how](const std::string& word) {
           how.objective = core::parse_word<plan::Objective>(word, "goal", "--objective");
         },
         "What makes a plan better: step, days, dollars or goodput")
      ->check(CLI::IsMember({"step", "days", "dollars", "goodput"}))
      ->option_text("GOAL [step]");
  app.add_option("--nodes", how.nodes, "Cluster sizes to look at, instead of cluster.nodes")
      ->delimiter(',')
      ->check(at_least_one())
      ->option_text("N,N");
  app.add_option_function<std::vector<std::string>>(
         "--limit",
         [&how](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             set_limit(text, how.limits);
           }
         },
         "deadline=34 d, budget=5e6 USD or gpus=1024; may repeat")
      ->option_text("KEY=VALUE");
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_report_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options, {options.report});
  check_sizes(how.nodes);
  const auto result = [&] {
    Progress progress(options);
    progress.phase("reading " + scenario);
    const auto start = std::chrono::steady_clock::now();
    const auto loaded = config::load_scenario(scenario, load_options(options));
    const core::Seconds load(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
    progress.phase("simulating layouts");
    return study::search_plans(loaded, how, load);
  }();
  deliver(options, with_report(options,
                               printed(result, options, report::plan_json, report::plan_csv,
                                       report::plan_document),
                               report::plan_json(result)));
  return study::exit_code(result.status());
}

}  // namespace headway::apps

// headway plan: which parallel layout is best on this cluster.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
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

/// A share above 0 and below 1.
double limit_share(const std::string& key, const std::string& text) {
  std::string why;
  const auto number = config::parse_number(text, why);
  if (!number || !number->rest.empty() || number->value <= 0 || number->value >= 1) {
    throw core::Error(
        fmt::format("--limit {}: '{}' must be a share above 0 and below 1, as 0.1", key, text));
  }
  return number->value;
}

/// Sets one limit from "deadline=34 d", "budget=5e6 USD", "gpus=1024" and so on.
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
  } else if (key == "power") {
    set_once(key, limit_value<core::Watts>(key, value), limits.power);
  } else if (key == "headroom") {
    set_once(key, limit_share(key, value), limits.headroom);
  } else if (key == "goodput") {
    set_once(key, limit_share(key, value), limits.goodput);
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
        fmt::format("--limit '{}': write 'deadline=34 d', 'budget=5e6 USD', 'gpus=1024', 'power=20 "
                    "MW', 'headroom=0.1' or 'goodput=0.9'",
                    text));
  }
}

/// The first is what plans are ordered by.
void set_goals(const std::vector<std::string>& words, plan::PlanOptions& how) {
  std::vector<plan::Objective> goals;
  for (const std::string& word : words) {
    goals.push_back(core::parse_word<plan::Objective>(word, "goal", "--objective"));
  }
  how.objective = goals.front();
  how.beside.assign(goals.begin() + 1, goals.end());
}

void check_sizes(std::vector<int> nodes) {
  std::sort(nodes.begin(), nodes.end());
  if (const auto twice = std::adjacent_find(nodes.begin(), nodes.end()); twice != nodes.end()) {
    throw core::Error(
        fmt::format("--nodes names {} more than once; each size is planned once", *twice));
  }
}

/// @returns its name
std::string make_folder(const std::string& name) {
  std::error_code why;
  std::filesystem::create_directories(name, why);
  if (why) {
    throw core::Error(fmt::format("--save {}: {}", name, why.message()));
  }
  return name;
}

/// What options of the search say in words.
struct SearchWords {
  std::string vary, hold, save;
};

void add_search_options(CLI::App& app, plan::PlanOptions& how, SearchWords& words) {
  app.add_option("--vary", words.vary, "Fields of parallelism to vary, all others being held")
      ->option_text("FIELD,FIELD");
  app.add_option("--hold", words.hold, "Fields of parallelism to hold as the scenario has them")
      ->option_text("FIELD,FIELD");
  app.add_flag("--all", how.variants, "List variants of a plan's degrees too, not only the best");
  app.add_option("--simulate", how.simulate, "Layouts simulated at most, of each cluster")
      ->check(number_between(1, 1e6))
      ->option_text("N [50]");
  app.add_option("--verify", how.verify,
                 "Draw so many of the layouts left out, simulate them, tell which are better")
      ->check(number_between(0, 1e6))
      ->option_text("N [0]");
  app.add_option("--save", words.save, "Folder for the plans as scenarios: plan-1.yaml is the best")
      ->check(file_name())
      ->option_text("DIR");
}

/// As --set of `search`.
void set_searched(const SearchWords& words, std::vector<std::string>& set) {
  for (const auto& [key, list] : {std::pair("vary", &words.vary), std::pair("hold", &words.hold)}) {
    if (!list->empty()) {
      set.push_back(fmt::format("search.{}=[{}]", key, *list));
    }
  }
}

/// What a plan is judged by, and must keep to.
void add_goal_options(CLI::App& app, plan::PlanOptions& how) {
  app.add_option_function<std::vector<std::string>>(
         "--objective", [&how](const std::vector<std::string>& words) { set_goals(words, how); },
         "What makes a plan better: step, days, dollars, goodput, energy, co2, tokens-per-joule, "
         "tokens-per-dollar; of several, the first and the Pareto front of all")
      ->delimiter(',')
      ->option_text("GOAL,GOAL [step]");
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
         "deadline=34 d, budget=5e6 USD, gpus=1024, power=20 MW, headroom=0.1, goodput=0.9")
      ->option_text("KEY=VALUE");
}

}  // namespace

int run_plan(int argc, char** argv) {
  CLI::App app(
      "Searches the parallel layouts of a scenario: degrees, schedule, sharding, recompute, "
      "offload and placement. Ranks them by --objective. The scenario's 'search' says what is "
      "varied.");
  CommonOptions options;
  std::string scenario;
  plan::PlanOptions how;
  describe(app, "plan",
           "  headway plan s.yaml --hold schedule,offload --verify 100 --save plans\n"
           "  headway plan s.yaml --nodes 32,64,128 --objective dollars --limit 'deadline=60 d'");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML)")->required()->option_text(" ");
  app.add_option("--top", how.keep, "Plans printed")
      ->check(number_between(1, 1000))
      ->option_text("N [10]");
  add_goal_options(app, how);
  SearchWords words;
  add_search_options(app, how, words);
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_report_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options,
            {options.report, words.save.empty() ? "" : make_folder(words.save) + "/plan-1.yaml"});
  check_sizes(how.nodes);
  set_searched(words, options.set);
  const auto result = [&] {
    Progress progress(options);
    progress.phase("reading " + scenario);
    const auto start = std::chrono::steady_clock::now();
    const auto loaded = config::load_scenario(scenario, load_options(options));
    const core::Seconds load(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    how.threads = options.threads;
    how.fold = options.fold;
    std::atomic<const char*> phase = nullptr;
    how.progress = [&](const char* what, std::size_t done, std::size_t total) {
      if (phase.exchange(what) != what) {
        progress.phase(what);
      }
      progress.count(done, total);
    };
    return study::search_plans(loaded, how, load);
  }();
  auto files = with_report(
      options, printed(result, options, report::plan_json, report::plan_csv, report::plan_document),
      [&] { return report::plan_json(result); });
  if (!words.save.empty()) {
    for (std::size_t i = 0; i < result.result.plans.size(); ++i) {
      files.push_back(
          {fmt::format("{}/plan-{}.yaml", words.save, i + 1), study::plan_file(result, i)});
    }
  }
  deliver(options, files);
  return study::exit_code(result.status());
}

}  // namespace headway::apps

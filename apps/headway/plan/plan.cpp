// headway plan: which parallel layout is best on this cluster.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/writer.h"
#include "sim/core/error.h"
#include "sim/plan/sweep_points.h"
#include "sim/report/screen/plan_screen.h"
#include "sim/report/verbs/placement_report.h"
#include "sim/report/verbs/plan_report.h"
#include "sim/study/placement/placement.h"
#include "sim/study/points/goal_text.h"
#include "sim/study/predict.h"
#include "sim/study/stopwatch.h"

#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/sweep/work_folder.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

/// What `check_out` has to look at before the work, so that the folder of --save can be written:
/// its first file, or the topmost of the folders that are still to be made.
/// @throws core::Error if it is there and no folder
std::string first_of_folder(const std::string& name, const char* first_file) {
  if (name.empty() || fs::is_directory(name)) {
    return name.empty() ? "" : (fs::path(name) / first_file).string();
  }
  if (fs::exists(fs::symlink_status(name))) {
    throw core::Error(fmt::format("--save {}: it is there and no folder; name another", name));
  }
  fs::path made = name;
  while (!made.parent_path().empty() && !fs::exists(made.parent_path())) {
    made = made.parent_path();
  }
  return made.string();
}

/// Whether a file is to lie in a folder.
bool lies_in(const std::string& file, const std::string& folder) {
  return !file.empty() && !folder.empty() &&
         fs::absolute(file).lexically_normal().parent_path() ==
             (fs::absolute(folder) / "").lexically_normal().parent_path();
}

/// `check_out` of a plan: where the folder of --save can be made, so can files in it.
void check_plan_out(const CommonOptions& options, const std::string& save, const char* first_file) {
  const bool to_be_made = !save.empty() && !fs::is_directory(save);
  const auto unless_inside = [&](const std::string& file) {
    return to_be_made && lies_in(file, save) ? "" : file;
  };
  CommonOptions rest = options;
  rest.out = unless_inside(options.out);
  check_out(rest, {first_of_folder(save, first_file), unless_inside(options.report),
                   unless_inside(options.tables)});
}

/// Delivers, with the folder that some of the files are in.
void deliver_with_folder(const CommonOptions& options,
                         const std::string& folder,
                         const std::vector<OutFile>& files) {
  std::error_code why;
  const auto inside = [&folder](const OutFile& file) { return lies_in(file.path, folder); };
  if (std::any_of(files.begin(), files.end(), inside)) {
    fs::create_directories(folder, why);
  }
  if (why) {
    throw core::Error(fmt::format("--save {}: {}", folder, why.message()));
  }
  deliver(options, files);
}

/// What options of the search say in words.
struct SearchWords {
  std::string vary, hold, save;
  std::vector<std::string> over, machines;
};

void add_search_options(CLI::App& app, plan::PlanOptions& how, SearchWords& words) {
  app.add_option("--vary", words.vary, "Fields of parallelism to vary, all others being held")
      ->option_text("FIELD,FIELD");
  app.add_option("--hold", words.hold, "Fields of parallelism to hold as the scenario has them")
      ->option_text("FIELD,FIELD");
  app.add_flag("--all", how.variants, "List variants of a plan's degrees too, not only the best");
  app.add_option("--simulate", how.simulate, "Layouts simulated at most, of each cluster")
      ->transform(whole_number(1, 1'000'000))
      ->option_text("N [50]");
  app.add_option("--verify", how.verify,
                 "Draw so many of the layouts left out, simulate them, tell which are better")
      ->transform(whole_number(0, 1'000'000))
      ->option_text("N [0]");
  app.add_flag("--sensitivity", how.sensitivity,
               "How much an input must change before another of the plans wins");
  app.add_option("--save", words.save,
                 "Folder for the plans as scenarios, the best plan-1.yaml, and as launch files")
      ->check(file_name())
      ->option_text("DIR");
}

/// Texts as a list of YAML.
std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  std::transform(texts.begin(), texts.end(), std::back_inserter(quoted), config::quoted);
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

/// An axis as YAML: its values, or the ends of its range.
std::string axis_words(const training::SweepAxisSpec& axis) {
  return axis.values.empty() ? fmt::format("{{key: {}, from: {}, to: {}, step: {}}}",
                                           config::quoted(axis.key), config::quoted(axis.from),
                                           config::quoted(axis.to), config::quoted(axis.step))
                             : fmt::format("{{key: {}, values: {}}}", config::quoted(axis.key),
                                           quoted_list(axis.values));
}

/// As --set of `search`.
void set_searched(const SearchWords& words, std::vector<std::string>& set) {
  if (!words.over.empty()) {
    std::vector<std::string> axes;
    std::transform(words.over.begin(), words.over.end(), std::back_inserter(axes),
                   [](const auto& text) { return axis_words(plan::sweep_axis(text, "--over")); });
    set.push_back(fmt::format("search.over=[{}]", fmt::join(axes, ", ")));
  }
  if (!words.machines.empty()) {
    set.push_back("search.machines=" + quoted_list(words.machines));
  }
  for (const auto& [key, list] : {std::pair("vary", &words.vary), std::pair("hold", &words.hold)}) {
    if (!list->empty()) {
      set.push_back(fmt::format("search.{}=[{}]", key, *list));
    }
  }
}

/// What of the options is asked of layouts, not of nodes.
void refuse_layouts(const CLI::App& app) {
  for (const char* name : {"--top", "--objective", "--nodes", "--over", "--machine", "--limit",
                           "--vary", "--hold", "--all", "--simulate", "--verify", "--sensitivity",
                           "--keep", "--tables", "--full", "--show"}) {
    if (app.get_option(name)->count() > 0) {
      throw core::Error(fmt::format(
          "--placement looks at nodes for the scenario's own layout, and {} is about layouts or "
          "machines; leave one of them out",
          name));
    }
  }
}

/// What a plan is judged by, and must keep to.
void add_goal_options(CLI::App& app, plan::PlanOptions& how, SearchWords& words) {
  app.add_option_function<std::vector<std::string>>(
         "--objective",
         [&how](const std::vector<std::string>& goals) { study::set_goals(goals, how); },
         "What makes a plan better: step, days, dollars, goodput, energy, co2, tokens-per-joule, "
         "tokens-per-dollar, power; of several, the first and the Pareto front of all")
      ->delimiter(',')
      ->option_text("GOAL,GOAL [step]");
  app.add_option("--nodes", how.nodes, "Cluster sizes to look at, instead of cluster.nodes")
      ->delimiter(',')
      ->transform(whole_number(1))
      ->option_text("N,N");
  app.add_option("--over", words.over,
                 "Machines to look at: a field and its values; several make combinations")
      ->option_text("KEY=VALUE,VALUE")
      ->allow_extra_args(false)
      ->check(utf8_text());
  app.add_option("--machine", words.machines,
                 "A machine to look at, as 'KEY=VALUE; KEY=VALUE', in place of those of "
                 "search.machines; each option is one more")
      ->option_text("CHANGES")
      ->allow_extra_args(false)
      ->check(utf8_text());
  app.add_option_function<std::vector<std::string>>(
         "--limit",
         [&how](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             study::add_limit(text, how.limits);
           }
         },
         "deadline=34 d, budget=5e6 USD, gpus=1024, racks=32, power=20 MW, headroom=0.1, "
         "goodput=0.9")
      ->option_text("KEY=VALUE");
}

void add_node_options(CLI::App& app, bool& placement, study::PlacementOptions& places) {
  auto* const on_nodes = app.add_flag(
      "--placement", placement, "Not layouts but nodes: which to take of a partly occupied fabric");
  app.add_option("--draws", places.draws, "With --placement: random choices of nodes")
      ->transform(whole_number(0, 1000))
      ->needs(on_nodes)
      ->option_text("N [4]");
}

/// `plan --placement`.
int place_job(const std::string& scenario,
              study::PlacementOptions how,
              const CommonOptions& options,
              const std::string& save) {
  const auto result = [&] {
    Progress progress(options);
    progress.phase("reading " + scenario);
    study::Stopwatch clock;
    const auto loaded = config::load_scenario(scenario, load_options(options));
    const core::Seconds load_time = clock.lap();
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = progress.named();
    return study::compare_placements(loaded, how, load_time);
  }();
  auto files = with_report(options,
                           printed(result, options, report::placement_json, report::placement_csv,
                                   report::placement_document),
                           [&] { return report::placement_json(result); });
  for (std::size_t i = 0; !save.empty() && i < result.candidates.size(); ++i) {
    files.push_back(
        {fmt::format("{}/placement-{}.yaml", save, i + 1), study::placement_file(result, i)});
  }
  deliver_with_folder(options, save, files);
  return study::exit_code(result.status());
}

/// `plan` of layouts.
/// @param known  the answers of all machines, where they were searched in parts; else nothing
int plan_layouts(const std::string& scenario,
                 plan::PlanOptions& how,
                 const CommonOptions& options,
                 const std::string& save,
                 const std::vector<study::MachineAnswer>* known) {
  const auto result = [&] {
    Progress progress(options);
    progress.phase("reading " + scenario);
    const auto load = [&](const std::vector<std::string>& further) {
      config::LoadOptions changed = load_options(options);
      changed.set.insert(changed.set.end(), further.begin(), further.end());
      return config::load_scenario(scenario, changed);
    };
    how.threads = options.threads;
    how.fold = options.fold;
    how.progress = progress.named(plan::is_told_as_share);
    return study::search_plans(load, how, known, validation::load_known_errors(config_roots()));
  }();
  auto files = with_report(options,
                           printed(result, options, report::plan_json, report::plan_csv,
                                   report::plan_document, report::plan_screen),
                           [&] { return report::plan_json(result); });
  add_tables(
      result, options, [](const auto& all) { return report::plan_document(all); }, files);
  std::vector<std::string> saved;
  if (!save.empty()) {
    for (study::PlanFile& file : study::plan_files(result, config_roots())) {
      saved.push_back(file.lost.empty() ? file.name
                                        : fmt::format("{} (its head lists {} that it cannot say)",
                                                      file.name, file.lost.size()));
      files.push_back({fmt::format("{}/{}", save, file.name), std::move(file.text)});
    }
  }
  deliver_with_folder(options, save, files);
  if (!saved.empty()) {
    remark(options, fmt::format("In {}: {}", save, fmt::join(saved, ", ")));
    const auto& framework = study::scenario_of_plan(result, 0).training.framework;
    if (framework.launch_file == workload::LaunchWords::none) {
      remark(
          options,
          fmt::format("No file that starts a plan is beside it: '{}' does not say whose it would "
                      "be (training.framework.launch_file)",
                      framework.name));
    }
  }
  return study::exit_code(result.status());
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
           "  headway plan s.yaml --over cluster.node=dgx-h100,dgx-b200 --limit 'deadline=60 d'");
  app.add_option("SCENARIO", scenario, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--top", how.keep, "Plans printed")
      ->transform(whole_number(1, 1000))
      ->option_text("N [10]");
  SearchWords words;
  add_goal_options(app, how, words);
  add_search_options(app, how, words);
  add_section_options(app, options, "plans, runs, classes, held", report::plan_sections());
  bool placement = false;
  study::PlacementOptions places;
  add_node_options(app, placement, places);
  KeepOptions kept;
  add_keep_options(app, kept, "Folder that keeps searched machines; --shards, --engine as in sweep",
                   false);
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_report_option(app, options);
  add_tables_option(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  if (placement) {
    refuse_layouts(app);
  }
  check_plan_out(options, words.save, placement ? "placement-1.yaml" : "plan-1.yaml");
  if (placement) {
    return place_job(scenario, places, options, words.save);
  }
  study::check_sizes(how.nodes);
  set_searched(words, options.set);
  if (!keeps(kept)) {
    return plan_layouts(scenario, how, options, words.save, nullptr);
  }
  auto request = work_request(report::WorkKind::plan, scenario, options);
  request.plan = how;
  WorkFolder folder(std::move(request), kept);
  if (const auto code = folder.complete(kept, options, "the same line without --shards, --emit")) {
    return *code;
  }
  const auto known = folder.machines();
  return plan_layouts(scenario, how, options, words.save, &known);
}

}  // namespace headway::apps

// headway run: one scenario, predicted.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/report/run_json.h"
#include "sim/report/screen/run_screen.h"
#include "sim/report/verbs/power_csv.h"
#include "sim/report/verbs/run_table.h"
#include "sim/study/predict.h"
#include "sim/study/stopwatch.h"
#include "sim/training/explain/observed_rank.h"

#include "apps/headway/measured/rank_list.h"
#include "apps/headway/options.h"
#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/report_file.h"
#include "apps/headway/sweep/work_folder.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

struct RunArguments {
  CommonOptions common;
  std::string scenario;
  bool explain = false, pictures = false;
  std::string power, network = "fluid";
  TraceFiles traces;
  KeepOptions kept;

  /// What pictures are needed for beside `--pictures` itself.
  [[nodiscard]] bool draws() const {
    return !common.report.empty() || !traces.step.empty() || !traces.run.empty();
  }

  [[nodiscard]] bool shows(std::string_view section) const {
    return std::find(common.show.begin(), common.show.end(), section) != common.show.end();
  }
  [[nodiscard]] bool explains() const { return explain || shows(report::kExplanationSection); }
  [[nodiscard]] bool meters() const { return !power.empty() || shows(report::kPowerSection); }
};

/// @param known  all trials, where they were simulated in parts; else nothing
study::RunReport predict(const RunArguments& given, const campaign::KnownTrials* known) {
  const CommonOptions& options = given.common;
  Progress progress(options);
  progress.phase("reading " + given.scenario);
  study::Stopwatch clock;
  const auto loaded = config::load_scenario(given.scenario, load_options(options));
  study::PredictOptions how;
  how.known = known;
  how.load_time = clock.lap();
  how.threads = options.threads;
  how.fold = options.fold;
  how.explain = !options.report.empty() || given.explains();
  how.pictures = given.draws() || given.pictures;
  how.power = given.meters() || !given.traces.step.empty();
  how.packets = study::step_network(given.network);
  how.known_errors = validation::load_known_errors(config_roots());
  how.progress = [&](std::string_view phase) { progress.phase(phase); };
  how.count = [&](std::size_t done, std::size_t total) { progress.count(done, total); };
  return study::predict(loaded, how);
}

/// What the trace of the step has beside the timeline of its stages: streams of ranks, and power.
std::vector<report::Trace> traces_of_step(const RunArguments& given,
                                          const study::RunReport& result) {
  std::vector<report::Trace> traces;
  if (given.traces.step.empty()) {
    return traces;
  }
  if (!given.traces.ranks.empty()) {
    const auto loaded = config::load_scenario(given.scenario, load_options(given.common));
    const auto checked = training::check(loaded.scenario, loaded.marks);
    std::vector<core::Rank> ranks;
    for (const std::int64_t rank : ranks_of(given.traces.ranks, "--trace-ranks", checked.gpus())) {
      ranks.emplace_back(static_cast<std::uint32_t>(rank));
    }
    traces = report::traces_of_ranks(training::observe_ranks(checked, ranks));
  }
  traces.push_back(report::trace_of_power(*result.power));
  return traces;
}

/// Without what only the page of --report draws.
study::RunReport as_asked(study::RunReport result, const RunArguments& given) {
  if (!given.explains()) {
    result.explanation.reset();
  }
  if (!given.pictures) {
    result.pictures.reset();
  }
  if (!given.meters()) {
    result.power.reset();
  }
  return result;
}

/// What adds to the file of a step's trace needs one.
void check_traces(const TraceFiles& traces) {
  if (traces.step.empty() && !traces.ranks.empty()) {
    throw core::Error("--trace-ranks adds ranks to the file of --trace; name one");
  }
  if (traces.step.empty() && traces.steps > 1) {
    throw core::Error("--trace-steps adds steps to the file of --trace; name one");
  }
}

/// Files beside the result.
void add_file_options(CLI::App& app, RunArguments& given) {
  app.add_option("--power", given.power,
                 "Write what the cluster draws over a step here: kW over time (CSV)")
      ->check(file_name())
      ->option_text("FILE.csv");
  add_tables_option(app, given.common);
}

void add_network_option(CLI::App& app, std::string& network) {
  app.add_option("--network", network,
                 "What times the step's traffic: fluid, or each packet: packet, packet:dcqcn, ...")
      ->capture_default_str()
      ->option_text("MODEL");
}

/// Trials that are kept are of runs.
void check_network(const RunArguments& given) {
  if (study::step_network(given.network) && keeps(given.kept)) {
    throw core::Error(
        "--network packet times one step, and --keep keeps trials of a run; leave one out");
  }
}

/// --explain is a section: alone it asks for all of them, beside --show for one more.
OutFile shown(const study::RunReport& result, const RunArguments& given) {
  CommonOptions options = given.common;
  if (given.explain && options.show.empty()) {
    options.full = true;
  } else if (given.explain) {
    options.show.emplace_back(report::kExplanationSection);
  }
  return printed(result, options, report::run_json, report::run_csv, report::run_document,
                 report::run_screen);
}

/// What is printed, and all files beside it.
std::vector<OutFile> files_of(const RunArguments& given, const study::RunReport& result) {
  const CommonOptions& options = given.common;
  const auto json = [&] { return report::run_json(result); };
  auto files = with_report(options, shown(as_asked(result, given), given), json);
  add_traces(options, given.traces, json, traces_of_step(given, result), files);
  if (!given.power.empty()) {
    files.push_back({given.power, report::power_csv(*result.power)});
  }
  if (!options.tables.empty()) {
    files.push_back(
        {options.tables, report::to_text(report::run_document(as_asked(result, given)))});
  }
  return files;
}

}  // namespace

int run_run(int argc, char** argv) {
  CLI::App app("Predicts step time, memory, MFU, ETTR, goodput and cost of one scenario.");
  RunArguments given;
  CommonOptions& options = given.common;
  describe(app, "run",
           "  headway run configs/scenarios/llama-3.1-405b-16k-h100.yaml\n"
           "  headway run s.yaml --set parallelism.tensor=4 --format json --out r.json");
  app.add_option("SCENARIO", given.scenario, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  add_section_options(app, options, "memory, links, cost, assumptions", report::run_sections());
  add_file_options(app, given);
  app.add_flag("--explain", given.explain,
               "The step's largest parts with their formulas, and its sensitivities");
  app.add_flag("--pictures", given.pictures,
               "With --format json: also what `headway report` draws")
      ->group("");  // `headway report --help` shows it
  add_network_option(app, given.network);
  add_report_option(app, options, true);
  add_trace_options(app, given.traces);
  add_keep_options(app, given.kept,
                   "Folder that keeps finished trials; --shards, --engine as in sweep", false);
  add_scenario_options(app, options);
  add_execution_options(app, options);
  add_output_options(app, options, {"table", "json", "csv", "md"});
  if (const auto code = parse(app, argc, argv, &options)) {
    return *code;
  }
  check_out(options,
            {options.report, given.traces.step, given.traces.run, given.power, options.tables});
  check_traces(given.traces);
  check_network(given);
  std::optional<campaign::KnownTrials> known;
  if (keeps(given.kept)) {
    WorkFolder folder(work_request(report::WorkKind::run, given.scenario, options), given.kept);
    if (const auto code =
            folder.complete(given.kept, options, "the same line without --shards, --emit")) {
      return *code;
    }
    known = folder.trials();
  }
  const auto result = predict(given, known ? &*known : nullptr);
  deliver(options, files_of(given, result));
  if (options.format == "json" || options.format == "csv" || !options.out.empty()) {
    for (const auto& reason : result.reasons) {
      remark(options, std::string(core::to_word(result.status)) + ": " + reason);
    }
  }
  return study::exit_code(result.status);
}

}  // namespace headway::apps

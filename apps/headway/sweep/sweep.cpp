// headway sweep, worker and collect: one scenario at many points, on one machine or on many.
#include <fmt/format.h>
#include <numeric>

#include "sim/core/parse_word.h"
#include "sim/core/read_file.h"
#include "sim/report/points/sweep_report.h"

#include "apps/headway/output.h"
#include "apps/headway/report_file.h"
#include "apps/headway/sweep/engine.h"
#include "apps/headway/sweep/sweep_folder.h"
#include "apps/headway/sweep/work_folder.h"
#include "apps/headway/verb.h"

namespace headway::apps {

namespace {

const std::vector<std::string> kFormats{"table", "json", "jsonl", "csv", "md"};

/// What `headway sweep` is told beside the common options.
struct SweepOptions {
  std::string scenario;
  std::vector<std::string> axes, figures;
  std::string best, best_is;
  KeepOptions kept;
  bool list = false;
};

study::Sweep read_sweep(const SweepOptions& options, const CommonOptions& common) {
  const config::LoadOptions load = load_options(common);
  study::SweepRequest request;
  request.text = core::read_file(options.scenario, core::kLargestConfiguration);
  request.file = options.scenario;
  request.set = load.set;
  request.axes = options.axes;
  request.figures = options.figures;
  request.best = options.best;
  if (!options.best_is.empty()) {
    request.best_is = core::from_word<training::Best>(options.best_is);
  }
  return {std::move(request), load.roots};
}

std::vector<std::size_t> all_points(const study::Sweep& sweep) {
  std::vector<std::size_t> points(sweep.points().size());
  std::iota(points.begin(), points.end(), 0);
  return points;
}

int list_points(const study::Sweep& sweep, const CommonOptions& common) {
  std::vector<study::SweepRow> rows;
  for (const std::size_t point : all_points(sweep)) {
    rows.push_back(sweep.listed(point));
  }
  return deliver_sweep(common, study::sweep_report(sweep, std::move(rows)));
}

/// Makes the folder and says how its shards are run.
int prepare_shards(const study::Sweep& sweep, const KeepOptions& options) {
  const SweepFolder folder(options.keep, sweep, options.shards);
  tell_of_shards(options, folder.shards(), fmt::format("{} points", sweep.points().size()),
                 "headway collect " + options.keep);
  return 0;
}

int keep_points(const study::Sweep& sweep,
                const KeepOptions& options,
                const CommonOptions& common) {
  const SweepFolder folder(options.keep, sweep, 0);
  folder.complete(folder.missing(), common);
  return deliver_sweep(common, study::sweep_report(sweep, folder.rows()));
}

/// Has another program complete the shards, and prints all points.
int engine_points(const study::Sweep& sweep,
                  const KeepOptions& options,
                  const CommonOptions& common) {
  const SweepFolder folder(options.keep, sweep, options.shards);
  const int code = run_dask(options.keep, options.scheduler, common);
  if (code != 0 && !folder.missing().empty()) {
    return code;
  }
  return deliver_sweep(common, study::sweep_report(sweep, folder.rows()));
}

/// Which points to simulate, what to print of them, and where to keep them.
void add_sweep_options(CLI::App& app, SweepOptions& options) {
  app.add_option("SCENARIO", options.scenario, "Scenario file (YAML), or its name in the catalogue")
      ->required()
      ->transform(scenario_name())
      ->option_text(" ");
  app.add_option("--sweep", options.axes,
                 "KEY=VALUE,VALUE,... or KEY=FROM:TO:STEP; each option is one more axis")
      ->option_text("KEY=VALUES")
      ->allow_extra_args(false)
      ->check(utf8_text());
  app.add_option("--figures", options.figures,
                 "Figures of the table, as step.mfu (docs/definitions.md)")
      ->option_text("PATH,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(utf8_text());
  app.add_option("--best", options.best, "Figure by which points are ranked")
      ->option_text("PATH [step.time_s; step.tokens_per_s where batches differ]")
      ->check(utf8_text());
  app.add_option("--best-is", options.best_is,
                 "Which end of it is best; [the highest of throughput, utilization and shares of "
                 "useful time, else the lowest]")
      ->check(one_of({"lowest", "highest"}))
      ->option_text("lowest|highest");
  app.add_flag("--dry-run", options.list, "List the points, simulate none");
  add_keep_options(app, options.kept,
                   "Folder that keeps finished points; a sweep begun there goes on");
}

/// Those that are missing of the shard that is asked for, or of all.
std::vector<std::int64_t> asked_shards(const ShardFolder& folder, const std::string& shard) {
  std::vector<std::int64_t> todo = folder.missing();
  if (!shard.empty()) {
    const std::int64_t one = shard_of(shard, folder.shards());
    std::erase_if(todo, [&](std::int64_t other) { return other != one; });
  }
  return todo;
}

int tell_done(const ShardFolder& folder, const CommonOptions& common) {
  remark(common, fmt::format("{} of {} shards are done",
                             folder.shards() - std::ssize(folder.missing()), folder.shards()));
  return 0;
}

}  // namespace

int run_sweep(int argc, char** argv) {
  CLI::App app(
      "Predicts one scenario at many points: those of its block `sweep:`, of --sweep, or both. "
      "With --keep an interrupted sweep goes on where it stopped; with --shards nothing is "
      "simulated, and `headway worker` runs the parts anywhere.");
  CommonOptions common;
  SweepOptions options;
  describe(app, "sweep",
           "  headway sweep s.yaml --sweep parallelism.tensor=1,2,4,8 --sweep "
           "cluster.nodes=16:64:16\n"
           "  headway sweep s.yaml --keep run/ --format csv --out points.csv\n"
           "  headway sweep s.yaml --shards 64 --keep run/ --emit slurm");
  add_sweep_options(app, options);
  add_scenario_options(app, common);
  add_execution_options(app, common);
  add_report_option(app, common);
  add_output_options(app, common, kFormats);
  if (const auto code = parse(app, argc, argv, &common)) {
    return *code;
  }
  check_out(common, {common.report});
  for (const char* option : {"--keep", "--shards", "--emit", "--engine", "--scheduler"}) {
    if (options.list && app.get_option(option)->count() > 0) {
      throw core::Error(
          fmt::format("--dry-run lists the points and does nothing else; leave it or "
                      "{} out",
                      option));
    }
  }
  const study::Sweep sweep = read_sweep(options, common);
  if (options.list) {
    return list_points(sweep, common);
  }
  const KeepOptions& kept = options.kept;
  const bool folder = keeps(kept);
  if (!kept.engine.empty()) {
    return engine_points(sweep, kept, common);
  }
  if (kept.shards > 0) {
    return prepare_shards(sweep, kept);
  }
  if (folder) {
    return keep_points(sweep, kept, common);
  }
  return deliver_sweep(
      common, study::sweep_report(sweep, simulate_points(sweep, all_points(sweep), common)));
}

int run_worker(int argc, char** argv) {
  CLI::App app(
      "Works out shards of a sweep, run or plan that --shards has cut. A shard that is there is "
      "left alone; one that was interrupted is done again.");
  CommonOptions common;
  std::string folder, shard;
  describe(app, "worker",
           "  headway worker run/ --shard 7/64\n"
           "  seq 64 | xargs -P 8 -I K headway worker run/ --shard K/64");
  app.add_option("FOLDER", folder, "Folder of the shards")
      ->required()
      ->option_text(" ")
      ->check(file_name());
  app.add_option("--shard", shard, "Shard K of N, from 1; absent: all that are missing")
      ->option_text("K/N")
      ->check(utf8_text());
  add_execution_options(app, common);
  if (const auto code = parse(app, argc, argv, &common)) {
    return *code;
  }
  if (WorkFolder::is_one(folder)) {
    WorkFolder kept(folder);
    kept.complete(asked_shards(kept.shards(), shard), common);
    return tell_done(kept.shards(), common);
  }
  const study::Sweep sweep = SweepFolder::open(folder);
  const SweepFolder kept(folder, sweep, 0);
  kept.complete(asked_shards(kept.folder(), shard), common);
  return tell_done(kept.folder(), common);
}

int run_collect(int argc, char** argv) {
  CLI::App app(
      "Prints the points of a sweep from the shards of its folder. Exit code 5 if some are "
      "missing.");
  CommonOptions common;
  std::string folder;
  describe(app, "collect",
           "  headway collect run/\n"
           "  headway collect run/ --format csv --out points.csv");
  app.add_option("FOLDER", folder, "Folder of the sweep")
      ->required()
      ->option_text(" ")
      ->check(file_name());
  add_report_option(app, common);
  add_output_options(app, common, kFormats);
  app.add_flag("--quiet", common.quiet, "Nothing on standard error but errors");
  if (const auto code = parse(app, argc, argv, &common)) {
    return *code;
  }
  check_out(common, {common.report});
  const study::Sweep sweep = SweepFolder::open(folder);
  const SweepFolder kept(folder, sweep, 0);
  const auto missing = kept.missing();
  const int code = deliver_sweep(common, study::sweep_report(sweep, kept.rows()));
  if (!missing.empty()) {
    remark(common,
           fmt::format("{} of {} shards are missing, the first is {}; run headway worker {} "
                       "--shard {}/{}",
                       missing.size(), kept.shards(), missing.front(), folder, missing.front(),
                       kept.shards()));
  }
  return code;
}

}  // namespace headway::apps

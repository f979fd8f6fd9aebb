#include "apps/headway/sweep/work_folder.h"

#include <fmt/format.h>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/report/points/sweep_jobs.h"

#include "apps/headway/output.h"
#include "apps/headway/progress.h"
#include "apps/headway/sweep/engine.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* kWorkFile = "work.json";

report::WorkManifest read_work_file(const std::string& folder) {
  const fs::path file = fs::path(folder) / kWorkFile;
  return report::read_work_manifest(core::read_file(file, core::kLargestMeasurement),
                                    file.string());
}

ShardedText sharded_work(const report::Work& work, std::int64_t shards) {
  const auto parts = static_cast<std::int64_t>(work.parts());
  if (shards > parts) {
    throw core::Error(
        fmt::format("--shards {}: there are {} parts to share; ask for that many at "
                    "most",
                    shards, parts));
  }
  ShardedText text;
  text.what = core::to_word(work.request().kind).data();
  text.manifest = kWorkFile;
  text.digest = work.digest();
  text.asked = shards;
  text.usual = work.usual_shards();
  text.text = [&work](std::int64_t count) {
    report::WorkManifest manifest{work.request(), work.digest(), count};
    manifest.request.file = fs::absolute(manifest.request.file).string();
    return report::work_manifest(manifest);
  };
  text.read = [](const std::string& file, const std::string& name) {
    const auto known = report::read_work_manifest(file, name);
    return std::pair(known.digest, known.shards);
  };
  return text;
}

}  // namespace

report::WorkRequest work_request(report::WorkKind kind,
                                 const std::string& scenario,
                                 const CommonOptions& common) {
  report::WorkRequest request;
  request.kind = kind;
  request.text = core::read_file(scenario, core::kLargestConfiguration);
  request.file = scenario;
  request.set = load_options(common).set;
  return request;
}

void add_keep_options(CLI::App& app, KeepOptions& options, const std::string& kept, bool listed) {
  const std::string group = listed ? "Options" : "";
  app.add_option("--keep", options.keep, kept)->option_text("DIR")->check(file_name());
  app.add_option("--shards", options.shards,
                 "Cut it into N shards in that folder, for headway worker")
      ->option_text("N")
      ->transform(whole_number(1, 1'000'000))
      ->group(group);
  app.add_option("--emit", options.emit, "Also write a job file there that runs all shards")
      ->check(one_of({"slurm", "k8s", "hq", "condor"}))
      ->option_text("slurm|k8s|hq|condor")
      ->group(group);
  app.add_option("--engine", options.engine,
                 "Who works out the shards in that folder (docs/sweep.md)")
      ->check(one_of({"dask"}))
      ->option_text("dask")
      ->group(group);
  app.add_option("--scheduler", options.scheduler,
                 "Address of a Dask scheduler; without it workers are started here")
      ->option_text("tcp://HOST:PORT")
      ->check(utf8_text())
      ->group(group);
}

bool keeps(const KeepOptions& options) {
  const auto require = [](bool given, const char* option, bool there, const char* other) {
    if (given && !there) {
      throw core::Error(fmt::format("{} requires {}", option, other));
    }
  };
  require(options.shards > 0, "--shards", !options.keep.empty(), "--keep");
  require(!options.emit.empty(), "--emit", options.shards > 0, "--shards");
  require(!options.engine.empty(), "--engine", !options.keep.empty(), "--keep");
  require(!options.scheduler.empty(), "--scheduler", !options.engine.empty(), "--engine");
  return !options.keep.empty();
}

void tell_of_shards(const KeepOptions& options,
                    std::int64_t shards,
                    const std::string& what,
                    const std::string& then) {
  std::string text = fmt::format(
      "{} in {} shards. Run each of them, here or on any machine that sees the folder:\n"
      "  headway worker {} --shard 1/{}\n",
      what, shards, options.keep, shards);
  if (!options.emit.empty()) {
    const auto system = core::from_word<report::JobSystem>(options.emit).value();
    const fs::path file = fs::path(options.keep) / report::job_file_name(system);
    CommonOptions to;
    to.out = file.string();
    to.force = true;
    to.quiet = true;
    deliver(to, report::job_file(system, fs::absolute(options.keep).string(), shards));
    text += fmt::format("or all of them:\n  {}\n", report::job_command(system, file.string()));
  }
  print_result(core::visible(text + fmt::format("then\n  {}\n", then)));
}

WorkFolder::WorkFolder(report::WorkRequest request, const KeepOptions& options)
    : work_(std::make_unique<report::Work>(std::move(request), config_roots())),
      folder_(options.keep, sharded_work(*work_, options.shards)) {}

WorkFolder::WorkFolder(const std::string& folder) : WorkFolder(folder, read_work_file(folder)) {}

WorkFolder::WorkFolder(const std::string& folder, const report::WorkManifest& manifest)
    : work_(std::make_unique<report::Work>(manifest.request, config_roots())), folder_([&] {
        if (work_->digest() != manifest.digest) {
          throw core::Error(fmt::format(
              "{}: it was begun as {}, here its scenario reads as {}: a catalogue entry or another "
              "file that it uses differs; make both installations equal, or begin anew",
              (fs::path(folder) / kWorkFile).string(), manifest.digest, work_->digest()));
        }
        return ShardFolder(folder, sharded_work(*work_, 0));
      }()) {}

bool WorkFolder::is_one(const std::string& folder) {
  return fs::exists(fs::path(folder) / kWorkFile);
}

std::string WorkFolder::no_sweep(const std::string& folder) {
  const auto request = read_work_file(folder).request;
  const bool run = request.kind == report::WorkKind::run;
  return fmt::format(
      "{}: it keeps the {} of a {}, not the points of a sweep; the same command with which it was "
      "begun prints its result: headway {} {} ... --keep {}",
      core::visible(folder), run ? "trials" : "machines", run ? "run" : "plan",
      run ? "run" : "plan", core::shell_word(request.file), core::shell_word(folder));
}

void WorkFolder::complete(const std::vector<std::int64_t>& shards, const CommonOptions& options) {
  Progress progress(options);
  report::WorkOptions how{options.threads, options.fold};
  std::size_t done = 0;
  progress.phase("working out shards");
  for (const std::int64_t shard : shards) {
    folder_.write(shard, work_->lines(shard, folder_.shards(), how));
    progress.count(++done, shards.size());
  }
}

std::optional<int> WorkFolder::complete(const KeepOptions& options,
                                        const CommonOptions& common,
                                        const std::string& then) {
  if (!options.engine.empty()) {
    const int code = run_dask(options.keep, options.scheduler, common);
    return code != 0 && !folder_.missing().empty() ? std::optional(code) : std::nullopt;
  }
  if (options.shards > 0) {
    const bool run = work_->request().kind == report::WorkKind::run;
    tell_of_shards(options, folder_.shards(),
                   fmt::format("{} {}", work_->parts(), run ? "trials" : "machines"), then);
    return 0;
  }
  complete(folder_.missing(), common);
  return std::nullopt;
}

std::string WorkFolder::text(std::int64_t shard) const {
  return core::read_file(folder_.file(shard), core::kLargestMeasurement);
}

campaign::KnownTrials WorkFolder::trials() const {
  campaign::KnownTrials known;
  known.trials.reserve(work_->parts());
  for (std::int64_t shard = 1; shard <= folder_.shards(); ++shard) {
    const auto [first, count] = report::parts_of_shard(work_->parts(), folder_.shards(), shard);
    report::read_trial_lines(text(shard), folder_.file(shard).string(), known);
    if (known.trials.size() != first + count) {
      throw core::Error(
          fmt::format("{} does not have the trials of its shard; remove it, and they are "
                      "simulated again",
                      folder_.file(shard).string()));
    }
  }
  return known;
}

std::vector<study::MachineAnswer> WorkFolder::machines() const {
  std::vector<study::MachineAnswer> all;
  for (std::int64_t shard = 1; shard <= folder_.shards(); ++shard) {
    auto part = report::read_machine_lines(text(shard), folder_.file(shard).string());
    const auto [first, count] = report::parts_of_shard(work_->parts(), folder_.shards(), shard);
    if (part.size() != count) {
      throw core::Error(
          fmt::format("{} does not have the machines of its shard; remove it, and they are "
                      "searched again",
                      folder_.file(shard).string()));
    }
    std::move(part.begin(), part.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace headway::apps

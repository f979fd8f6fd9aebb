#include "sim/report/points/work.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "sim/core/digest.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/report/points/packed.h"
#include "sim/study/driver.h"
#include "sim/study/predict.h"

namespace headway::plan {

template <class A>
void members(A& archive, Limits& l) {
  archive("deadline", l.deadline);
  archive("budget", l.budget);
  archive("gpus", l.gpus);
  archive("racks", l.racks);
  archive("power", l.power);
  archive("headroom", l.headroom);
  archive("goodput", l.goodput);
}

/// Without what no result depends on.
template <class A>
void members(A& archive, PlanOptions& o) {
  archive("keep", o.keep);
  archive("variants", o.variants);
  archive("simulate", o.simulate);
  archive("verify", o.verify);
  archive("objective", o.objective);
  archive("beside", o.beside);
  archive("limits", o.limits);
  archive("nodes", o.nodes);
}

}  // namespace headway::plan

namespace headway::report {

namespace {

constexpr const char* kWorkManifest = "headway.work-folder/1";
/// Trials of a shard: a second or so of most runs. Source: chosen.
constexpr std::size_t kTrialsPerShard = 1000;
constexpr std::size_t kMostShards = 10'000;

[[noreturn]] void refuse_work(const std::string& name, const std::string& what) {
  throw core::Error(fmt::format("{}: {}", name, what));
}

void require_trials(const config::LoadedScenario& loaded) {
  const auto& run = loaded.scenario.run;
  if (!run.until) {
    throw core::Error(
        "the scenario has no run.until, so that there are no trials to share; a step is simulated "
        "in one process");
  }
  if (run.mean_within) {
    throw core::Error(
        "run.mean_within asks for as many trials as the first ones say, which cannot be cut before "
        "they are there; leave it out and write run.trials");
  }
}

}  // namespace

std::string work_manifest(const WorkManifest& manifest) {
  const WorkRequest& r = manifest.request;
  Json json;
  json["schema"] = kWorkManifest;
  json["version"] = HEADWAY_VERSION;
  json["kind"] = core::to_word(r.kind);
  json["digest"] = manifest.digest;
  json["shards"] = manifest.shards;
  json["file"] = r.file;
  json["set"] = r.set;
  json["plan"] = Packer::packed(r.plan);
  json["text"] = r.text;
  return dump(json);
}

bool is_work_manifest(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.value("schema", "") == kWorkManifest;
}

WorkManifest read_work_manifest(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != kWorkManifest) {
      refuse_work(name, "this is no shared question of this program");
    }
    if (json.at("version") != HEADWAY_VERSION) {
      refuse_work(name, fmt::format("it was begun by version {}; this is {}",
                                    json.at("version").get<std::string>(), HEADWAY_VERSION));
    }
    WorkManifest manifest;
    WorkRequest& r = manifest.request;
    const auto kind = core::from_word<WorkKind>(json.at("kind").get<std::string>());
    if (!kind) {
      refuse_work(name, "this is no shared question of this program: its kind is none");
    }
    r.kind = *kind;
    manifest.digest = json.at("digest").get<std::string>();
    manifest.shards = json.at("shards").get<std::int64_t>();
    r.file = json.at("file").get<std::string>();
    r.set = json.at("set").get<std::vector<std::string>>();
    Unpacker::unpack(json.at("plan"), r.plan);
    r.text = json.at("text").get<std::string>();
    if (manifest.shards < 1) {
      refuse_work(name, "it has at least one shard");
    }
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    refuse_work(name,
                "this is no shared question of this program: " + core::shortened(error.what()));
  }
}

/// What the trials of a run begin with.
struct Work::Trials {
  training::CheckedScenario checked;
  study::Driver driver;
  campaign::TrialSource source;

  Trials(const config::LoadedScenario& loaded, const WorkOptions& options)
      : checked(training::check(loaded.scenario, loaded.marks)),
        driver({.threads = options.threads, .fold = options.fold, .hash_draws = 0}),
        source(checked, driver.step(checked)) {}
};

Work::Work(WorkRequest request, std::vector<std::filesystem::path> roots)
    : request_(std::move(request)), roots_(std::move(roots)) {
  const auto base = load();
  digest_ = study::scenario_digest(base);
  if (request_.kind == WorkKind::run) {
    require_trials(base);
    parts_ = static_cast<std::size_t>(base.scenario.run.trials);
    return;
  }
  machines_ =
      study::candidate_machines(base, [this](const auto& further) { return load(further); });
  if (machines_.empty()) {
    throw core::Error(
        "processes that share a plan search a machine each, and the scenario has one; name several "
        "by --over, --machine or `search`, as with --over cluster.nodes=32,64");
  }
  parts_ = machines_.size();
  std::string all = digest_ + Packer::packed(request_.plan).dump();
  for (const auto& machine : machines_) {
    for (const auto& [key, value] : machine.changes) {
      all += fmt::format("\n{}={}", key, value);
    }
    all += "\n" + config::write_scenario(machine.scenario);
  }
  digest_ = fmt::format("{:016x}", core::hash_text(all));
}

Work::~Work() = default;

std::int64_t Work::usual_shards() const {
  const std::size_t each = request_.kind == WorkKind::run ? kTrialsPerShard : 1;
  return static_cast<std::int64_t>(
      std::clamp((parts_ + each - 1) / each, std::size_t{1}, kMostShards));
}

config::LoadedScenario Work::load(const std::vector<std::string>& further) const {
  config::LoadOptions options{roots_, request_.set};
  options.set.insert(options.set.end(), further.begin(), further.end());
  return config::load_scenario_text(request_.text, request_.file, options);
}

std::string Work::lines(std::int64_t shard, std::int64_t shards, const WorkOptions& options) {
  const auto [first, count] = parts_of_shard(parts_, shards, shard);
  return request_.kind == WorkKind::run ? trials(first, count, options)
                                        : machines(first, count, options);
}

std::string Work::trials(std::size_t first, std::size_t count, const WorkOptions& options) {
  if (const std::scoped_lock lock(mutex_); !trials_) {
    trials_ = std::make_unique<Trials>(load(), options);
  }
  return trial_lines(trials_->source.run(first, count, trials_->driver.threads(), options.count));
}

std::string Work::machines(std::size_t first, std::size_t count, const WorkOptions& options) {
  plan::PlanOptions how = request_.plan;
  how.threads = options.threads;
  how.fold = options.fold;
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) {
    text += machine_line(study::search_machine(how, machines_[i].scenario));
    if (options.count) {
      options.count(i + 1 - first, count);
    }
  }
  return text;
}

std::pair<std::size_t, std::size_t> parts_of_shard(std::size_t parts,
                                                   std::int64_t shards,
                                                   std::int64_t shard) {
  const auto begin = [&](std::int64_t number) {
    return parts * static_cast<std::size_t>(number) / static_cast<std::size_t>(shards);
  };
  return {begin(shard - 1), begin(shard) - begin(shard - 1)};
}

}  // namespace headway::report

// The saves of a job: times of each level, slow drives, what a save takes from training.
#include "sim/campaign/saves/resolve_saves.h"

#include <algorithm>
#include <cmath>

#include "sim/campaign/saves/restore.h"
#include "sim/core/error.h"
#include "sim/training/unequal/node_kinds.h"

namespace headway::campaign {

using core::Seconds;

namespace {

constexpr double kTerabyte = 1e12;

const char* words_of(storage::NearPlace place) {
  switch (place) {
    case storage::NearPlace::host:
      return "host";
    case storage::NearPlace::nvme:
      return "nvme";
    case storage::NearPlace::peer:
      return "peer";
  }
  return "?";
}

/// What a near level needs must fit into the node.
void check_near_capacity(const training::CheckedScenario& checked,
                         const storage::ShardLayout& layout) {
  const auto& checkpoint = checked.scenario().run.checkpoint;
  for (std::size_t l = 0; l < checkpoint.levels.size(); ++l) {
    const auto& level = checkpoint.levels[l];
    const bool in_memory = level.place != storage::NearPlace::nvme;
    const auto capacity =
        level.capacity
            ? level.capacity
            : (in_memory
                   ? std::optional(training::weakest_node(checked.scenario().cluster).host_memory)
                   : std::nullopt);
    const core::Bytes needed = storage::near_capacity(layout, checkpoint, level);
    if (capacity && needed > *capacity) {
      training::refuse(
          checked, fmt::format("run.checkpoint.levels[{}]", l),
          fmt::format("run.checkpoint.levels: the {} level needs {:.4g} TB on each node, which has "
                      "{:.4g} TB; lower its keep",
                      words_of(level.place), needed.si() / kTerabyte, capacity->si() / kTerabyte));
    }
  }
}

/// An asynchronous save waits in host memory until it is written.
void check_host_buffer(const training::CheckedScenario& checked,
                       const storage::ShardLayout& layout) {
  const auto& checkpoint = checked.scenario().run.checkpoint;
  const auto node = training::weakest_node(checked.scenario().cluster);
  const core::Bytes share = storage::share_of_writer(layout, checkpoint);
  if (checkpoint.mode == storage::CheckpointMode::asynchronous && share > node.host_memory) {
    training::refuse(
        checked, "run.checkpoint.mode",
        fmt::format(
            "run.checkpoint.mode: an asynchronous save buffers {:.4g} GB on each node, whose "
            "host_memory is {:.4g} GB; write 'mode: sync'",
            share.si() / 1e9, node.host_memory.si() / 1e9));
  }
}

}  // namespace

bool saves_pass_drives(const storage::CheckpointSpec& checkpoint) {
  return checkpoint.via_drives ||
         std::any_of(checkpoint.levels.begin(), checkpoint.levels.end(),
                     [](const auto& level) { return level.place == storage::NearPlace::nvme; });
}

double mean_kept(std::int64_t saves, int keep) {
  if (saves == 0) {
    return 0;
  }
  const auto kept = static_cast<double>(std::min<std::int64_t>(saves, keep));
  return kept - kept * (kept + 1) / (2 * static_cast<double>(saves));
}

namespace {

/// Whether all saves are those of the interval: none is made before a part is left.
bool saves_by_interval(const JobModel& job) {
  return std::all_of(job.hazards.begin(), job.hazards.end(), stops_job);
}

/// Saves to storage that the work of the run has room for.
double saves_made(const JobModel& job) {
  return std::ceil(length_of(job.end) / effective_interval(job) * (1 - 1e-12));
}

/// Those of them that stay in the archive.
double archived_saves(const JobModel& job) {
  const auto every = static_cast<double>(archived_every(job));
  return every > 0 ? std::floor(length_of(job.end) / effective_interval(job) / every + 1e-9) : 0;
}

}  // namespace

void check_capacity(const training::CheckedScenario& checked,
                    const storage::ShardLayout& layout,
                    const JobModel& job,
                    core::Bytes data) {
  const auto& run = checked.scenario().run;
  const auto& checkpoint = run.checkpoint;
  const auto& storage = *checked.scenario().cluster.storage;
  const core::Bytes one = storage::checkpoint_bytes(layout.parameters, checkpoint);
  const double archived = archived_saves(job);
  const double made = saves_made(job);
  const bool all_kept = made <= checkpoint.keep && saves_by_interval(job);
  const core::Bytes saves =
      all_kept ? made * one : storage::needed_capacity(layout.parameters, checkpoint);
  const core::Bytes needed = saves + archived * one + data;
  if (needed > storage.capacity) {
    training::refuse(
        checked, "run.checkpoint.keep",
        fmt::format(
            "storage '{}' holds {:.4g} TB (capacity), but {:.0f} checkpoints of {:.4g} TB{}{}{} "
            "need {:.4g} TB; {}{}{}",
            storage.name, storage.capacity.si() / kTerabyte, all_kept ? made : checkpoint.keep,
            one.si() / kTerabyte, archived > 0 ? fmt::format(", {:.0f} archived", archived) : "",
            all_kept ? "" : " and the one being written",
            data.si() > 0 ? fmt::format(", with {} of {:.4g} TB,",
                                        workload::reads_logits(checked.scenario().training)
                                            ? "a data set and cached logits"
                                            : "a data set",
                                        data.si() / kTerabyte)
                          : "",
            needed.si() / kTerabyte,
            checkpoint.keep > 1 ? "lower run.checkpoint.keep" : "give the storage more capacity",
            archived > 0 ? " or archive less often" : "",
            workload::reads_logits(checked.scenario().training)
                ? " or store fewer logits a token (training.distillation.top_k)"
                : ""));
  }
  check_near_capacity(checked, layout);
  check_host_buffer(checked, layout);
}

void set_saves(const training::CheckedScenario& checked,
               const storage::ShardLayout& layout,
               JobModel& job) {
  const auto& scenario = checked.scenario();
  const auto& spec = scenario.run.checkpoint;
  const auto node = training::weakest_node(scenario.cluster);
  const auto host = node.gpu.host_bandwidth;
  const auto times = storage::checkpoint_times(layout, spec, *scenario.cluster.storage, host);
  job.stall = times.stall;
  job.persist = times.persist;
  job.fixed_cost = std::min(spec.fixed_cost, times.stall);  // a measured stall has it in it
  job.storage_every = spec.every;
  job.unreadable = spec.unreadable;
  job.keep = spec.keep;
  job.archive = spec.archive.value_or(Seconds(0));
  bool snapshots = true;
  for (const auto& level : spec.levels) {
    const auto near =
        storage::near_times(layout, spec, level, host,
                            node.nic.bandwidth * static_cast<double>(node.nic.count), snapshots);
    const Reach survives = level.place == storage::NearPlace::peer ? Reach::node : Reach::process;
    job.near.push_back(
        {words_of(level.place), survives, level.every, near.stall, near.persist, near.load});
    snapshots = false;
  }
  if (!spec.levels.empty() && !spec.stall) {
    // The nearest level paid the fixed cost and took the snapshot; what is left of a synchronous
    // save is the writing.
    const Seconds snapshot = storage::snapshot_stall(layout, spec, host);
    job.stall = std::max(Seconds(0), job.stall - snapshot);
  }
}

void set_slow_drives(const training::CheckedScenario& checked,
                     const storage::ShardLayout& layout,
                     JobModel& job) {
  const auto& scenario = checked.scenario();
  const auto& spec = scenario.run.checkpoint;
  const Seconds healthy = storage::persist_time(layout, spec, *scenario.cluster.storage);
  for (std::uint32_t h = 0; h < job.hazards.size(); ++h) {
    const auto& hazard = job.hazards[h];
    if (hazard.effect != failures::Effect::slow_drive) {
      continue;
    }
    DriveTimes drive{h, job.stall, job.persist, {}, {}};
    for (std::size_t l = 0; l < job.near.size(); ++l) {
      const bool nvme = spec.levels[l].place == storage::NearPlace::nvme;
      drive.near_stall.push_back(job.near[l].stall);
      drive.near_persist.push_back(nvme ? job.near[l].persist / hazard.keeps : job.near[l].persist);
    }
    // A save to storage passes a drive only where the scenario says so.
    const Seconds slow =
        spec.via_drives
            ? storage::persist_time_slow_node(layout, spec, *scenario.cluster.storage, hazard.keeps)
            : healthy;
    const bool synchronous = spec.mode == storage::CheckpointMode::synchronous;
    (synchronous ? drive.stall : drive.persist) += slow - healthy;
    job.slow_drives.push_back(drive);
  }
}

}  // namespace headway::campaign

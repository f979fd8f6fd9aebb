#include "sim/campaign/resolve.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/workload/closed_form.h"

namespace headway::campaign {

using core::Seconds;

namespace {

constexpr double kTerabyte = 1e12;

void check_capacity(const training::CheckedScenario& checked, double parameters) {
  const auto& checkpoint = checked.scenario().run.checkpoint;
  const auto& storage = checked.scenario().cluster.storage;
  const core::Bytes needed = storage::needed_capacity(parameters, checkpoint);
  if (needed > storage.capacity) {
    throw core::Error(
        fmt::format("storage '{}' holds {:.4g} TB, but {} checkpoints of {:.4g} TB and the one "
                    "being written need "
                    "{:.4g} TB; lower run.checkpoint.keep",
                    storage.name, storage.capacity.si() / kTerabyte, checkpoint.keep,
                    storage::checkpoint_bytes(parameters, checkpoint).si() / kTerabyte,
                    needed.si() / kTerabyte));
  }
}

JobRecovery recovery_of(const failures::RecoverySpec& spec, std::int64_t gpus, Seconds load) {
  return {.detection = spec.detection,
          .diagnosis = spec.diagnosis,
          .replacement = spec.replacement,
          .start = spec.container_start + spec.communicator_start +
                   static_cast<double>(gpus) * spec.communicator_start_per_rank,
          .load = load,
          .warm_up = spec.warm_up,
          .repair = spec.repair};
}

JobEnd end_of(const training::UntilSpec& until, double tokens_per_step, Seconds step) {
  if (until.wall) {
    return {.work = {}, .wall = *until.wall};
  }
  // The last step is a whole one.
  const double steps = until.steps ? static_cast<double>(*until.steps)
                                   : std::ceil(*until.tokens / tokens_per_step * (1 - 1e-12));
  return {.work = steps * step, .wall = {}};
}

/// Sets the interval, and says how `auto` was understood.
void choose_interval(const storage::CheckpointSpec& spec, ResolvedJob& resolved) {
  JobModel& job = resolved.job;
  if (spec.interval_steps) {
    job.whole_steps = true;
    job.interval = static_cast<double>(*spec.interval_steps) * job.step;
    return;
  }
  if (!spec.interval.is_auto()) {
    job.interval = *spec.interval.value;
    return;
  }
  const Seconds mu = mean_time_between_failures(job);
  if (mu.si() == 0) {
    resolved.assumptions.push_back({"run.checkpoint.interval", "one save, at the end",
                                    "auto: nothing fails, so saves in between cost time only"});
    return;
  }
  // A save cannot come more often than a step ends.
  job.interval = std::max(optimal_interval(job.stall, mu, job.persist), job.step);
  resolved.assumptions.push_back({"run.checkpoint.interval",
                                  fmt::format("{:.4g} s", job.interval.si()),
                                  "auto: the optimum for this failure rate and stall (exact, "
                                  "Lambert W), no shorter than a step "
                                  "and than the time a save takes to become durable"});
}

void assume_times(const storage::CheckpointSpec& spec, ResolvedJob& resolved) {
  const JobModel& job = resolved.job;
  const auto computed = [&](bool given, const char* key, Seconds value, const char* why) {
    if (!given) {
      resolved.assumptions.push_back({key, fmt::format("{:.4g} s", value.si()), why});
    }
  };
  const bool synchronous = spec.mode == storage::CheckpointMode::synchronous;
  computed(spec.stall.has_value(), "run.checkpoint.stall", job.stall,
           synchronous ? "computed: copy to the host and write to storage, training waits for both"
                       : "computed: equal shares of all GPUs, copied to the host");
  if (!synchronous) {
    computed(spec.persist.has_value(), "run.checkpoint.persist", job.persist,
             "computed: all nodes write equal shares, bound by clients or servers");
  }
  if (!job.hazards.empty()) {
    computed(spec.load.has_value(), "run.checkpoint.load", job.recovery.load,
             "computed: all nodes read what their GPUs hold, replicas read the same bytes again");
  }
}

void assume_recovery(const failures::RecoverySpec& spec, ResolvedJob& resolved) {
  const JobModel& job = resolved.job;
  if (job.hazards.empty()) {
    return;
  }
  if (spec == failures::RecoverySpec{}) {
    resolved.assumptions.push_back(
        {"run.recovery",
         fmt::format(
             "detection {:.4g} s, diagnosis {:.4g} s, replacement {:.4g} s, start {:.4g} s, "
             "warm-up {:.4g} s, repair {:.4g} h",
             spec.detection.si(), spec.diagnosis.si(), spec.replacement.si(),
             job.recovery.start.si(), spec.warm_up.si(), spec.repair.si() / 3600),
         "not given: the program's defaults, typical of automated operation"});
  }
  resolved.assumptions.push_back(
      {"campaign.exposure", "while the job runs or restarts",
       "nothing fails while a failure is being detected, diagnosed and replaced"});
}

void warn(const training::CheckedScenario& checked, ResolvedJob& resolved) {
  const JobModel& job = resolved.job;
  const Seconds made = effective_interval(job);
  if (job.interval.si() > 0 && made > job.interval * 1.5) {
    resolved.warnings.push_back(fmt::format(
        "a save takes {:.4g} s to become durable, longer than the interval of {:.4g} s: only one "
        "every {:.4g} s is made",
        job.persist.si(), job.interval.si(), made.si()));
  }
  const bool loses_nodes = std::any_of(job.hazards.begin(), job.hazards.end(),
                                       [](const auto& hazard) { return hazard.nodes_lost > 0; });
  if (loses_nodes && job.spare_nodes == 0) {
    resolved.warnings.push_back(
        fmt::format("cluster.spares is 0: after each lost node the job waits for its repair, "
                    "{:.4g} h on average",
                    checked.scenario().run.recovery.repair.si() / 3600));
  }
}

}  // namespace

storage::ShardLayout shard_layout(const training::CheckedScenario& checked) {
  const auto& scenario = checked.scenario();
  const auto& parallelism = scenario.parallelism;
  const auto parameters = workload::count_parameters(scenario.model);
  const std::int64_t model_ranks = std::int64_t{parallelism.tensor} * parallelism.pipeline;
  // With zero3 no two ranks hold the same bytes.
  const bool whole = parallelism.sharding == workload::Sharding::zero3;
  return {.parameters = parameters.total() + parameters.prediction,
          .gpus = checked.gpus(),
          .gpus_per_node = scenario.cluster.node.gpus,
          .replicas = whole ? 1 : checked.gpus() / model_ranks,
          .optimizer_sharded = parallelism.sharding != workload::Sharding::zero0};
}

ResolvedJob resolve_job(const training::CheckedScenario& checked,
                        const training::StepResult& step) {
  const auto& scenario = checked.scenario();
  const auto& run = scenario.run;
  HEADWAY_CHECK(run.until.has_value(), "a campaign needs run.until");
  const storage::ShardLayout layout = shard_layout(checked);
  check_capacity(checked, layout.parameters);
  const auto times = storage::checkpoint_times(layout, run.checkpoint, scenario.cluster.storage,
                                               scenario.cluster.node.gpu.host_bandwidth);
  ResolvedJob resolved;
  resolved.checkpoint_bytes = storage::checkpoint_bytes(layout.parameters, run.checkpoint);
  JobModel& job = resolved.job;
  job.gpus = checked.gpus();
  job.gpus_per_node = scenario.cluster.node.gpus;
  job.spare_nodes = scenario.cluster.spares;
  job.end = end_of(*run.until, checked.tokens_per_step(), step.time);
  job.step = step.time;
  job.stall = times.stall;
  job.persist = times.persist;
  job.recovery = recovery_of(run.recovery, checked.gpus(), times.load);
  job.seed = static_cast<std::uint64_t>(run.seed);
  if (run.failures) {
    job.hazards = failures::hazards_of(*run.failures, {checked.gpus(), scenario.cluster.nodes},
                                       scenario.cluster.spares);
  }
  if (run.failures && run.failures->maintenance) {
    job.maintenance = run.failures->maintenance;
    if (job.maintenance->lasts >= job.maintenance->every) {
      throw core::Error("run.failures.maintenance: it lasts longer than from one to the next");
    }
  }
  choose_interval(run.checkpoint, resolved);
  assume_times(run.checkpoint, resolved);
  assume_recovery(run.recovery, resolved);
  warn(checked, resolved);
  return resolved;
}

}  // namespace headway::campaign

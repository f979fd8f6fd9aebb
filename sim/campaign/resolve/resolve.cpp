#include "sim/campaign/resolve/resolve.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/campaign/job/optimum.h"
#include "sim/campaign/limits.h"
#include "sim/campaign/resolve/resolve_unequal.h"
#include "sim/campaign/run_input.h"
#include "sim/campaign/saves/resolve_saves.h"
#include "sim/campaign/saves/simulated_saves.h"
#include "sim/core/error.h"
#include "sim/failures/closed_form.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/layout.h"
#include "sim/workload/trained/trained_parameters.h"

namespace headway::campaign {

using namespace core::literals;
using core::Seconds;

namespace {

JobRecovery recovery_of(const training::CheckedScenario& checked,
                        const storage::ShardLayout& layout) {
  const auto& checkpoint = checked.scenario().run.checkpoint;
  JobRecovery recovery{checked.scenario().run.recovery};
  recovery.communicators = recovery.communicator_start + static_cast<double>(checked.gpus()) *
                                                             recovery.communicator_start_per_rank;
  recovery.load = checkpoint.load.value_or(
      storage::load_time(layout, checkpoint, *checked.scenario().cluster.storage));
  if (recovery.state_from == failures::StateSource::peers) {
    recovery.peer_load = recovery.peer_load.value_or(
        storage::peer_load_time(layout, checkpoint, node_network(checked)));
  } else {
    recovery.peer_load.reset();
  }
  return recovery;
}

int sites_of(const training::Scenario& scenario) {
  return scenario.cluster.sites ? scenario.cluster.sites->count : 1;
}

/// The hazards of the table, with what is evicted, and the false alarms of the straggler monitor.
std::vector<failures::Hazard> hazards_of(const training::CheckedScenario& checked) {
  const auto& scenario = checked.scenario();
  const auto& recovery = scenario.run.recovery;
  auto hazards = failures::hazards_of(*scenario.run.failures,
                                      {checked.gpus(), scenario.cluster.nodes, sites_of(scenario)},
                                      training::spare_nodes(scenario));
  const auto& detectors = recovery.detectors;
  if (detectors && detectors->straggler_monitor &&
      detectors->straggler_monitor->false_alarm_every) {
    failures::Hazard alarm;
    alarm.name = "false alarms of the straggler monitor";
    alarm.effect = failures::Effect::false_alarm;
    alarm.rate = 1.0 / *detectors->straggler_monitor->false_alarm_every;
    hazards.push_back(alarm);
  }
  if (recovery.migration && recovery.migration->false_alarm_every) {
    failures::Hazard alarm;
    alarm.name = "healthy nodes left for a fault that was foreseen";
    alarm.effect = failures::Effect::false_alarm;
    alarm.rate = 1.0 / *recovery.migration->false_alarm_every;
    alarm.foreseen = 1;
    hazards.push_back(alarm);
  }
  for (auto& hazard : hazards) {
    hazard.evicted = recovery.eviction == failures::Eviction::rack ? recovery.rack_nodes : 1;
    if (recovery.eviction == failures::Eviction::gpu && hazard.nodes_lost == 1 &&
        (hazard.component == failures::ComponentClass::gpu ||
         hazard.component == failures::ComponentClass::gpu_memory)) {
      hazard.nodes_lost = 0;
      hazard.swapped = true;
    }
    if (recovery.migration && stops_job(hazard) && moves_away(hazard)) {
      hazard.foreseen = recovery.migration->foreseen;
    }
  }
  return hazards;
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

/// What a fault-tolerance scheme adds to each step. Over hosts, every GPU sends and receives its
/// part of the gradients as in a ring of the R replicas:
///     coordination + 2 (R - 1) / R  parameters / (GPUs of a replica)  bytes / bandwidth
/// which nothing hides; what the simulated exchange takes beside the backward pass is left in.
Seconds step_tax(const training::CheckedScenario& checked, const storage::ShardLayout& layout) {
  const auto& tax = checked.scenario().run.recovery.step_tax;
  if (!tax) {
    return Seconds(0);
  }
  Seconds time = tax->coordination;
  if (tax->exchange_bandwidth) {
    const auto replicas = static_cast<double>(layout.replicas);
    const core::Bytes gradients(layout.parameters * replicas / static_cast<double>(checked.gpus()) *
                                checked.scenario().training.framework.reduce_bytes);
    time += 2 * (replicas - 1) / replicas * gradients / *tax->exchange_bandwidth;
  }
  return time;
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
    job.interval = std::max(*spec.interval.value, job.step);
    if (*spec.interval.value < job.step) {
      resolved.warnings.push_back(fmt::format(
          "run.checkpoint.interval is {:.4g} s, shorter than a step of {:.4g} s; no save comes "
          "within a step, so one comes after each",
          spec.interval.value->si(), job.step.si()));
    }
    return;
  }
  job.interval = best_interval(job);
  if (job.interval.si() == 0 || job.interval == length_of(job.end)) {
    resolved.assumptions.push_back(
        {"run.checkpoint.interval", "one save, at the end",
         fmt::format(
             "auto: {}, so saves in between cost time only",
             job.hazards.empty() ? "nothing fails" : "the job goes back to a save too seldom")});
    return;
  }
  resolved.assumptions.push_back(
      {"run.checkpoint.interval", fmt::format("{:.4g} s", job.interval.si()),
       fmt::format("auto: the optimum for the rate at which the job goes back to a save and what "
                   "saves cost ({}), no shorter than a step, than the fixed cost of a save and "
                   "than the time it takes to become durable",
                   job.near.empty() && job.unreadable == 0 ? "exact, Lambert W" : "first order")});
}

void assume_times(const training::Scenario& scenario, ResolvedJob& resolved) {
  const auto& spec = scenario.run.checkpoint;
  const JobModel& job = resolved.job;
  const bool shared = training::on_compute_fabric(scenario.cluster);
  const auto computed = [&](bool given, const char* key, Seconds value, const char* why) {
    if (!given) {
      resolved.assumptions.push_back(
          {key, fmt::format("{:.4g} s", value.si()),
           fmt::format("{}: {}", shared ? "simulated as flows on the training fabric" : "computed",
                       why)});
    }
  };
  const bool synchronous = spec.mode == storage::CheckpointMode::synchronous;
  computed(spec.stall.has_value(), "run.checkpoint.stall", job.stall,
           synchronous
               ? "its fixed cost, copy to the host and write to storage, training waits for all"
               : "its fixed cost and equal shares of all GPUs, copied to the host");
  if (!spec.stall && spec.fixed_cost == storage::CheckpointSpec{}.fixed_cost) {
    resolved.assumptions.push_back(
        {"run.checkpoint.fixed_cost", fmt::format("{:.4g} s", spec.fixed_cost.si()),
         "in the stall of each save, whatever its size: plan, metadata, files, barrier; the "
         "program's default"});
  }
  if (!synchronous) {
    computed(spec.persist.has_value(), "run.checkpoint.persist", job.persist,
             "all nodes write equal shares, bound by clients or servers");
  }
  if (!job.hazards.empty()) {
    computed(spec.load.has_value(), "run.checkpoint.load", job.recovery.load,
             "all nodes read what their GPUs hold, replicas read the same bytes again");
  }
}

void assume_tax(const failures::RecoverySpec& spec, ResolvedJob& resolved) {
  if (spec.step_tax) {
    resolved.assumptions.push_back(
        {"run.recovery.step_tax", fmt::format("{:.4g} s a step", resolved.job.tax.si()),
         spec.step_tax->exchange_bandwidth
             ? "coordination, and a ring of the replicas through hosts at exchange_bandwidth that "
               "nothing hides; the step's own exchange is not taken off"
             : "coordination only"});
  }
}

/// How often a failure finds no warm standby, by Erlang's loss formula: a place among the warm is
/// taken until the next spare has warmed up.
void assume_standby(const failures::StandbySpec& standby, ResolvedJob& resolved) {
  core::PerSecond rate;
  for (const auto& hazard : resolved.job.hazards) {
    rate += stops_job(hazard) && hazard.nodes_lost > 0 ? hazard.rate : core::PerSecond(0);
  }
  const double cold = failures::erlang_b(rate * standby.warming, standby.nodes);
  resolved.assumptions.push_back(
      {"run.recovery.standby", fmt::format("{} warm", standby.nodes),
       fmt::format("processes run, no state is loaded: whose place a standby takes is not known "
                   "before; {:.2g} % of the failures of nodes find none that is warm, if each "
                   "loses one node and cold spares never lack (Erlang's loss formula)",
                   100 * cold)});
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
             (job.recovery.container_start + job.recovery.communicators).si(), spec.warm_up.si(),
             spec.repair / 1_h),
         "not given: the program's defaults, typical of automated operation"});
  }
  if (spec.migration) {
    resolved.assumptions.push_back(
        {"run.recovery.migration", fmt::format("{:.4g} s", spec.migration->stall.si()),
         "all ranks stand so long after the alarm, only the step under way is lost; the right part "
         "is always left; without a ready spare the job restarts"});
  }
  if (spec.standby) {
    assume_standby(*spec.standby, resolved);
  }
  resolved.assumptions.push_back(
      {"campaign.exposure", "while the job runs or restarts",
       "nothing fails while a failure is being detected, diagnosed and replaced"});
}

/// Ways that are cut or slow are well again after a time that is drawn.
void assume_lasts(ResolvedJob& resolved) {
  for (const auto& hazard : resolved.job.hazards) {
    if (failures::is_of_a_way(hazard.effect) && hazard.lasts) {
      resolved.assumptions.push_back(
          {fmt::format("run.failures.{}.lasts", hazard.name), "an exponential time",
           fmt::format("of {:.4g} min in the mean, drawn anew for each: most are shorter, a few "
                       "much longer",
                       hazard.lasts->si() / (1_min).si())});
    }
  }
}

/// What a job does while a site has no way to the others.
void set_sites(const training::CheckedScenario& checked, ResolvedJob& resolved) {
  const auto& scenario = checked.scenario();
  JobModel& job = resolved.job;
  job.sites = sites_of(scenario);
  if (const auto& local = scenario.training.local_steps; local && scenario.cluster.sites) {
    job.exchange_every = job.step * (static_cast<double>(local->steps) / local->fragments);
    job.exchange_beside = job.step * static_cast<double>(local->overlap_steps);
  }
  const auto cut = [](const auto& hazard) { return hazard.effect == failures::Effect::cut_site; };
  if (std::any_of(job.hazards.begin(), job.hazards.end(), cut)) {
    resolved.assumptions.push_back(
        {"campaign.cut_site",
         job.exchange_every.si() > 0 ? "felt at the next exchange" : "felt in the step under way",
         fmt::format("all stand until the way is back; if that outlasts the detection of a hang, "
                     "the job {}",
                     job.recovery.elastic
                         ? "goes on without the replicas of that site, which join again later"
                         : "ends, waits for the way and restarts from its last save")});
  }
  assume_lasts(resolved);
}

void assume_slow_parts(const storage::CheckpointSpec& checkpoint,
                       const failures::RecoverySpec& spec,
                       ResolvedJob& resolved) {
  const auto slows = [](const auto& hazard) { return failures::is_slow(hazard.effect); };
  const auto& hazards = resolved.job.hazards;
  if (std::any_of(hazards.begin(), hazards.end(), slows)) {
    resolved.assumptions.push_back(
        {"campaign.slow_parts", "simulated alone and in pairs",
         "places in one pipeline stage are alike, in a pair also those where a part alone slows "
         "the "
         "step by equally much; a part that alone costs less than 0.01 % is left out of pairs; of "
         "three and more the slowest pair decides"});
  }
  const auto& d = spec.detectors;
  for (const auto& hazard : hazards) {
    const bool drive = hazard.effect == failures::Effect::slow_drive;
    if (drive && !saves_pass_drives(checkpoint)) {
      resolved.warnings.push_back(
          fmt::format("no save passes a drive, so hazard '{}' slows nothing; add a level 'nvme' to "
                      "run.checkpoint.levels, or set run.checkpoint.via_drives",
                      hazard.name));
    }
    const bool found = !d || d->health_check || (d->straggler_monitor && !drive);
    if (slows(hazard) && !found && !hazard.lasts) {
      resolved.warnings.push_back(
          fmt::format("nobody ever notices hazard '{}', and it does not end by itself; add a "
                      "health_check{} to run.recovery.detectors",
                      hazard.name, drive ? "" : " or a straggler_monitor"));
    }
  }
}

/// How many new parts a burn-in lets pass, and how many of those are defective all the same.
void assume_burn_in(const failures::FailureSpec& table, ResolvedJob& resolved) {
  for (const auto& hazard : table.hazards) {
    if (hazard.law.kind != failures::LawKind::defects || !hazard.mtbf) {
      continue;
    }
    const double defective = hazard.law.defective;
    resolved.assumptions.push_back(
        {fmt::format("run.failures.{}.burn_in", hazard.name),
         fmt::format("yield {:.4g} %",
                     100 * failures::burn_in_yield(defective, *hazard.mtbf, hazard.age)),
         fmt::format("{:.3g} h lie behind the parts: of those that passed {:.3g} % are defective, "
                     "of new ones {:.3g} %",
                     hazard.age / 1_h,
                     100 * failures::infant_hazard_left(defective, *hazard.mtbf, hazard.age),
                     100 * defective)});
  }
}

/// Failures that make all saves useless which are kept lead back to the archive, or to the start.
void warn_of_old_saves(const JobModel& job, ResolvedJob& resolved) {
  const char* const to = job.archive.si() > 0 ? "the archive" : "the start of the run";
  const char* const remedy = job.archive.si() > 0
                                 ? "raise run.checkpoint.keep"
                                 : "raise run.checkpoint.keep or set run.checkpoint.archive";
  const Seconds kept = static_cast<double>(job.keep) * effective_interval(job);
  for (const auto& hazard : job.hazards) {
    if (job.keep > 0 && kept.si() > 0 && hazard.latent && *hazard.latent > kept) {
      resolved.warnings.push_back(fmt::format(
          "hazard '{}' goes unnoticed for {:.3g} h, but the {} saves kept reach back {:.3g} h: "
          "each of its failures leads back to {}; {}",
          hazard.name, *hazard.latent / 1_h, job.keep, kept / 1_h, to, remedy));
    }
  }
  constexpr double kRare = 1e-3;  // Source: chosen
  if (const double all = std::pow(job.unreadable, job.keep); job.keep > 0 && all > kRare) {
    resolved.warnings.push_back(fmt::format(
        "{:.2g} % of the restarts find none of the {} saves kept readable and go back to {}; {}",
        100 * all, job.keep, to, remedy));
  }
}

void warn(const training::CheckedScenario& checked, ResolvedJob& resolved) {
  const JobModel& job = resolved.job;
  const Seconds made = effective_interval(job);
  const Seconds asked = static_cast<double>(job.storage_every) * job.interval;
  if (asked.si() > 0 && made > asked * 1.5) {
    resolved.warnings.push_back(fmt::format(
        "a save takes {:.4g} s to become durable, longer than the interval of {:.4g} s: only one "
        "every {:.4g} s is made",
        job.persist.si(), asked.si(), made.si()));
  }
  warn_of_old_saves(job, resolved);
  for (const auto& hazard : job.hazards) {
    const std::int64_t nodes = job.gpus / job.gpus_per_node;
    if (hazard.nodes_lost > std::max<std::int64_t>(1, nodes)) {
      resolved.warnings.push_back(
          fmt::format("hazard '{}' takes {} nodes at once, the job has {}: it takes them all",
                      hazard.name, hazard.nodes_lost, nodes));
    }
  }
  const bool loses_nodes = std::any_of(job.hazards.begin(), job.hazards.end(),
                                       [](const auto& hazard) { return hazard.nodes_lost > 0; });
  if (loses_nodes && job.spare_nodes == 0 && !job.recovery.elastic) {
    resolved.warnings.push_back(
        fmt::format("cluster.spares is 0: after each lost node the job waits for its repair, "
                    "{:.4g} h on average",
                    checked.scenario().run.recovery.repair / 1_h));
  }
}

}  // namespace

storage::ShardLayout shard_layout(const training::CheckedScenario& checked) {
  const auto& scenario = checked.scenario();
  const auto& parallelism = scenario.parallelism;
  // With zero3 no two ranks hold the same bytes, with hsdp no two of one group. A rank of a
  // bidirectional schedule holds two stages.
  std::int64_t ranks_of_a_copy = std::int64_t{parallelism.tensor} * parallelism.pipeline /
                                 workload::copies_of_layers(parallelism);
  if (parallelism.sharding == workload::Sharding::zero3) {
    ranks_of_a_copy = checked.gpus();
  } else if (parallelism.sharding == workload::Sharding::hsdp) {
    ranks_of_a_copy *= std::max(1, parallelism.shard_group_size);
  }
  return {.parameters = workload::trained_parameters(scenario.model),
          .gpus = checked.gpus(),
          .gpus_per_node = scenario.cluster.node.gpus,
          .replicas = checked.gpus() / ranks_of_a_copy,
          .optimizer_sharded = parallelism.sharding != workload::Sharding::zero0 &&
                               parallelism.sharding != workload::Sharding::hsdp};
}

core::BytesPerSecond node_network(const training::CheckedScenario& checked) {
  const auto nic = training::weakest_node(checked.scenario().cluster).nic;
  return nic.bandwidth * static_cast<double>(nic.count);
}

namespace {

/// Where the storage hangs on the training fabric, its closed form is replaced by flows.
void simulate_input(StepSource& source,
                    const RunInput& input,
                    Seconds healthy,
                    storage::FeedTimes& feed) {
  const core::Bytes step = source.checked().tokens_per_step() * input.data.bytes_per_token;
  feed.later = simulated_feed(source, (1 - feed.cached) * step, input.shares, healthy);
  feed.first_pass = feed.first_share > 0 && feed.cached > 0
                        ? simulated_feed(source, step, input.shares, healthy)
                        : feed.later;
  feed.mean = storage::mean_of_passes(feed, feed.first_pass, feed.later);
}

/// How much of it is read and stored.
void tell_logits(const RunInput& input, ResolvedJob& resolved) {
  constexpr double kTerabyte = 1e12, kGigabyte = 1e9;  // Source: SI
  resolved.logits_bytes = input.logits;
  resolved.assumptions.push_back(
      {"training.distillation.cached",
       fmt::format("{:.4g} TB in storage, {:.4g} GB/s read with the data",
                   input.logits.si() / kTerabyte, resolved.input_rate.si() / kGigabyte),
       "logits of each token once; read by the nodes that compute the loss, the busiest of which "
       "takes " +
           fmt::format("{:.4g} times the mean of all nodes", input.busiest)});
}

void set_input(StepSource& source, const training::StepResult& step, ResolvedJob& resolved) {
  const training::CheckedScenario& checked = source.checked();
  const auto& scenario = checked.scenario();
  const double tokens = tokens_read(checked, step.time);
  const auto input = run_input(checked, tokens);
  if (!input) {
    return;
  }
  const auto& data = input->data;
  const double tokens_per_s = checked.tokens_per_step() / step.time.si();
  resolved.input_bytes = data.islands * input->stored;
  resolved.input_rate = core::BytesPerSecond(tokens_per_s * data.bytes_per_token.si());
  if (input->logits.si() > 0) {
    tell_logits(*input, resolved);
  }
  auto feed = storage::feed_times(data, *scenario.cluster.storage, scenario.cluster.nodes,
                                  tokens_per_s, tokens, input->busiest);
  feed.staging = feed.staging / input->repeats;
  feed.restaging = feed.restaging / input->repeats;
  const bool shared = training::on_compute_fabric(scenario.cluster);
  if (shared) {
    simulate_input(source, *input, step.time, feed);
    resolved.assumptions.push_back(
        {"run.data.traffic", fmt::format("{:.4g} x the step", feed.mean),
         "simulated as flows on the training fabric: the input of one step is read beside it"});
  }
  JobModel& job = resolved.job;
  job.starved = feed.mean;
  job.staging = feed.staging;
  job.recovery.refill = data.refill_cache ? feed.refill : Seconds(0);
  job.recovery.moves = data.restart_moves;
  job.recovery.restaging = feed.restaging;
  if (feed.mean > 1.001) {
    resolved.warnings.push_back(fmt::format(
        "{}: a step takes {:.4g} times as long in the first pass over the data and {:.4g} times "
        "later; more read bandwidth{} or a larger cache would help",
        shared ? "reading the data slows the job" : "the storage does not feed the job",
        feed.first_pass, feed.later, shared ? ", storage on a fabric of its own" : ""));
  }
}

void set_failures(const training::CheckedScenario& checked, JobModel& job) {
  const auto& run = checked.scenario().run;
  if (!run.failures) {
    return;
  }
  job.hazards = hazards_of(checked);
  job.maintenance = run.failures->maintenance;
  job.throttling = run.failures->throttling;
}

}  // namespace

ResolvedJob resolve_job(StepSource& source, const training::StepResult& step) {
  const training::CheckedScenario& checked = source.checked();
  const auto& scenario = checked.scenario();
  const auto& run = scenario.run;
  HEADWAY_CHECK(run.until.has_value(), "a campaign needs run.until");
  const storage::ShardLayout layout = shard_layout(checked);
  ResolvedJob resolved;
  resolved.checkpoint_bytes = storage::checkpoint_bytes(layout.parameters, run.checkpoint);
  resolved.restart_bytes =
      static_cast<double>(scenario.cluster.nodes) * storage::read_per_node(layout, run.checkpoint);
  JobModel& job = resolved.job;
  job.gpus = checked.gpus();
  job.gpus_per_node = scenario.cluster.node.gpus;
  job.spare_nodes = training::spare_nodes(scenario);
  NodePlaces places = node_places(checked);
  job.class_of_node = std::move(places.position);
  job.replica_of_node = std::move(places.replica);
  job.place_of_node = std::move(places.place);
  job.replicas = places.replicas;
  job.end = end_of(*run.until, checked.tokens_per_step(), step.time);
  check_length(checked, job.end);
  const auto input = run_input(checked, tokens_read(checked, step.time));
  job.step = step.time;
  job.tax = step_tax(checked, layout);
  job.seed = static_cast<std::uint64_t>(run.seed);
  set_saves(checked, layout, job);
  job.recovery = recovery_of(checked, layout);
  set_failures(checked, job);
  set_sites(checked, resolved);
  set_unequal(checked, layout, step.time, resolved);
  set_slow_drives(checked, layout, job);
  simulate_saves(source, layout, step.time, resolved);
  set_input(source, step, resolved);
  check_times(checked, job);
  choose_interval(run.checkpoint, resolved);
  check_capacity(checked, layout, job, input ? input->stored : core::Bytes(0));
  assume_times(scenario, resolved);
  assume_recovery(run.recovery, resolved);
  assume_tax(run.recovery, resolved);
  assume_slow_parts(run.checkpoint, run.recovery, resolved);
  if (run.failures) {
    assume_burn_in(*run.failures, resolved);
  }
  warn(checked, resolved);
  return resolved;
}

ResolvedJob resolve_job(const training::CheckedScenario& checked,
                        const training::StepResult& step) {
  StepSource source(checked);
  return resolve_job(source, step);
}

}  // namespace headway::campaign

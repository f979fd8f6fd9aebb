#include "sim/campaign/limits.h"

#include <fmt/format.h>

#include "sim/core/durations.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Seconds;

namespace {

constexpr double kYear = 365.25 * 86400;

/// Complaints at the fields they are about.
class Limits {
 public:
  explicit Limits(const training::CheckedScenario& checked) : checked_(checked) {}

  void add(std::string_view path, std::string message) {
    list_.add(checked_.mark(path), std::move(message));
  }

  void transfer(std::string_view path, const char* what, Seconds takes, const char* remedy) {
    if (!(takes <= kLongestTransfer)) {
      add(path, fmt::format("{} would take {:.3g} years; {}", what, takes.si() / kYear, remedy));
    }
  }

  void throw_if_any() { list_.throw_if_any(); }

 private:
  const training::CheckedScenario& checked_;
  core::Diagnostics list_;
};

void check_saves(const storage::CheckpointSpec& spec, const JobModel& job, Limits& limits) {
  const bool measured = spec.stall || spec.persist;
  limits.transfer(measured ? "run.checkpoint.persist" : "cluster.storage.write_bandwidth", "a save",
                  job.stall + job.persist,
                  measured ? "correct the measured time"
                           : "give the storage more write bandwidth, or its measured time");
  limits.transfer(spec.load ? "run.checkpoint.load" : "cluster.storage.read_bandwidth",
                  "loading a checkpoint", job.recovery.load,
                  spec.load ? "correct the measured time"
                            : "give the storage more read bandwidth, or run.checkpoint.load");
  for (const auto& near : job.near) {
    limits.transfer("run.checkpoint.levels", "a save to a near level", near.stall + near.persist,
                    "give the level more write_bandwidth");
    limits.transfer("run.checkpoint.levels", "loading from a near level", near.load,
                    "give the level more read_bandwidth");
  }
  for (const auto& drive : job.slow_drives) {
    limits.transfer("run.failures.hazards", "a save while a drive is slow",
                    drive.stall + drive.persist, "raise 'keeps' of the hazard");
  }
}

void check_restart(const JobModel& job, Limits& limits) {
  const auto& recovery = job.recovery;
  const bool fixed = 2 * recovery.communicator_start > recovery.communicators;
  limits.transfer(
      fixed ? "run.recovery.communicator_start" : "run.recovery.communicator_start_per_rank",
      "starting the communicators", recovery.communicators, "lower it");
  limits.transfer("cluster.node.nic.bandwidth", "copying state from peers",
                  recovery.peer_load.value_or(Seconds(0)), "give run.recovery.peer_load");
}

void check_input(const training::Scenario& s, const JobModel& job, Limits& limits) {
  const char* const staging = "run.data.staging_bandwidth";
  const char* const remedy = "raise it, or set run.data.stage_at_start to false";
  limits.transfer(staging, "staging the data set", job.staging, remedy);
  limits.transfer(staging, "staging the data set anew", job.recovery.restaging, remedy);
  limits.transfer("cluster.storage.read_bandwidth", "filling the cache of a spare",
                  job.recovery.refill, "give the storage more read bandwidth");
  if (!(job.starved <= kMostStarved)) {
    const bool logits = workload::reads_logits(s.training);
    limits.add(logits ? "training.distillation.cached" : "run.data.bytes_per_token",
               fmt::format("the storage feeds the job so slowly that a step takes {:.3g} times as "
                           "long as without waiting; read fewer {}, or give the storage more read "
                           "bandwidth",
                           job.starved, logits ? "logits a token (top_k)" : "bytes a token"));
  }
}

/// How long the run lasts at least: what fault tolerance takes of each step is no work.
Seconds taxed_length(const JobModel& job) {
  const Seconds run = length_of(job.end);
  return job.end.work ? run + run / job.step * job.tax : run;
}

void check_tax(const JobModel& job, Limits& limits) {
  const Seconds run = taxed_length(job);
  if (!(run.si() <= core::kCentury)) {
    limits.add(
        "run.recovery.step_tax",
        fmt::format("with {:.3g} s more a step the run lasts {:.3g} years, and a campaign is "
                    "simulated for 100 at most; lower it",
                    job.tax.si(), run.si() / kYear));
  }
}

void check_strikes(const JobModel& job, Limits& limits) {
  core::PerSecond rate;
  for (const auto& hazard : job.hazards) {
    rate += hazard.rate;
  }
  const double strikes = rate * taxed_length(job);
  if (!(strikes <= kMostStrikes)) {
    limits.add("run.failures",
               fmt::format("something fails every {:.3g} s: {:.3g} times in the run, and a trial "
                           "simulates {:.0g} failures at most; give longer times between failures, "
                           "or a shorter run",
                           1 / rate.si(), strikes, kMostStrikes));
  }
}

/// Parts that get well by themselves, and how many of them are slow at once in the mean.
void check_slow_parts(const JobModel& job, Limits& limits) {
  for (const auto& hazard : job.hazards) {
    const double at_once = hazard.lasts ? hazard.rate * *hazard.lasts : 0;
    if (!(at_once <= kMostSlow)) {
      limits.add("run.failures",
                 fmt::format("{:.3g} parts are slow at once because of hazard '{}', and {:.0f} are "
                             "simulated at most; give it a longer mtbf, or let it last less",
                             at_once, hazard.name, kMostSlow));
    }
  }
}

}  // namespace

void check_length(const training::CheckedScenario& checked, const JobEnd& end) {
  const Seconds run = length_of(end);
  if (!(run.si() <= core::kCentury)) {
    training::refuse(
        checked, "run.until",
        fmt::format("the steps of the run alone last {:.3g} years, and a campaign is simulated for "
                    "100 at most; train on fewer tokens, or on a larger machine",
                    run.si() / kYear));
  }
}

void check_times(const training::CheckedScenario& checked, const JobModel& job) {
  Limits limits(checked);
  check_saves(checked.scenario().run.checkpoint, job, limits);
  check_restart(job, limits);
  check_input(checked.scenario(), job, limits);
  check_tax(job, limits);
  check_strikes(job, limits);
  check_slow_parts(job, limits);
  limits.throw_if_any();
}

}  // namespace headway::campaign

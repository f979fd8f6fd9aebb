#include "sim/campaign/trial.h"

#include <algorithm>
#include <numeric>

#include "sim/campaign/job/job_process.h"
#include "sim/core/engine/engine.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

TrialResult run_trial(const JobModel& model,
                      const JobTicks& ticks,
                      StepTimes& times,
                      std::uint32_t trial,
                      IncidentLog* log) {
  JobProcess job(model, ticks, times, trial, log);
  core::Engine engine;
  engine.add({"job", trial}, job);
  const core::RunSummary summary = engine.run();
  if (job.gave_up() == GaveUp::no_nodes) {
    throw HardlyEnds(
        "nodes are retired (run.recovery.retire_after, retire_score), none is left and none comes: "
        "retire later, hold more spares (cluster.spares), or let new nodes take their places "
        "(run.recovery.retired_back)");
  }
  if (job.gave_up() == GaveUp::too_long) {
    throw HardlyEnds(
        "100 years after it began it is not done, most of them without enough nodes or in "
        "restarts: give longer times between failures (run.failures), hold more spares "
        "(cluster.spares), repair or restart faster (run.recovery), or end the run by its wall "
        "clock (run.until.wall)");
  }
  if (job.gave_up()) {
    throw HardlyEnds(
        fmt::format("up for {} times its work, it is not done; failures, silent ones or planned "
                    "work come faster than saves become durable: save more often, keep more saves "
                    "or an archive, or end the run by its wall clock (run.until.wall)",
                    model.patience));
  }
  TrialResult result = job.take_result();
  result.events = summary.events;
  result.event_digest = summary.event_digest;
  // INVARIANT: every tick of the wall clock is in exactly one account, and none is negative.
  const Tick booked = std::accumulate(result.accounts.begin(), result.accounts.end(), Tick{0});
  HEADWAY_CHECK(booked == result.wall, "trial {}: accounts hold {} of {} ticks", trial, booked,
                result.wall);
  HEADWAY_CHECK(*std::min_element(result.accounts.begin(), result.accounts.end()) >= 0,
                "trial {}: an account is below zero", trial);
  HEADWAY_CHECK(ticks.wall > 0 || result[Account::useful] == ticks.work,
                "trial {}: {} of {} ticks of work are durable", trial, result[Account::useful],
                ticks.work);
  return result;
}

TrialResult run_trial(const JobModel& model,
                      const JobTicks& ticks,
                      std::uint32_t trial,
                      IncidentLog* log) {
  StepTimes times;
  return run_trial(model, ticks, times, trial, log);
}

}  // namespace headway::campaign

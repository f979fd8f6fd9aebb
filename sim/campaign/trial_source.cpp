#include "sim/campaign/trial_source.h"

#include "sim/campaign/slow/slow_parts.h"
#include "sim/campaign/trials.h"

namespace headway::campaign {

TrialSource::TrialSource(const training::CheckedScenario& checked, const training::StepResult& step)
    : checked_(checked),
      source_(checked),
      resolved_(resolve_job(source_, step)),
      slowness_(simulated_slowness(source_, step.time)) {}

KnownTrials TrialSource::run(std::size_t first,
                             std::size_t count,
                             int threads,
                             const Progress& progress) {
  // Of these trials alone, so that what they met does not depend on who ran before.
  StepTimes times([this](const ClusterState& state) { return remembered(state); },
                  circumstances(resolved_.job));
  times.prepare(slow_parts_of(resolved_.job), threads);
  try {
    KnownTrials known;
    known.trials = run_trials_from(resolved_.job, first, count, threads, times, progress);
    known.answers = times.answers();
    return known;
  } catch (const HardlyEnds& error) {
    throw core::Infeasible(
        {core::Diagnostic{checked_.mark("run.until"), error.diagnostics().front().message}});
  }
}

double TrialSource::remembered(const ClusterState& state) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(state); found != known_.end()) {
      return found->second;
    }
  }
  const double slowness = slowness_(state);
  const std::scoped_lock lock(mutex_);
  return known_.try_emplace(state, slowness).first->second;
}

}  // namespace headway::campaign

#include "sim/campaign/job.h"

#include <algorithm>

namespace headway::campaign {

using core::PerSecond;
using core::Seconds;

namespace {

PerSecond total_rate(const JobModel& job) {
  PerSecond total;
  for (const auto& hazard : job.hazards) {
    total += hazard.rate;
  }
  return total;
}

bool is_poisson(const failures::Hazard& hazard) {
  return !hazard.ageing && !hazard.lemons && !hazard.latent && hazard.recorded.empty();
}

/// One part whose law starts anew at each failure.
bool is_renewal(const JobModel& job) {
  if (job.hazards.size() != 1 || !job.hazards.front().ageing) {
    return false;
  }
  const auto& ageing = *job.hazards.front().ageing;
  return !job.hazards.front().latent && ageing.parts == 1 && ageing.age.si() == 0 &&
         ageing.after_failure == failures::AfterFailure::renewed;
}

}  // namespace

Seconds mean_time_between_failures(const JobModel& job) {
  return failures::mean_time_between(total_rate(job));
}

Seconds mean_downtime(const JobModel& job) {
  const PerSecond total = total_rate(job);
  if (total.si() <= 0) {
    return Seconds(0);
  }
  double weighted = 0;
  for (const auto& hazard : job.hazards) {
    Seconds down = job.recovery.detection + hazard.detection + job.recovery.diagnosis;
    if (hazard.nodes_lost > 0) {
      down += job.recovery.replacement;
    }
    weighted += hazard.rate * down;
  }
  return weighted / total;
}

Seconds effective_interval(const JobModel& job) {
  if (job.interval.si() <= 0) {
    return job.end.work ? *job.end.work : *job.end.wall;
  }
  return static_cast<double>(save_every(job.interval, job.stall, job.persist)) * job.interval;
}

Rhythm rhythm_of(const JobModel& job) {
  return {.work = effective_interval(job),
          .stall = job.stall,
          .persist = job.persist,
          .downtime = mean_downtime(job),
          .restart = job.recovery.restart(),
          .mean_time_between_failures = mean_time_between_failures(job)};
}

std::optional<double> exact_ettr(const JobModel& job) {
  if (job.maintenance) {
    return std::nullopt;
  }
  const Rhythm rhythm = rhythm_of(job);
  if (is_renewal(job)) {
    const auto& law = job.hazards.front().ageing->law;
    return renewal_efficiency(
        rhythm, [&](Seconds t) { return law.survival(t); }, rhythm.mean_time_between_failures);
  }
  if (!std::all_of(job.hazards.begin(), job.hazards.end(), is_poisson)) {
    return std::nullopt;
  }
  if (job.end.work && job.persist.si() == 0) {
    return *job.end.work / expected_makespan(*job.end.work, rhythm);
  }
  return efficiency(rhythm);
}

}  // namespace headway::campaign

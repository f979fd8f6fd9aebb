#include "sim/campaign/job/job.h"

#include <algorithm>
#include <cmath>

#include "sim/campaign/job/detection.h"

namespace headway::campaign {

using core::PerSecond;
using core::Seconds;

namespace {

PerSecond total_rate(const JobModel& job) {
  PerSecond total;
  for (const auto& hazard : job.hazards) {
    total += ending_rate(job, hazard);
  }
  return total;
}

bool is_poisson(const failures::Hazard& hazard) {
  return stops_job(hazard) && !hazard.ageing && !hazard.lemons && !hazard.latent &&
         hazard.recorded.empty();
}

/// The cycle of the closed forms: healthy or down, one level of saves, the right part blamed.
bool is_plain(const JobModel& job) {
  const auto& recovery = job.recovery;
  return !job.maintenance && job.throttling.empty() && job.near.empty() && job.unreadable == 0 &&
         job.starved == 1 && job.staging.si() == 0 && recovery.wrong_blame == 0 &&
         recovery.refill.si() == 0 && recovery.moves == 0 && recovery.noticed_earlier.si() == 0 &&
         !recovery.in_process_start && !recovery.peer_load && !recovery.elastic &&
         !recovery.migration && !recovery.standby && job.tax.si() == 0;
}

/// One part whose law starts anew at each failure.
bool is_renewal(const JobModel& job) {
  if (job.hazards.size() != 1 || !job.hazards.front().ageing) {
    return false;
  }
  const auto& ageing = *job.hazards.front().ageing;
  // A law by which some parts never fail has no mean life: there is no long run.
  return !job.hazards.front().latent && ageing.parts == 1 && ageing.age.si() == 0 &&
         ageing.law.always_fails() && ageing.after_failure == failures::AfterFailure::renewed;
}

}  // namespace

JobRecovery JobRecovery::at_once() {
  JobRecovery recovery;
  for (Seconds* time : {&recovery.detection, &recovery.diagnosis, &recovery.replacement,
                        &recovery.repair, &recovery.retest, &recovery.container_start,
                        &recovery.communicator_start, &recovery.warm_up}) {
    *time = Seconds(0);
  }
  return recovery;
}

Seconds length_of(const JobEnd& end) { return end.work ? *end.work : *end.wall; }

Seconds shortest_interval(const JobModel& job) { return std::max(job.step, job.fixed_cost); }

bool stops_job(const failures::Hazard& hazard) {
  return hazard.effect == failures::Effect::stop || hazard.effect == failures::Effect::hang;
}

PerSecond felt_rate(const JobModel& job, const failures::Hazard& hazard) {
  const Seconds lasts = *hazard.lasts;
  double share = std::exp(-(job.exchange_beside / lasts));
  if (job.exchange_every.si() > 0) {
    share *= -std::expm1(-(job.exchange_every / lasts)) / (job.exchange_every / lasts);
  }
  return hazard.rate * share;
}

PerSecond ending_rate(const JobModel& job, const failures::Hazard& hazard) {
  if (hazard.effect != failures::Effect::cut_site) {
    return stops_job(hazard) ? hazard.rate : PerSecond(0);
  }
  return felt_rate(job, hazard) * std::exp(-(mean_detection(job.recovery, hazard) / *hazard.lasts));
}

bool moves_away(const failures::Hazard& hazard) {
  return (hazard.nodes_lost > 0 || hazard.swapped) && !hazard.latent;
}

std::int64_t racks_of(const JobModel& job) {
  if (job.recovery.rack_spares == 0) {
    return 0;
  }
  const std::int64_t nodes = std::max<std::int64_t>(1, job.gpus / job.gpus_per_node);
  return (nodes + job.recovery.rack_nodes - 1) / job.recovery.rack_nodes;
}

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
    const PerSecond rate = ending_rate(job, hazard);
    if (rate.si() <= 0) {
      continue;
    }
    Seconds down = mean_detection(job.recovery, hazard) + job.recovery.diagnosis;
    if (hazard.effect == failures::Effect::cut_site) {
      down += *hazard.lasts * std::exp(-(job.recovery.diagnosis / *hazard.lasts));
    }
    if (hazard.nodes_lost > 0 || hazard.swapped) {
      down += job.recovery.replacement;
    }
    weighted += rate * down;
  }
  return weighted / total;
}

Seconds effective_interval(const JobModel& job) {
  const Seconds run = length_of(job.end);
  const Seconds asked = static_cast<double>(job.storage_every) * job.interval;
  if (asked.si() <= 0 || asked >= run) {
    return run;
  }
  return std::min(run, static_cast<double>(save_every(asked, job.stall, job.persist)) * asked);
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
  if (!is_plain(job)) {
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

#include "sim/campaign/job/job_ticks.h"

#include <algorithm>

#include "sim/campaign/saves/restore.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Clock;
using core::Seconds;
using core::Tick;

namespace {

/// The smallest multiple of `every` segments after which a save of this level
/// is complete before the next begins.
std::int64_t every_durable(std::int64_t every, Tick interval, Tick stall, Tick persist) {
  const Tick segment = every * interval;
  HEADWAY_CHECK(segment > 0, "{} intervals of {} ticks", every, interval);
  const Tick needed = std::max<Tick>(1, persist - stall);
  return every * ((needed + segment - 1) / segment);
}

/// @param most  more intervals than the run has: a save that comes so seldom never comes
LevelTicks level_of(
    Seconds stall, Seconds persist, std::int64_t every, Tick interval, std::int64_t most) {
  LevelTicks level{kClock.to_ticks(stall), kClock.to_ticks(persist), every};
  level.every = every_durable(std::min(every, most), interval, level.stall, level.persist);
  return level;
}

SaveTicks saves_of(const JobModel& job, Tick interval, const DriveTimes* drive) {
  SaveTicks saves;
  saves.interval = interval;
  saves.count = job.near.size() + 1;
  const std::int64_t most = kClock.to_ticks(length_of(job.end)) / interval + 2;
  HEADWAY_CHECK(saves.count <= kMostLevels, "{} levels of saves", saves.count);
  for (std::size_t l = 0; l < job.near.size(); ++l) {
    const auto& near = job.near[l];
    saves.levels[l] = level_of(drive != nullptr ? drive->near_stall[l] : near.stall,
                               drive != nullptr ? drive->near_persist[l] : near.persist, near.every,
                               interval, most);
  }
  saves.levels[saves.count - 1] =
      level_of(drive != nullptr ? drive->stall : job.stall,
               drive != nullptr ? drive->persist : job.persist, job.storage_every, interval, most);
  return saves;
}

std::vector<RecordedTick> recorded_of(const JobModel& job) {
  std::vector<RecordedTick> recorded;
  for (std::uint32_t h = 0; h < job.hazards.size(); ++h) {
    for (const auto& event : job.hazards[h].recorded) {
      RecordedTick tick{kClock.to_ticks(event.at), h, {}};
      if (event.repair) {
        tick.repair = kClock.to_ticks(*event.repair);
      }
      recorded.push_back(tick);
    }
  }
  std::stable_sort(recorded.begin(), recorded.end(),
                   [](const auto& x, const auto& y) { return x.wall < y.wall; });
  return recorded;
}

/// Without near levels the segment is the time between saves that are really made.
Tick interval_of(const JobModel& job, Tick grain) {
  const Seconds run = length_of(job.end);
  Seconds interval = job.interval.si() > 0 ? std::min(job.interval, run) : run;
  if (job.near.empty() && job.storage_every == 1) {
    interval = effective_interval(job);
  }
  const Tick ticks = std::max<Tick>(1, kClock.to_ticks(interval));
  // Whole numbers of the rounded step, so that a save always falls on the end of one.
  return std::max<Tick>(1, (ticks + grain / 2) / grain) * grain;
}

void set_recovery(const JobRecovery& recovery, const JobModel& job, JobTicks& ticks) {
  ticks.diagnosis = kClock.to_ticks(recovery.diagnosis);
  ticks.replacement = kClock.to_ticks(recovery.replacement);
  ticks.retest = kClock.to_ticks(recovery.retest);
  ticks.start = kClock.to_ticks(recovery.container_start);
  ticks.in_process_start =
      kClock.to_ticks(recovery.in_process_start.value_or(recovery.container_start));
  ticks.communicators = kClock.to_ticks(recovery.communicators);
  ticks.warm_up = kClock.to_ticks(recovery.warm_up);
  ticks.refill = kClock.to_ticks(recovery.refill);
  ticks.restaging = kClock.to_ticks(recovery.restaging);
  for (std::size_t l = 0; l < job.near.size(); ++l) {
    ticks.load[l] = kClock.to_ticks(job.near[l].load);
  }
  ticks.load[job.near.size()] = kClock.to_ticks(recovery.load);
  if (recovery.peer_load) {
    ticks.peer_load = kClock.to_ticks(*recovery.peer_load);
  }
  if (recovery.elastic) {
    ticks.elastic_stall = kClock.to_ticks(recovery.elastic->stall);
    ticks.elastic_rejoin = kClock.to_ticks(recovery.elastic->rejoin);
  }
  if (recovery.retired_back) {
    ticks.retired_back = kClock.to_ticks(*recovery.retired_back);
  }
  if (recovery.standby) {
    ticks.takeover = kClock.to_ticks(recovery.standby->takeover);
    ticks.standbys = {static_cast<std::size_t>(recovery.standby->nodes),
                      kClock.to_ticks(recovery.standby->warming)};
  }
  if (recovery.migration) {
    ticks.migration_stall = kClock.to_ticks(recovery.migration->stall);
  }
}

}  // namespace

JobTicks::JobTicks(const JobModel& job)
    : step(std::max<Tick>(1, kClock.to_ticks(job.step))),
      whole_steps(job.whole_steps),
      places(job) {
  tax = job.tax / job.step;
  HEADWAY_CHECK(job.end.work.has_value() != job.end.wall.has_value(),
                "a job ends with its work or with its wall clock");
  work = job.end.work ? std::max<Tick>(1, kClock.to_ticks(*job.end.work)) : 0;
  wall = job.end.wall ? std::max<Tick>(1, kClock.to_ticks(*job.end.wall)) : 0;
  const Tick interval = interval_of(job, grain());
  if (whole_steps) {
    work = (work + step / 2) / step * step;
  }
  saves = saves_of(job, interval, nullptr);
  spacing = interval * saves.storage().every;
  archive = archived_every(job) * spacing;
  slow_drives.resize(job.hazards.size());
  hangs_saves.resize(job.hazards.size());
  const auto& detectors = job.recovery.detectors;
  for (const auto& drive : job.slow_drives) {
    slow_drives[drive.hazard] = saves_of(job, interval, &drive);
    // While one node writes, the others wait for it in a collective.
    hangs_saves[drive.hazard] =
        detectors && detectors->watchdog && drive.stall > *detectors->watchdog;
  }
  set_recovery(job.recovery, job, *this);
  exchange_every = kClock.to_ticks(job.exchange_every);
  exchange_beside = kClock.to_ticks(job.exchange_beside);
  staging = kClock.to_ticks(job.staging);
  if (job.maintenance) {
    maintenance_every = std::max<Tick>(1, kClock.to_ticks(job.maintenance->every));
    maintenance_lasts = kClock.to_ticks(job.maintenance->lasts);
  }
  for (const auto& hazard : job.hazards) {
    latent.push_back(std::nullopt);
    if (hazard.latent) {
      const Seconds left = *hazard.latent - job.recovery.noticed_earlier;
      latent.back() = kClock.to_ticks(std::max(Seconds(0), left));
    }
  }
  recorded = recorded_of(job);
}

}  // namespace headway::campaign

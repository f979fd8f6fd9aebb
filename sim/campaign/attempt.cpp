#include "sim/campaign/attempt.h"

#include <algorithm>

#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Clock;
using core::Tick;

namespace {

constexpr Clock kClock = Clock::campaign();

Tick whole_steps_below(Tick work, Tick step) { return work / step * step; }

}  // namespace

JobTicks::JobTicks(const JobModel& job)
    : step(std::max<Tick>(1, kClock.to_ticks(job.step))),
      interval(std::max<Tick>(1, kClock.to_ticks(effective_interval(job)))),
      whole_steps(job.whole_steps),
      stall(kClock.to_ticks(job.stall)),
      persist(kClock.to_ticks(job.persist)),
      diagnosis(kClock.to_ticks(job.recovery.diagnosis)),
      replacement(kClock.to_ticks(job.recovery.replacement)),
      start(kClock.to_ticks(job.recovery.start)),
      load(kClock.to_ticks(job.recovery.load)),
      warm_up(kClock.to_ticks(job.recovery.warm_up)) {
  HEADWAY_CHECK(job.end.work.has_value() != job.end.wall.has_value(),
                "a job ends with its work or with its wall clock");
  work = job.end.work ? std::max<Tick>(1, kClock.to_ticks(*job.end.work)) : 0;
  wall = job.end.wall ? std::max<Tick>(1, kClock.to_ticks(*job.end.wall)) : 0;
  if (whole_steps) {
    // Whole numbers of the rounded step, so that a save always falls on the end of one.
    interval = std::max<Tick>(1, (interval + step / 2) / step) * step;
    work = (work + step / 2) / step * step;
  }
  if (job.maintenance) {
    maintenance_every = std::max<Tick>(1, kClock.to_ticks(job.maintenance->every));
    maintenance_lasts = kClock.to_ticks(job.maintenance->lasts);
  }
  for (const auto& hazard : job.hazards) {
    detection.push_back(kClock.to_ticks(job.recovery.detection + hazard.detection));
    latent.push_back(hazard.latent ? std::optional(kClock.to_ticks(*hazard.latent)) : std::nullopt);
    for (const auto& event : hazard.recorded) {
      RecordedTick tick{
          kClock.to_ticks(event.at), static_cast<std::uint32_t>(detection.size() - 1), {}};
      if (event.repair) {
        tick.repair = kClock.to_ticks(*event.repair);
      }
      recorded.push_back(tick);
    }
  }
  std::stable_sort(recorded.begin(), recorded.end(),
                   [](const auto& x, const auto& y) { return x.wall < y.wall; });
}

Attempt plan_attempt(const JobTicks& job, Tick restart, Tick work_left, Tick wall_left) {
  const Tick segment = job.interval + job.stall;
  if (work_left < core::kEndOfTime) {
    const Tick saves = (work_left + job.interval - 1) / job.interval;
    const Tick length = restart + work_left + saves * job.stall + job.persist;
    if (length <= wall_left) {
      return {restart, work_left, length};
    }
  }
  // The last save is timed so that it is durable when the wall clock is up.
  const Tick usable = wall_left - restart - job.persist;
  if (usable <= 0) {
    return {restart, 0, wall_left};
  }
  const Tick whole = (usable - 1) / segment;
  Tick last = std::max<Tick>(0, usable - whole * segment - job.stall);
  if (job.whole_steps) {
    last = whole_steps_below(last, job.step);
  }
  return {restart, std::min(whole * job.interval + last, work_left), wall_left};
}

Progress progress_at(const JobTicks& job, const Attempt& attempt, Tick elapsed) {
  Progress p;
  if (attempt.restart > 0) {
    p.start = std::min(elapsed, job.start);
    p.load = std::min(elapsed - p.start, job.load);
    p.warm_up = std::min(elapsed - p.start - p.load, job.warm_up);
  }
  const Tick running = elapsed - p.start - p.load - p.warm_up;
  const Tick segment = job.interval + job.stall;
  const Tick segments = (attempt.work + job.interval - 1) / job.interval;
  // Only whole segments can be jumped; the last one may be shorter and ends with the wait for its
  // save.
  const Tick done = std::min(running / segment, std::max<Tick>(0, segments - 1));
  const Tick rest = running - done * segment;
  const Tick work_in_rest = std::min({rest, job.interval, attempt.work - done * job.interval});
  p.work = done * job.interval + work_in_rest;
  p.checkpoint = running - p.work;
  if (elapsed >= attempt.length) {
    p.durable = attempt.work;
  } else if (running >= job.persist) {
    p.durable = std::min(done, (running - job.persist) / segment) * job.interval;
  }
  return p;
}

}  // namespace headway::campaign

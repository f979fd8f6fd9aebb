#include "sim/campaign/job/optimum.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/campaign/closed_form.h"
#include "sim/campaign/job/rates.h"

namespace headway::campaign {

using core::PerSecond;
using core::Seconds;

namespace {

/// A level of saves as its cost sees it.
struct CostOfLevel {
  Seconds stall, persist;
  double every = 1;
  PerSecond lost;  ///< intervals of it lost a second, in halves
  /// Work between saves below which one is not durable before the next.
  [[nodiscard]] Seconds soonest() const { return (persist - stall) / every; }
};

/// All levels, storage last.
std::vector<CostOfLevel> levels_of(const JobModel& job) {
  const Rollbacks rollbacks = rollbacks_of(job);
  std::vector<CostOfLevel> levels;
  for (std::size_t l = 0; l < job.near.size(); ++l) {
    const NearLevel& near = job.near[l];
    levels.push_back(
        {near.stall, near.persist, static_cast<double>(near.every), rollbacks.to_level[l]});
  }
  const double unreadable = job.unreadable / (1 - job.unreadable);
  levels.push_back({job.stall, job.persist, static_cast<double>(job.storage_every),
                    rollbacks.to_level.back() + 2 * unreadable * rollbacks.reads});
  return levels;
}

/// Of levels that are all written in time; nothing if the job goes back to none of them.
std::optional<Seconds> optimum_of(const std::vector<CostOfLevel>& levels) {
  double most_often = levels.front().every;
  for (const auto& level : levels) {
    most_often = std::min(most_often, level.every);
  }
  Seconds stall;
  PerSecond lost;
  for (const auto& level : levels) {
    stall += level.stall * (most_often / level.every);
    lost += level.lost * (level.every / most_often);
  }
  if (lost.si() <= 0) {
    return std::nullopt;
  }
  return optimal_interval(stall, failures::mean_time_between(lost)) / most_often;
}

/// What one healthy second of work takes while nothing is broken.
double pace_of(const JobModel& job) { return job.starved + job.tax / job.step; }

}  // namespace

Seconds best_interval(const JobModel& job) {
  if (job.hazards.empty()) {
    return Seconds(0);
  }
  std::vector<CostOfLevel> levels = levels_of(job);
  std::stable_sort(levels.begin(), levels.end(), [](const CostOfLevel& x, const CostOfLevel& y) {
    return x.soonest() < y.soonest();
  });
  const Seconds run = length_of(job.end);
  const auto optimum = [&] {
    const auto free = optimum_of(levels);
    return free ? *free / pace_of(job) : run;
  };
  Seconds best = optimum();
  while (levels.size() > 1 && levels.back().soonest() > best) {
    const Seconds soonest = levels.back().soonest();
    levels.pop_back();
    // From there on this level counts, and its optimum lies below.
    best = std::min(soonest, optimum());
  }
  return std::min(std::max({best, levels.front().soonest(), shortest_interval(job)}), run);
}

Seconds best_storage_interval(const JobModel& job) {
  JobModel best = job;
  best.interval = best_interval(job);
  return best.interval.si() > 0 ? effective_interval(best) : Seconds(0);
}

Ceiling ceiling_of(const JobModel& job) {
  Ceiling least;
  const auto offer = [&least](const Rhythm& rhythm) {
    if (const double share = efficiency(rhythm); !(share >= least.share)) {
      least = {share, rhythm.mean_time_between_failures};
    }
  };
  Rhythm rhythm = rhythm_of(job);
  if (job.recovery.peer_load) {
    Rhythm step = rhythm;
    step.work = job.step;
    step.stall = step.persist = Seconds(0);
    offer(step);
  }
  const Rollbacks rollbacks = rollbacks_of(job);
  for (std::size_t l = 0; l < job.near.size(); ++l) {
    const NearLevel& near = job.near[l];
    Rhythm nearer = rhythm;
    nearer.mean_time_between_failures = failures::mean_time_between(rollbacks.to_level[l]);
    if (job.interval.si() > 0) {
      nearer.work = std::min(rhythm.work, static_cast<double>(near.every) * job.interval);
    }
    nearer.stall = near.stall;
    nearer.persist = near.persist;
    nearer.restart = rhythm.restart - job.recovery.load + near.load;
    offer(nearer);
  }
  rhythm.mean_time_between_failures = failures::mean_time_between(rollbacks.to_level.back());
  offer(rhythm);
  return least;
}

}  // namespace headway::campaign

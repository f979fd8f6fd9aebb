#include "sim/campaign/job/rates.h"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "sim/campaign/job/detection.h"
#include "sim/campaign/job/gaps.h"
#include "sim/campaign/job/job_places.h"

namespace headway::campaign {

using core::PerSecond;
using core::Seconds;
using failures::Effect;

namespace {

/// Stops of one fault: after a wrong blame the same fault stops the job again.
double stops_of_a_fault(const JobModel& job, const failures::Hazard& hazard) {
  return hazard.nodes_lost > 0 ? 1 / (1 - job.recovery.wrong_blame) : 1;
}

/// A silent failure that strikes before an earlier one is noticed is noticed with it:
///     rate / (1 + sum of rate x latent)
PerSecond silent_rate(const JobModel& job, const failures::Hazard& hazard) {
  double pending = 0;
  for (const auto& other : job.hazards) {
    pending += other.latent ? other.rate * *other.latent : 0;
  }
  return hazard.rate / (1 + pending);
}

/// Share of the strikes of a slow part, or of false alarms, that take a node out: the part is found
/// before it is well again.
double found_share(const JobModel& job, const failures::Hazard& hazard) {
  if (hazard.effect == Effect::false_alarm) {
    return 1;
  }
  if (job.recovery.slow_part == failures::SlowPart::keep || failures::is_of_a_way(hazard.effect)) {
    return 0;
  }
  const auto detection = first_detection(job.recovery, hazard, {});
  if (!detection) {
    return 0;
  }
  return hazard.lasts ? std::exp(-((detection->after + job.recovery.diagnosis) / *hazard.lasts))
                      : 1;
}

/// A slow drive that nobody looks for keeps the next save past the watchdog.
bool hangs_a_save(const JobModel& job, std::size_t hazard) {
  const auto& detectors = job.recovery.detectors;
  return detectors && detectors->watchdog &&
         std::any_of(job.slow_drives.begin(), job.slow_drives.end(), [&](const auto& drive) {
           return drive.hazard == hazard && drive.stall > *detectors->watchdog;
         });
}

/// The nodes that leave the job with the first of `hazard`'s.
std::vector<std::uint64_t> evicted_by(const JobModel& job,
                                      const JobPlaces& places,
                                      const failures::Hazard& hazard) {
  const auto broken = places.slots_from(0, static_cast<std::uint64_t>(hazard.nodes_lost));
  const auto unit = static_cast<std::uint64_t>(std::max<std::int64_t>(1, hazard.evicted));
  return job.recovery.evicts_replicas() ? places.groups_of(broken) : places.units_of(broken, unit);
}

/// Chance that spares for `nodes` at a time are lacking, by Erlang's loss formula.
double lacking(const JobModel& job, double nodes) {
  const double at_a_time = std::max(1.0, nodes);
  const auto places = static_cast<std::int64_t>(static_cast<double>(job.spare_nodes) / at_a_time);
  return failures::erlang_b(nodes_out(job).mean / at_a_time, places);
}

/// Chance that so many replicas are absent already that the job must stop. With k absences of `hit`
/// replicas each it still goes on, k = floor((R - fewest) / hit) - 1; absences are Poisson.
double too_few_left(const JobModel& job, const JobPlaces& places, const failures::Hazard& hazard) {
  const auto gone = evicted_by(job, places, hazard);
  const auto hit = static_cast<std::int64_t>(std::max<std::uint64_t>(1, places.replicas_hit(gone)));
  const std::int64_t most = (job.replicas - job.recovery.elastic->fewest_replicas) / hit;
  if (most <= 0) {
    return 1;
  }
  const auto& recovery = job.recovery;
  const Seconds absent = recovery.diagnosis + recovery.replacement + recovery.restart() +
                         lacking(job, static_cast<double>(gone.size())) * recovery.repair;
  PerSecond rate;
  for (const auto& other : job.hazards) {
    rate += stops_job(other) && other.nodes_lost > 0 ? other.rate : PerSecond(0);
  }
  const double mean = rate * absent;
  return mean > 0 ? boost::math::gamma_p(static_cast<double>(most), mean) : 0;
}

/// Share of the strikes of what stops a job after which all have to start again.
double restarting_share(const JobModel& job, const failures::Hazard& hazard) {
  const auto& recovery = job.recovery;
  const JobPlaces places(job);
  const double stays =
      recovery.migration && moves_away(hazard)
          ? lacking(job, static_cast<double>(evicted_by(job, places, hazard).size()))
          : 1;
  if (!recovery.elastic) {
    return stays;
  }
  const Gaps gaps(job, places);
  if (gaps.used()) {
    const bool gpu = gaps.narrows() && hazard.swapped;
    const bool bearable =
        gpu ? gaps.bearable_without_gpu(0, 0)
            : hazard.nodes_lost > 0 && gaps.bearable_without(evicted_by(job, places, hazard));
    return bearable ? 0 : stays;
  }
  return hazard.nodes_lost > 0 ? stays * too_few_left(job, places, hazard) : stays;
}

/// Whether the others go on without the site whose way is cut.
bool leaves_site(const JobModel& job) {
  const auto& elastic = job.recovery.elastic;
  return elastic && job.replicas / job.sites + elastic->fewest_replicas <= job.replicas;
}

/// The level whose save is the newest after a failure of this reach: of those that survive it the
/// one that is written most often.
std::size_t level_read(const JobModel& job, Reach reach) {
  std::size_t level = job.near.size();
  std::int64_t every = job.storage_every;
  for (std::size_t l = job.near.size(); l-- > 0;) {
    if (job.near[l].survives >= reach && job.near[l].every <= every) {
      level = l;
      every = job.near[l].every;
    }
  }
  return level;
}

/// Collects the rates of rollbacks, hazard by hazard.
class RollbackSum {
 public:
  explicit RollbackSum(const JobModel& job) : job_(job) {
    sum_.to_level.resize(job.near.size() + 1);
  }

  void add(std::size_t number) {
    const auto& hazard = job_.hazards[number];
    if (hazard.latent) {
      sum_.to_level.back() += silent_rate(job_, hazard);
    } else if (job_.recovery.peer_load) {
      return;  // all others go back to the step under way
    } else if (stops_job(hazard)) {
      add_stop(hazard);
    } else if (hazard.effect == Effect::cut_site) {
      go_back(leaves_site(job_) ? PerSecond(0) : ending_rate(job_, hazard), Reach::process, false);
    } else if (hazard.effect == Effect::preemption) {
      go_back(hazard.rate, Reach::node, hazard.notice >= job_.stall + job_.persist);
    } else {
      add_slow(number);
    }
  }

  [[nodiscard]] const Rollbacks& sum() const { return sum_; }

 private:
  /// @param saved  the save that is read was made for it
  void go_back(PerSecond rate, Reach reach, bool saved) {
    sum_.reads += rate;
    if (!saved) {
      sum_.to_level[level_read(job_, reach)] += rate;
    }
  }

  void add_stop(const failures::Hazard& hazard) {
    const PerSecond rate = hazard.rate * restarting_share(job_, hazard);
    if (hazard.nodes_lost == 0) {
      return go_back(rate, Reach::process, false);
    }
    const double beside = copies_left(hazard);
    go_back(rate * beside, Reach::node, false);
    go_back(rate * (1 - beside), Reach::domain, false);
    // The job does no work between a wrong blame and the stop that follows, but reads a save again.
    sum_.reads += rate * (stops_of_a_fault(job_, hazard) - 1);
  }

  void add_slow(std::size_t number) {
    const auto& hazard = job_.hazards[number];
    const double found = found_share(job_, hazard);
    const bool saves_first = job_.recovery.slow_part == failures::SlowPart::save_first;
    // Of an alarm foreseen in vain: the node leaves between two steps.
    const PerSecond rate = hazard.rate * (1 - hazard.foreseen) * found;
    go_back(rate, hazard.nodes_lost > 0 ? Reach::node : Reach::process, saves_first);
    if (found == 0 && hangs_a_save(job_, number)) {
      // The save that hangs comes a whole interval after the one before: two halves.
      go_back(hazard.rate, Reach::process, false);
      sum_.to_level[level_read(job_, Reach::process)] += hazard.rate;
    }
  }

  /// Share of its strikes that hit no node together with its peer.
  [[nodiscard]] double copies_left(const failures::Hazard& hazard) const {
    if (hazard.nodes_lost == 1 || job_.near.empty()) {
      return 1;
    }
    const JobPlaces places(job_);
    double left = 0;
    for (std::uint64_t slot = 0; slot < places.nodes(); ++slot) {
      left += places.peers_survive(
                  places.slots_from(slot, static_cast<std::uint64_t>(hazard.nodes_lost)))
                  ? 1
                  : 0;
    }
    return left / static_cast<double>(places.nodes());
  }

  const JobModel& job_;
  Rollbacks sum_;
};

}  // namespace

PerSecond interruption_rate(const JobModel& job, std::size_t number) {
  const auto& hazard = job.hazards[number];
  if (hazard.latent) {
    return silent_rate(job, hazard);
  }
  if (hazard.effect == Effect::cut_site) {
    return felt_rate(job, hazard);
  }
  if (hazard.effect == Effect::false_alarm) {
    const auto leave = static_cast<double>(std::max(hazard.nodes_lost, hazard.evicted));
    // Without spares nobody moves in vain.
    return hazard.rate * (1 - hazard.foreseen * lacking(job, leave));
  }
  if (hazard.effect == Effect::preemption) {
    return hazard.rate;
  }
  const double again = stops_of_a_fault(job, hazard) - 1;
  if (stops_job(hazard)) {
    // Who goes on elastically, or moves, blames nobody.
    return hazard.rate * (1 + restarting_share(job, hazard) * again);
  }
  const double found = found_share(job, hazard);
  const double stopped = found == 0 && hangs_a_save(job, number) ? 1 : found;
  return hazard.rate * stopped * (1 + again);
}

Seconds mean_time_between_interruptions(const JobModel& job) {
  PerSecond total;
  for (std::size_t h = 0; h < job.hazards.size(); ++h) {
    total += interruption_rate(job, h);
  }
  return failures::mean_time_between(total);
}

Rollbacks rollbacks_of(const JobModel& job) {
  RollbackSum sum(job);
  for (std::size_t h = 0; h < job.hazards.size(); ++h) {
    sum.add(h);
  }
  return sum.sum();
}

NodesOut nodes_out(const JobModel& job) {
  NodesOut out;
  const auto& recovery = job.recovery;
  const double group = recovery.evicts_replicas()
                           ? static_cast<double>(job.gpus) / job.gpus_per_node / job.replicas
                           : 1;
  for (const auto& hazard : job.hazards) {
    if (hazard.nodes_lost == 0 && hazard.recorded.empty()) {
      continue;
    }
    const bool healthy = hazard.effect == Effect::false_alarm;
    const bool stops = stops_job(hazard) || hazard.effect == Effect::preemption;
    const double share = stops ? 1 : found_share(job, hazard);
    if (share == 0) {
      continue;
    }
    out.any = true;
    const double broken = healthy ? 0 : static_cast<double>(hazard.nodes_lost);
    const double leave = std::max(
        {static_cast<double>(hazard.nodes_lost), static_cast<double>(hazard.evicted), group});
    const double innocent =
        healthy || hazard.effect == Effect::preemption ? 0 : stops_of_a_fault(job, hazard) - 1;
    out.mean += hazard.rate * share *
                (broken * recovery.repair + (leave - broken + innocent * leave) * recovery.retest);
    out.together = std::max(out.together, leave);
    out.erlang = out.erlang && stops_job(hazard) && leave == 1 && innocent == 0 && !hazard.ageing &&
                 !hazard.lemons && !hazard.latent && hazard.recorded.empty();
  }
  out.erlang = out.erlang && !recovery.elastic && !recovery.migration;
  return out;
}

}  // namespace headway::campaign

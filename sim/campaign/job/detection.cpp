#include "sim/campaign/job/detection.h"

#include <algorithm>
#include <cmath>

#include "sim/core/error.h"
#include "sim/core/math.h"

namespace headway::campaign {

using core::Seconds;
using failures::Effect;

namespace {

/// Detectors that need no draw.
std::optional<Detection> earliest_fixed(const failures::DetectorsSpec& d, Effect effect) {
  std::optional<Detection> first;
  const auto offer = [&first](Detector who, std::optional<Seconds> after) {
    if (after && (!first || *after < first->after)) {
      first = Detection{who, *after};
    }
  };
  if (effect == Effect::stop) {
    offer(Detector::process_exit, d.process_exit);
  }
  if (effect == Effect::stop || effect == Effect::hang || effect == Effect::cut_site) {
    offer(Detector::heartbeat, d.heartbeat);
    offer(Detector::watchdog, d.watchdog);
  }
  return first;
}

/// Trials that miss before one finds, each with chance `recall`.
double misses(double uniform, double recall) {
  if (recall >= 1) {
    return 0;
  }
  return std::floor(core::portable_log(uniform) / core::portable_log(1 - recall));
}

Detection sooner(const JobRecovery& recovery, Detection detection) {
  detection.after = std::max(Seconds(0), detection.after - recovery.noticed_earlier);
  return detection;
}

bool seen_by_monitor(Effect effect) {
  return effect == Effect::slow_gpu || effect == Effect::slow_link ||
         effect == Effect::flapping_link;
}

}  // namespace

std::optional<Detection> first_detection(const JobRecovery& recovery,
                                         const failures::Hazard& hazard,
                                         const DetectionDraws& draws) {
  if (!recovery.detectors) {
    return sooner(recovery, {Detector::recovery, recovery.detection + hazard.detection});
  }
  const auto& d = *recovery.detectors;
  if (hazard.latent) {
    return sooner(recovery, {Detector::validation, hazard.detection});
  }
  std::optional<Detection> first = earliest_fixed(d, hazard.effect);
  const auto offer = [&first](Detector who, Seconds after) {
    if (!first || after < first->after) {
      first = Detection{who, after};
    }
  };
  if (d.health_check && hazard.effect != Effect::cut_site) {  // nodes are healthy
    const auto& check = *d.health_check;
    offer(Detector::health_check, (draws.phase + misses(draws.found, check.recall)) * check.every);
  }
  if (d.straggler_monitor && seen_by_monitor(hazard.effect)) {
    const auto& monitor = *d.straggler_monitor;
    offer(Detector::straggler_monitor, (1 + misses(draws.window, monitor.recall)) * monitor.window);
  }
  if (first) {
    first->after += hazard.detection;
    first = sooner(recovery, *first);
  }
  return first;
}

Seconds mean_detection(const JobRecovery& recovery, const failures::Hazard& hazard) {
  if (!recovery.detectors) {
    return recovery.detection + hazard.detection;
  }
  const auto& d = *recovery.detectors;
  const auto fixed = earliest_fixed(d, hazard.effect);
  if (hazard.latent || !d.health_check || hazard.effect == Effect::cut_site) {
    HEADWAY_CHECK(fixed || hazard.latent, "nothing detects hazard '{}'", hazard.name);
    return hazard.detection + (fixed && !hazard.latent ? fixed->after : Seconds(0));
  }
  const double r = d.health_check->recall;
  const Seconds every = d.health_check->every;
  // Periods that have passed when the fixed detector fires, and the rest of the last one.
  const double whole = fixed ? std::floor(fixed->after / every) : core::kInfinity;
  const double rest = fixed ? fixed->after / every - whole : 0;
  const double missed = std::pow(1 - r, whole);
  const double periods = (1 - r / 2) * (1 - missed) / r + missed * (rest - r * rest * rest / 2);
  return hazard.detection + periods * every;
}

}  // namespace headway::campaign

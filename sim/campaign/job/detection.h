// Who notices a failure, and when: the first of the detectors that can see it.
#pragma once

#include <optional>

#include "sim/campaign/job/incident.h"
#include "sim/campaign/job/job.h"
#include "sim/core/units.h"
#include "sim/failures/model.h"

namespace headway::campaign {

/// A detector that fires.
struct Detection {
  Detector detector = Detector::recovery;
  core::Seconds after;  ///< the fault
};

/// The draw that decides a detection, all of it a function of (strike, attempt at detecting it).
struct DetectionDraws {
  double phase = 0.5;   ///< of the next health check, 0 to 1
  double found = 0.5;   ///< how many health checks miss it
  double window = 0.5;  ///< how many windows of the straggler monitor miss it
};

/// The first detector to see a fault of `hazard`, if any does.
///     process exit, watchdog, heartbeat: their times;  health check: every
///     (phase + misses) straggler monitor: window (1 + misses);  misses are
///     geometric with 1 - recall
/// Stops are seen by process exit, watchdog, heartbeat and health check; hangs by the last three;
/// slow GPUs and links by straggler monitor and health check, slow drives by the health check. The
/// hazard's own `detection` is added. Without detectors: the recovery's one detection time.
std::optional<Detection> first_detection(const JobRecovery& recovery,
                                         const failures::Hazard& hazard,
                                         const DetectionDraws& draws);

/// Mean of `first_detection` over its draws, for faults that stop the job.
///     E[min(T, X)] = integral of P(X > t) over 0..T,  P(X > every (k + f)) =
///     (1 - r)^k (1 - r f)
/// with T the earliest fixed time and X the health check of recall r.
core::Seconds mean_detection(const JobRecovery& recovery, const failures::Hazard& hazard);

}  // namespace headway::campaign

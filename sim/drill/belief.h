// Whom an engineer would blame: the posterior over the causes, given the symptoms visible so far.
#pragma once

#include <vector>

#include "sim/drill/run.h"

namespace headway::drill {

/// What a cause would have shown by now, found by simulating it in the same job under the same
/// eyes.
struct Signature {
  FaultKind kind = FaultKind::gpu_dead;
  Sightings visible;          ///< since the first of them
  Sightings after_restart{};  ///< what a restart shows that leaves the cause there
};

/// Symptoms of every kind of fault in a day in which nobody responds.
std::vector<Signature> signatures_of(const DrillSetup& setup, const SlowdownOf& slowdown);

/// P(cause | symptoms) over all causes not ruled out, falling; equal ones in the order of the
/// kinds.
///     P ~ rate x product over symptoms of  kShown      seen, and the cause shows it
///                                          kStray      seen, though the cause does not show it
///                                                      (kStrayHardware of hardware)
///                                          1 - kShown  not seen, though the cause shows it by now
/// A cause that shows nothing in this job raises no alarm, and is nobody's suspect.
/// @param rate  of each kind in this job [1/s]: the prior
std::vector<Suspect> posterior(const std::array<double, kFaultKinds>& rate,
                               const std::vector<Signature>& signatures,
                               const Evidence& evidence);

}  // namespace headway::drill

// One fault in one running job, simulated event by event on the campaign clock.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "sim/campaign/drill_effect.h"
#include "sim/campaign/drill_trace.h"

namespace headway::campaign {

/// Whom an engineer suspects who sees these symptoms now and has ruled out some causes.
using Suspicion = std::function<std::vector<Suspect>(
    const Sightings& visible, core::Tick now, const std::set<FaultKind>& ruled_out)>;

struct DrillInput {
  const DrillSetup* setup = nullptr;
  std::optional<Fault> fault;  ///< absent: the healthy twin
  Effect effect;
  Suspicion suspicion;  ///< empty: nobody responds, the run ends with the first alarm
};

/// Runs one drill to its horizon.
DrillTrace run_drill(const DrillInput& input);

}  // namespace headway::campaign

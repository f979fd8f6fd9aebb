// One fault in one running job, simulated event by event on the campaign clock.
#pragma once

#include <functional>
#include <optional>
#include <set>

#include "sim/drill/effect.h"
#include "sim/drill/trace.h"

namespace headway::drill {

/// What an engineer knows when asked.
struct Evidence {
  Sightings visible;
  core::Tick now = 0;
  std::set<FaultKind> ruled_out{};
  bool restarted = false;  ///< the job was restarted, and the fault was still there
};

/// Whom an engineer suspects.
using Suspicion = std::function<std::vector<Suspect>(const Evidence&)>;

/// A run that shows what a fault looks like: nobody responds to it.
enum class Probe : std::uint8_t {
  none,
  watch,    ///< from its beginning
  restart,  ///< from a restart on that leaves it there
};

struct DrillInput {
  const DrillSetup* setup = nullptr;
  std::optional<Fault> fault;  ///< absent: the healthy twin
  Effect effect;
  Suspicion suspicion;  ///< not asked in a probe
  Probe probe = Probe::none;
};

/// Runs one drill to its horizon.
DrillTrace run_drill(const DrillInput& input);

}  // namespace headway::drill

#include "sim/drill/run.h"

#include <numeric>

#include "sim/core/engine/engine.h"
#include "sim/core/error.h"
#include "sim/drill/process.h"

namespace headway::drill {

DrillTrace run_drill(const DrillInput& input) {
  DrillProcess drill(input);
  core::Engine engine;
  engine.add({"drill", 0}, drill);
  const core::Tick horizon = drill_ticks(input.setup->horizon);
  const core::RunSummary summary = engine.run(horizon);
  DrillTrace trace = drill.finish(horizon);
  trace.event_digest = summary.event_digest;
  // INVARIANT: every tick of the horizon is in exactly one account.
  const core::Tick booked =
      std::accumulate(trace.accounts.begin(), trace.accounts.end(), core::Tick{0});
  HEADWAY_CHECK(booked == horizon, "accounts hold {} of {} ticks", booked, horizon);
  return trace;
}

}  // namespace headway::drill

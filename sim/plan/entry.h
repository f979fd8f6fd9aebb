// A layout on its way from the short list to a plan.
#pragma once

#include <cstddef>
#include <optional>

#include "sim/core/progress/joint_progress.h"
#include "sim/plan/shortlist/fit.h"
#include "sim/plan/space.h"
#include "sim/training/check.h"
#include "sim/training/step/step_result.h"

namespace headway::plan {

struct Entry {
  training::CheckedScenario layout;
  core::Seconds estimate;  ///< by the analytic tier
  core::Seconds bound;     ///< it is not believed to be faster
  std::size_t index = 0;   ///< in the order of the short list
  bool too_large = false;  ///< its step cannot be simulated
  training::StepResult step;
  double operations = 0;  ///< of its simulation, about
  bool outside = false;   ///< the scenario's own layout, with a value that `search` does not list
  bool own = false;       ///< the scenario's own layout, which is not in the short list
};

/// With the bound that follows from the estimate.
Entry make_entry(training::CheckedScenario layout, core::Seconds estimate);

/// The layout as it is run: `data` and `schedule` worked out.
ParallelismSpec resolved(const training::CheckedScenario& layout);

training::Scenario with_layout(const training::Scenario& scenario, const ParallelismSpec& layout);

/// What a layout lacks, as in `fit.h`, by the memory that a run of it is said to need.
std::optional<Lack> lack(const training::CheckedScenario& layout, double headroom);

/// Simulates the step of a layout with the trace that its critical path is found in, or marks that
/// it cannot be. Of a hashed fabric one hash: others widen the interval, they do not move the time.
/// @param count  told how much of it is done; may be empty
void simulate(bool fold, Entry& entry, const core::Count& count = {});

/// By simulation; equals in the order of the short list.
bool faster(const Entry& a, const Entry& b);

}  // namespace headway::plan

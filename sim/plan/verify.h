// What was left out, looked at all the same.
#pragma once

#include <vector>

#include "sim/plan/entry.h"
#include "sim/plan/search.h"

namespace headway::plan {

Plan make_plan(const Entry& entry);

/// Simulates `options.verify` layouts drawn from those that were not; what is faster than the best
/// plan is reported. Each is checked as a scenario of its own, not with the short cuts of the short
/// list.
/// @param simulated  fastest first
void verify(const training::Scenario& scenario,
            const Space& space,
            const std::vector<Entry>& simulated,
            const PlanOptions& options,
            Verification& out);

}  // namespace headway::plan

// What was left out, looked at all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/search.h"

namespace headway::plan {

/// What was searched of one cluster size, batch and so on.
struct SimulatedSetting {
  training::Scenario scenario;
  std::vector<ParallelismSpec> layouts;  ///< fastest first
  core::Seconds fastest;                 ///< step of the first
  std::vector<SearchedField> unused;     ///< values asked for that none of its layouts has
  std::vector<core::Seconds> times;      ///< of `layouts`, by simulation
  std::vector<core::Seconds> bounds;     ///< of the shapes of its space (`Shortlist`)
  std::int64_t estimated = 0;            ///< layouts that the analytic tier timed whole for them
  /// Place in `layouts` of the scenario's own layout, where the tier's list has it not.
  std::optional<std::size_t> own;
};

/// Simulates `options.verify` layouts drawn from those that were not; what keeps the limits and is
/// better than the best plan is reported, or what keeps them where there is no plan. Each is
/// checked as a scenario of its own, not with the short cuts of the short list.
/// @param best  the first plan; may be null
void verify(const SimulatedSetting& setting,
            const Plan* best,
            const PlanOptions& options,
            int threads,
            Verification& out);

}  // namespace headway::plan

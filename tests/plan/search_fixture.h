// What the tests of the search ask of it.
#pragma once

#include <string>

#include "sim/plan/search.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {

using training::SearchAxis;

/// Degrees, micro-batch and recompute alone: some hundred layouts.
inline training::Scenario few_layouts() {
  auto s = sample_scenario();
  s.search.vary = {SearchAxis::tensor, SearchAxis::pipeline, SearchAxis::micro_batch,
                   SearchAxis::recompute};
  return s;
}

/// A run of 1,000 steps with prices: half a dollar a GPU-hour, PUE 1.5.
inline training::Scenario priced() {
  auto scenario = few_layouts();
  scenario.run.until = training::UntilSpec{};
  scenario.run.until->steps = 1000;
  scenario.run.trials = 2;
  auto& prices = scenario.run.prices.emplace();
  prices.gpu_hour = core::Dollars(2) / core::Seconds(3600);
  prices.pue = 1.5;
  return scenario;
}

/// Every layout is simulated and returned.
inline PlanOptions everything() {
  PlanOptions all;
  all.keep = all.simulate = 100000;
  all.variants = true;
  return all;
}

inline std::int64_t count_of(const PlanResult& result, const std::string& kind) {
  std::int64_t count = 0;
  for (const auto& entry : result.rejected) {
    count += entry.kind == kind ? entry.count : 0;
  }
  return count;
}

inline std::int64_t rejected_of(const PlanResult& result) {
  std::int64_t count = 0;
  for (const auto& entry : result.rejected) {
    count += entry.count;
  }
  return count;
}

}  // namespace headway::plan

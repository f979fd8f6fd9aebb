// Every figure of a step, folded and rank by rank.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "sim/training/step/step.h"

namespace headway::training {

inline void expect_the_same_step(const Scenario& s,
                                 const std::vector<Degradation>& degradations = {}) {
  const auto checked = check(Scenario(s));
  StepOptions options;
  options.degradations = degradations;
  const auto folded = simulate_step(checked, options);
  options.fold = false;
  const auto whole = simulate_step(checked, options);
  EXPECT_EQ(folded.time, whole.time);
  EXPECT_EQ(folded.result_digest, whole.result_digest);
  EXPECT_EQ(folded.ranks, whole.ranks);
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    EXPECT_NEAR(folded.breakdown.values[a].si(), whole.breakdown.values[a].si(),
                1e-9 * whole.time.si());
  }
  ASSERT_EQ(folded.links.size(), whole.links.size());
  for (const auto& use : folded.links) {
    const auto same = std::find_if(whole.links.begin(), whole.links.end(),
                                   [&](const LinkUse& other) { return other.tier == use.tier; });
    ASSERT_NE(same, whole.links.end()) << use.tier;
    EXPECT_NEAR(use.mean, same->mean, 1e-9) << use.tier;
    EXPECT_NEAR(use.busiest, same->busiest, 1e-9) << use.tier;
    EXPECT_LE(use.mean, use.busiest * (1 + 1e-9)) << use.tier;
    EXPECT_LE(use.busiest, 1 + 1e-9) << use.tier;
  }
}

}  // namespace headway::training

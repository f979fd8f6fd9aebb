#include "sim/study/estimate.h"

#include <gtest/gtest.h>

#include "sim/analytic/analytic.h"
#include "sim/study/predict.h"
#include "sim/training/check.h"

#include "tests/study/planted.h"

namespace headway::study {
namespace {

config::LoadedScenario planted(std::vector<std::string> set = {}) {
  return config::load_scenario_text(planted_scenario(), "s.yaml", {{"configs"}, std::move(set)});
}

// The time is the analytic tier's, its parts add up to it, and what needs no events is what the
// simulation says to the last bit.
TEST(Estimate, IsTheAnalyticTierWithTheFiguresOfARun) {
  const auto loaded = planted();
  const auto estimated = estimate(loaded);
  const auto checked = training::check(loaded.scenario, loaded.marks);
  analytic::AnalyticTier tier(checked.scenario());
  EXPECT_EQ(estimated.step.time.si(), tier.evaluate(checked).time.si());
  EXPECT_NEAR((estimated.pipeline + estimated.reduction + estimated.update) / estimated.step.time,
              1, 1e-12);
  const auto run = predict(loaded);
  EXPECT_EQ(estimated.step.memory.peak.si(), run.step.memory.peak.si());
  EXPECT_EQ(estimated.scenario.digest, run.digest);
  EXPECT_EQ(estimated.asked, run.asked);
  EXPECT_NEAR(estimated.step.time / run.step.time, 1, 0.1);
  // MFU x time is the model's work, whatever the time.
  EXPECT_NEAR(estimated.step.mfu * estimated.step.time.si(), run.step.mfu * run.step.time.si(),
              1e-12 * run.step.mfu * run.step.time.si());
}

TEST(Estimate, WorkIsStepsWithoutFailures) {
  const auto steps = estimate(planted());
  EXPECT_DOUBLE_EQ(steps.work->si(), 20000 * steps.step.time.si());
  const auto tokens = estimate(planted({"run.until={tokens: 1e12}"}));
  EXPECT_DOUBLE_EQ(tokens.work->si(), 1e12 / (256 * 8192) * tokens.step.time.si());
  EXPECT_EQ(estimate(planted({"run.until={wall: 3 d}"})).work->si(), 3 * 86400);
  EXPECT_FALSE(estimate(planted({"run.until=null"})).work);
}

TEST(Estimate, RefusesWhatBreaksARule) {
  EXPECT_THROW(estimate(planted({"parallelism.tensor=3"})), core::Error);
}

}  // namespace
}  // namespace headway::study

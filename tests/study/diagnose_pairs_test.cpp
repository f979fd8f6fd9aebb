// Two causes planted at once are found in logs that the simulator itself makes.
#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/study/diagnose/pairs.h"

#include "tests/study/planted.h"

namespace headway::study {
namespace {

Hypothesis both(Hypothesis first, const Hypothesis& second) {
  first.also = {second};
  return first;
}

/// Severities that are none of those that are tried.
std::vector<Hypothesis> planted_pairs() {
  Hypothesis card{Cause::half_rate_nic, "", 0.33};
  card.node = "n00";
  Hypothesis saves{Cause::frequent_saves, "", 2.2};
  saves.every = 15;
  const Hypothesis slow{Cause::slow_node, "", 0.78};
  const Hypothesis starved{Cause::data_starvation, "", 0.25};
  return {both(slow, starved),
          both(slow, saves),
          both(card, starved),
          both(slow, card),
          both({Cause::recompute, "", 1, 1}, starved),
          both({Cause::power_cap, "", 0.65}, saves)};
}

bool names(const Suspect& suspect, Cause cause) {
  return std::any_of(suspect.parts.begin(), suspect.parts.end(),
                     [&](const SuspectPart& part) { return part.cause == cause; });
}

TEST(DiagnosePairs, FindsTwoCausesAtOnce) {
  const auto loaded = config::load_scenario_text(planted_scenario(), "planted.yaml",
                                                 {{HEADWAY_SOURCE_DIR "/configs"}, {}});
  const Laboratory laboratory(training::check(loaded.scenario, loaded.marks));
  int right = 0;
  std::uint64_t seed = 31;
  std::string wrong;
  for (const Hypothesis& planted : planted_pairs()) {
    const auto report = diagnose(loaded, planted_logs(laboratory, planted, seed++));
    const Suspect& first = report.suspects.front();
    const bool found = names(first, planted.cause) && names(first, planted.also[0].cause);
    right += found ? 1 : 0;
    if (!found) {
      wrong += fmt::format("planted {}: said {} ({:.3f})\n", cause_words(planted),
                           cause_words(first.best), first.probability);
      continue;
    }
    // Mending both is mending the whole, or what of it they explain; either alone brings less.
    const double healthy = laboratory.healthy().mean_step.si();
    const auto measured = [&](Feature feature) {
      return std::find_if(report.compared.begin(), report.compared.end(),
                          [&](const Compared& row) { return row.feature == feature; })
          ->measured;
    };
    const double step = measured(Feature::step_time) / (1 - measured(Feature::pauses));
    EXPECT_NEAR(first.mending.step_share * step, std::min(first.step_s, step) - healthy, 1e-9);
    for (const SuspectPart& part : first.parts) {
      EXPECT_LT(part.mending.step_share, first.mending.step_share);
    }
  }
  RecordProperty("right", right);
  EXPECT_GE(right, 5) << wrong;
}

// Steps that a node at 80 % and a wait of a quarter make longer: T / 0.8 of the passes and the
// wait, which is the same for all.
TEST(DiagnosePairs, AreSimulatedTogether) {
  const auto loaded = config::load_scenario_text(planted_scenario(), "planted.yaml",
                                                 {{HEADWAY_SOURCE_DIR "/configs"}, {}});
  const Laboratory laboratory(training::check(loaded.scenario, loaded.marks));
  const Hypothesis slow{Cause::slow_node, "", 0.8};
  const Hypothesis starved{Cause::data_starvation, "", 0.25};
  const double healthy = laboratory.healthy().step.time.si();
  const Imagined together = laboratory.imagine(both(slow, starved));
  EXPECT_NEAR(together.step.time.si(), laboratory.imagine(slow).step.time.si() + 0.25 * healthy,
              1e-6 * healthy);
  EXPECT_DOUBLE_EQ(together.clock_ratio, 0.8);
  EXPECT_DOUBLE_EQ(together.input.si(), 0.25 * healthy);
}

}  // namespace
}  // namespace headway::study

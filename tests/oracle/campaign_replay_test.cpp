// The interruptions of a real run, replayed: GLM-130B, 96 nodes of 8 A100, 52 days in 2022.
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "sim/campaign/trials.h"
#include "sim/import/measured/failure_events.h"

#include "tests/oracle/campaign_terms.h"

namespace headway::campaign {
namespace {

using core::Seconds;

constexpr double kStep = 88.5;  // seconds, from the same log

TEST(CampaignReplay, StrikesWhenTheLogSays) {
  const std::string path = HEADWAY_SOURCE_DIR "/tests/data/glm130b_events.csv";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  failures::FailureSpec table;
  table.recorded = import::read_failure_events(text.str(), path).events;

  JobModel model;
  model.recovery = JobRecovery::at_once();
  model.gpus = 768;
  model.gpus_per_node = 8;
  model.spare_nodes = 12;
  model.end.wall = Seconds(52 * kDay);
  model.step = Seconds(kStep);
  model.interval = Seconds(100 * kStep);  // a save every 100 steps
  model.whole_steps = true;
  model.stall = Seconds(60);
  model.recovery.container_start = Seconds(1800);
  model.recovery.repair = Seconds(3 * kDay);
  model.hazards = failures::hazards_of(table, {768, 96});

  const TrialResult result = run_trials(model, 1, 1).front();
  std::int64_t interruptions = 0;
  for (const auto count : result.interruptions) {
    interruptions += count;
  }
  EXPECT_EQ(interruptions, 12);
  EXPECT_EQ(result[Account::wait], 0);
  // Each failure loses what came after the last save, by hand from the log's times.
  const double segment = 100 * kStep + 60;
  double lost = 0;
  double start = 0;
  for (const auto& event : table.recorded) {
    const double ran = event.at.si() - start;
    const double rest = ran - std::floor(ran / segment) * segment;
    lost += std::min(rest, 100 * kStep);
    start = event.at.si() + 1800;
  }
  EXPECT_NEAR(core::Clock::campaign().to_seconds(result[Account::lost]).si(), lost, 1e-3);
}

}  // namespace
}  // namespace headway::campaign

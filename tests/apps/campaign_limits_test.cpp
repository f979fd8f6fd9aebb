// Extreme values of the run, each of which once ended in a signal, in "internal error" or in
// figures that cannot be: now exit 2, with the place and what to do.
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using CampaignLimits = ProgramTest;

constexpr const char* kLimitsRun =
    "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, prices: {use: "
    "h100-on-demand-2026-05}, trials: 4, checkpoint: {interval: 15 min, mode: async}}\n";

struct Case {
  std::string arguments, complaint;
};

TEST_F(CampaignLimits, AreRefusedWhereTheyAreWritten) {
  write_small("s.yaml", kLimitsRun);
  const std::vector<Case> cases{
      {"run s.yaml --set 'cluster.storage.write_bandwidth=1 B/s'",
       "write_bandwidth '1 B/s' must be from 1 MB/s to 1e9 GB/s"},
      {"run s.yaml --set 'run.data.bytes_per_token=1 EB'",
       "bytes_per_token '1 EB' must be from 0.001 B to 1 GB"},
      {"run s.yaml --set 'run.data.bytes_per_token=1 GB'",
       "the storage feeds the job so slowly that a step takes"},
      {"run s.yaml --set 'run.checkpoint.persist=100 years'",
       "persist=100 years: a save would take 99.9 years; correct the measured time"},
      {"run s.yaml --set 'run.recovery.communicator_start=1e9 s'",
       "communicator_start=1e9 s: starting the communicators would take 31.7 years; lower it"},
      {"run s.yaml --set 'run.recovery.communicator_start_per_rank=1e9 s'",
       "communicator_start_per_rank=1e9 s: starting the communicators would take"},
      {"run s.yaml --set 'run.recovery.in_process_start=1e300 s'",
       "in_process_start '1e300 s' must be between 0 and 100 years"},
      {"run s.yaml --set run.until='{tokens: 1e30}'", "tokens '1e30' must be from 1 to 1e18"},
      {"run s.yaml --set run.until='{tokens: 1e18}'",
       "and a campaign is simulated for 100 at most; train on fewer tokens"},
      {"run s.yaml --set 'run.prices.gpu_hour=1e300 USD/h'",
       "gpu_hour '1e300 USD/h' must be from 0 to 100,000 USD/h"},
      {"run s.yaml --set 'run.until={wall: 100 years}' --set "
       "run.failures.hazards[0].count=1000000000",
       "a trial simulates 1e+06 failures at most; give longer times between failures"},
      {"drill s.yaml --fault hang --monitor 'watchdog=1e300 s'",
       "time '1e300 s' must be above 0 and at most 100 years"},
      {"drill s.yaml --fault hang --hours nan", "--hours"},
      {"drill s.yaml --fault hang,since_save=nan", "since_save 'nan'"}};
  for (const auto& [arguments, complaint] : cases) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(complaint)) << arguments;
  }
}

// The failures of 16,384 GPUs on one: nodes fail far faster than they come back, and ten thousand
// years of waiting for them took a minute to draw.
TEST_F(CampaignLimits, ARunOfMoreThanACenturyIsGivenUp) {
  const Outcome outcome = run("run " HEADWAY_ROOT
                              "/configs/scenarios/distill-llama-8b-from-70b-64-h100.yaml --set "
                              "run.failures.observed.gpus=1");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("100 years after it began it is not done"));
}

// The largest values that the ranges allow are answered or refused, never an error of the program.
TEST_F(CampaignLimits, TheEdgesOfTheRangesAreAnsweredOrRefused) {
  write_small("s.yaml", kLimitsRun);
  for (const std::string& edge : std::vector<std::string>{
           "'run.until={wall: 100 years}'", "'run.recovery.repair=100 years'",
           "'run.recovery.container_start=100 years'", "'run.checkpoint.interval=100 years'",
           "'run.checkpoint.interval=1 ms'", "'run.checkpoint.persist=100 years'",
           "'run.checkpoint.fixed_cost=1 h'", "run.checkpoint.every=1000000",
           "run.checkpoint.keep=1000000", "run.recovery.wrong_blame=0.99",
           "run.checkpoint.unreadable=0.999", "run.recovery.repair_sigma=5",
           "'cluster.storage.write_bandwidth=1 MB/s'", "'cluster.storage.read_bandwidth=1 MB/s'",
           "'run.failures.hazards[0].latent=100 years'",
           "'run.failures.hazards[0].detection=100 years'"}) {
    const Outcome outcome = run("run s.yaml --format json --set " + edge);
    EXPECT_THAT(outcome.code, testing::AnyOf(0, 2, 3)) << edge << "\n" << outcome.err;
  }
}

}  // namespace
}  // namespace headway::apps

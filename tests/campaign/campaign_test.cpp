// From a checked scenario to weeks of training: resolution of `auto`, scale of Llama 3,
// determinism, money.
#include "sim/campaign/campaign.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/campaign/energy.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/campaign/saves/resolve_saves.h"
#include "sim/core/error.h"

namespace headway::campaign {
namespace {

using core::Seconds;

constexpr double kSecondsADay = 86400;

failures::HazardSpec counted(const char* name, std::int64_t count, bool node_lost) {
  failures::HazardSpec hazard;
  hazard.name = name;
  hazard.count = count;
  hazard.node_lost = node_lost;
  return hazard;
}

/// The 419 unexpected interruptions of the 54-day snapshot of Llama 3 (table 5), by class.
failures::FailureSpec llama3_failures() {
  failures::FailureSpec table;
  table.name = "Llama 3, 54 days";
  table.observed = failures::ExposureSpec{16384, 8, Seconds(54 * kSecondsADay)};
  table.hazards = {counted("Faulty GPU", 148, true),
                   counted("GPU HBM3 memory", 72, true),
                   counted("Software bug", 54, false),
                   counted("Network switch or cable", 35, false),
                   counted("Host maintenance", 32, true),
                   counted("GPU SRAM", 19, true),
                   counted("GPU system processor", 17, true),
                   counted("NIC", 7, true),
                   counted("NCCL watchdog", 7, false),
                   counted("Silent data corruption", 6, true),
                   counted("Thermal", 6, true),
                   counted("SSD", 3, true),
                   counted("Power supply", 3, true),
                   counted("Server chassis", 2, true),
                   counted("IO expansion board", 2, true),
                   counted("Dependency", 2, false),
                   counted("CPU", 2, true),
                   counted("System memory", 2, true)};
  return table;
}

/// 405B on 2,048 nodes, made by hand so that no catalogue can change the test.
training::Scenario scenario() {
  training::Scenario s;
  s.name = "test";
  auto& cluster = s.cluster;
  cluster.nodes = 2048;
  cluster.spares = 64;
  cluster.node.gpu.peak.bf16 = core::FlopsPerSecond(989e12);
  cluster.node.gpu.memory = core::Bytes(80e9);
  cluster.node.gpu.host_bandwidth = core::BytesPerSecond(25e9);
  cluster.node.gpu.power = core::Watts(700);
  cluster.node.gpu.idle_power = core::Watts(100);
  cluster.node.gpus = 8;
  cluster.node.nic.count = 8;
  cluster.node.nic.bandwidth = core::BytesPerSecond(50e9);
  cluster.node.host_power = core::Watts(2000);
  cluster.fabric.tiers = 2;
  cluster.fabric.link_bandwidth = core::BytesPerSecond(50e9);
  cluster.storage.emplace();
  cluster.storage->write_bandwidth = core::BytesPerSecond(2e12);
  cluster.storage->read_bandwidth = core::BytesPerSecond(2e12);
  s.model.layers = 126;
  s.model.hidden = 16384;
  s.model.heads = 128;
  s.model.key_value_heads = 8;
  s.model.head_dim = 128;
  s.model.ffn = 53248;
  s.model.vocabulary = 128256;
  s.training.sequence_length = 8192;
  s.training.global_batch = 2048;
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = 16;
  s.parallelism.first_stage_layers = 7;
  s.parallelism.last_stage_layers = 7;
  s.run.until = training::UntilSpec{.tokens = {}, .steps = {}, .wall = Seconds(54 * kSecondsADay)};
  s.run.failures = llama3_failures();
  s.run.trials = 200;
  return s;
}

training::StepResult step() {
  training::StepResult result;
  result.time = Seconds(5.6);
  result.breakdown[core::Activity::compute] = Seconds(4.2);
  result.kernels = {Seconds(4.2)};
  result.breakdown[core::Activity::other] = Seconds(1.4);
  return result;
}

CampaignOutcome simulate(const training::Scenario& s, int threads = 0) {
  return simulate_campaign(training::check(s), step(), {.threads = threads});
}

TEST(Campaign, OfLlama3IsInterruptedAsOftenAsPublished) {
  training::Scenario s = scenario();
  s.run.trials = 500;
  const CampaignOutcome outcome = simulate(s);
  // Failures strike while the job runs or restarts, so Poisson of mean 419 x the exposed share of
  // the wall clock; the mean of 500 trials is known to sqrt(419 / 500) = 0.9 of them.
  const Ledger& ledger = outcome.result.ledger;
  const double down = ledger[Account::detect] + ledger[Account::diagnose] + ledger[Account::wait];
  const double drained =
      60.0 * 16384 *
      (outcome.result.interruptions.mean - 98 * outcome.result.interruptions.mean / 419);
  const double exposed = 1 - (down + drained) / (16384 * 54 * kSecondsADay);
  const double bound = 4 * std::sqrt(419.0 / 500);
  EXPECT_NEAR(outcome.result.interruptions.mean, 419 * exposed, bound);
  EXPECT_LT(bound, 0.01 * 419);
  EXPECT_NEAR(outcome.result.mean_time_between_interruptions.si(), 54 * kSecondsADay / 419, 1e-6);
  double sum = 0;
  for (const auto& count : outcome.result.by_hazard) {
    sum += count.mean;
  }
  EXPECT_NEAR(sum, outcome.result.interruptions.mean, 1e-9);
  EXPECT_NEAR(outcome.result.by_hazard[0].mean, 148 * outcome.result.interruptions.mean / 419, 4);
  EXPECT_DOUBLE_EQ(outcome.result.wall_days.mean, 54);
  EXPECT_GT(outcome.result.ettr.p50, 0.9);
}

TEST(Campaign, HasTheExactFormulaBesideIt) {
  const CampaignOutcome outcome = simulate(scenario());
  ASSERT_TRUE(outcome.result.closed_form_ettr.has_value());
  EXPECT_NEAR(outcome.result.ettr.mean, *outcome.result.closed_form_ettr,
              4 * outcome.result.ettr.standard_error);
  training::Scenario few = scenario();
  few.cluster.spares = 8;  // 8 failures a day, 3 days of repair: the job waits
  const CampaignOutcome waiting = simulate(few);
  EXPECT_FALSE(waiting.result.closed_form_ettr.has_value());
  EXPECT_GT(waiting.result.ledger[Account::wait], 0);
  EXPECT_THAT(waiting.warnings, testing::Contains(testing::HasSubstr("waiting for a node")));
}

TEST(Campaign, GivesTheSameBitsOnAnyNumberOfThreads) {
  const CampaignOutcome one = simulate(scenario(), 1);
  for (const int threads : {2, 8}) {
    const CampaignOutcome other = simulate(scenario(), threads);
    EXPECT_EQ(one.result.event_digest, other.result.event_digest);
    EXPECT_EQ(one.result.ettr.mean, other.result.ettr.mean);
    EXPECT_EQ(one.result.ettr.p5, other.result.ettr.p5);
    EXPECT_EQ(one.result.ledger, other.result.ledger);
  }
}

TEST(Campaign, FollowsTheSeed) {
  training::Scenario other = scenario();
  other.run.seed = 2;
  EXPECT_NE(simulate(scenario()).result.event_digest, simulate(other).result.event_digest);
}

TEST(Campaign, WithoutFailuresIsWorkAndSaves) {
  // 1,000 steps of 5.6 s, a save of 10 s every 100 steps, durable 20 s after the last.
  training::Scenario s = scenario();
  s.run.failures.reset();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  s.run.checkpoint.interval_steps = 100;
  s.run.checkpoint.stall = Seconds(10);
  s.run.checkpoint.persist = Seconds(20);
  const CampaignOutcome outcome = simulate(s);
  EXPECT_DOUBLE_EQ(outcome.result.wall_days.mean * kSecondsADay, 5600 + 100 + 20);
  EXPECT_DOUBLE_EQ(outcome.result.ettr.p95, 5600.0 / 5720);
  EXPECT_DOUBLE_EQ(outcome.result.tokens, 1000.0 * 8192 * 2048);
  EXPECT_EQ(outcome.result.optimal_interval, Seconds(0));
  EXPECT_EQ(outcome.result.downtime, Seconds(0));
  EXPECT_EQ(outcome.result.interruptions.p95, 0);
}

// Steps of 5.6 s: no save comes within one.
TEST(Campaign, AnIntervalIsNoShorterThanAStep) {
  training::Scenario s = scenario();
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(1)};
  const ResolvedJob resolved = resolve_job(training::check(s), step());
  EXPECT_DOUBLE_EQ(resolved.job.interval.si(), 5.6);
  EXPECT_TRUE(std::any_of(
      resolved.warnings.begin(), resolved.warnings.end(), [](const std::string& warning) {
        return warning.find("shorter than a step of 5.6 s") != std::string::npos;
      }));
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(6)};
  EXPECT_DOUBLE_EQ(resolve_job(training::check(s), step()).job.interval.si(), 6);
}

TEST(Campaign, RoundsTokensUpToWholeSteps) {
  training::Scenario s = scenario();
  s.run.failures.reset();
  s.run.until = training::UntilSpec{.tokens = 8192.0 * 2048 * 10 + 1, .steps = {}, .wall = {}};
  EXPECT_DOUBLE_EQ(simulate(s).result.steps.mean, 11);
}

// 1,000 steps of 5.60000000033 s end between two microseconds of the clock.
TEST(Campaign, DoesTheStepsThatWereAskedForExactly) {
  training::Scenario s = scenario();
  s.run.failures.reset();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  auto odd = step();
  odd.time = Seconds(5.60000000033);
  const auto outcome = simulate_campaign(training::check(s), odd);
  EXPECT_EQ(outcome.result.steps.p5, 1000);
  EXPECT_EQ(outcome.result.steps.mean, 1000);
}

TEST(Campaign, ResolvesTheAutomaticIntervalToTheOptimum) {
  const ResolvedJob resolved = resolve_job(training::check(scenario()), step());
  // The fixed cost of 1 s, and 405.85e9 parameters x 14 B / 16,384 GPUs / 25 GB/s.
  EXPECT_NEAR(resolved.job.stall.si(), 1 + 405.85e9 * 14 / 16384 / 25e9, 1e-5);
  const Seconds best =
      optimal_interval(resolved.job.stall, Seconds(54 * kSecondsADay / 419), resolved.job.persist);
  EXPECT_DOUBLE_EQ(resolved.job.interval.si(), std::max(best.si(), 5.6));
  const bool told = std::any_of(
      resolved.assumptions.begin(), resolved.assumptions.end(),
      [](const auto& assumption) { return assumption.key == "run.checkpoint.interval"; });
  EXPECT_TRUE(told);
}

// Of a run of an hour with a save each half hour two are ever made, however many would be kept:
// 11.4 of 20 TB. What is not made needs no room.
TEST(Campaign, StoresNoMoreCheckpointsThanItMakes) {
  training::Scenario s = scenario();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = {}, .wall = Seconds(3600)};
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(1800)};
  s.run.checkpoint.keep = 50000;
  s.cluster.storage->capacity = core::Bytes(20e12);
  EXPECT_NO_THROW(simulate(s));
  s.cluster.storage->capacity = core::Bytes(11e12);
  EXPECT_THROW(simulate(s), core::Error);
  // Before GPUs that are taken back are left a save is made too: their number is not that of the
  // interval, so all that may be kept must fit.
  s.cluster.storage->capacity = core::Bytes(20e12);
  s.run.failures->hazards.front().effect = failures::Effect::preemption;
  s.run.checkpoint.keep = 20;
  EXPECT_THROW(simulate(s), core::Error);
  s.cluster.storage->capacity = core::Bytes(130e12);
  EXPECT_NO_THROW(simulate(s));
}

// The sum over time, save by save, each there from its end until `keep` newer ones are: 19 saves of
// which all are kept are 9 on average, of which one is kept 18 / 19.
TEST(Campaign, PaysForTheCheckpointsThatAreThere) {
  for (const std::int64_t saves : {1, 2, 19, 1000}) {
    for (const int keep : {1, 2, 19, 40000}) {
      double there = 0;
      for (std::int64_t n = 0; n < saves; ++n) {
        there += static_cast<double>(std::min<std::int64_t>(n, keep)) / static_cast<double>(saves);
      }
      EXPECT_NEAR(mean_kept(saves, keep), there, 1e-9 * (1 + there)) << saves << " " << keep;
    }
  }
  EXPECT_EQ(mean_kept(0, 3), 0);
  EXPECT_DOUBLE_EQ(mean_kept(19, 40000), 9);
  // In the bill: a save every tenth of the run, 4.5 of 5.68 TB are there on average.
  training::Scenario s = scenario();
  s.run.failures.reset();
  s.run.checkpoint.keep = 100000;
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(5.4 * kSecondsADay)};
  price::PriceSpec prices;
  prices.storage = core::DollarsPerByteSecond(1e-18);
  s.run.prices = prices;
  EXPECT_NEAR(
      simulate(s).mean_bill->storage.si() / (1e-18 * 405.85e9 * 14 * 4.5 * 54 * kSecondsADay), 1,
      1e-4);
}

TEST(Campaign, RefusesMoreCheckpointsThanTheStorageHolds) {
  training::Scenario s = scenario();
  s.cluster.storage->capacity = core::Bytes(20e12);
  EXPECT_THROW(simulate(s), core::Error);
  s.run.checkpoint.keep = 2;  // three of 5.7 TB
  EXPECT_NO_THROW(simulate(s));
}

// 405.85e9 x 14 B = 5.68 TB a save: three kept and one being written leave 7.3 of 30 TB, which a
// data set of 5 TB fits and one of 8 TB does not, nor an archive of every tenth of the run.
TEST(Campaign, CountsTheDataSetAndTheArchiveIntoTheStorage) {
  training::Scenario s = scenario();
  s.cluster.storage->capacity = core::Bytes(30e12);
  s.run.checkpoint.keep = 3;
  s.run.data = storage::DataSpec{};
  s.run.data->dataset = core::Bytes(5e12);
  EXPECT_NO_THROW(simulate(s));
  s.run.data->dataset = core::Bytes(8e12);
  EXPECT_THROW(simulate(s), core::Error);
  s.run.data.reset();
  EXPECT_NO_THROW(simulate(s));
  s.run.checkpoint.archive = Seconds(1 * kSecondsADay);
  EXPECT_THROW(simulate(s), core::Error);
}

// 5.68 TB over 2,048 nodes: 2.8 GB wait in each host until they are written.
TEST(Campaign, BuffersAsynchronousSavesInTheHost) {
  training::Scenario s = scenario();
  s.cluster.node.host_memory = core::Bytes(3e9);
  EXPECT_NO_THROW(simulate(s));
  s.cluster.node.host_memory = core::Bytes(2.5e9);
  EXPECT_THROW(simulate(s), core::Error);
  s.run.checkpoint.mode = storage::CheckpointMode::synchronous;
  EXPECT_NO_THROW(simulate(s));
}

TEST(Campaign, WarnsOfSavesThatReachBackTooLittle) {
  training::Scenario s = scenario();
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(900)};
  s.run.checkpoint.keep = 3;
  const auto warnings = [&] {
    const auto resolved = resolve_job(training::check(s), step());
    return testing::PrintToString(resolved.warnings);
  };
  EXPECT_THAT(warnings(), testing::Not(testing::HasSubstr("reach back")));
  s.run.failures->hazards[0].latent = Seconds(6 * 3600);
  EXPECT_THAT(warnings(), testing::HasSubstr("leads back to the start of the run"));
  s.run.checkpoint.archive = Seconds(kSecondsADay);
  EXPECT_THAT(warnings(), testing::HasSubstr("leads back to the archive"));
  s.run.checkpoint.unreadable = 0.2;  // 0.2^3 = 0.8 %
  EXPECT_THAT(warnings(), testing::HasSubstr("0.8 % of the restarts"));
}

// A tenth of the parts lives 100 h on average; after 100 h of burn-in 1 / e of them are left:
// 1 - 0.1 (1 - 1 / e) pass, of which 0.1 / e / that are defective.
TEST(Campaign, TellsTheYieldOfTheBurnIn) {
  training::Scenario s = scenario();
  failures::HazardSpec infant;
  infant.name = "infant";
  infant.mtbf = Seconds(100 * 3600);
  infant.age = Seconds(100 * 3600);
  infant.law.kind = failures::LawKind::defects;
  infant.law.defective = 0.1;
  s.run.failures->hazards.push_back(infant);
  const auto resolved = resolve_job(training::check(s), step());
  const auto told = std::find_if(
      resolved.assumptions.begin(), resolved.assumptions.end(),
      [](const auto& assumption) { return assumption.key == "run.failures.infant.burn_in"; });
  ASSERT_NE(told, resolved.assumptions.end());
  EXPECT_EQ(told->value, "yield 93.68 %");
  EXPECT_THAT(told->why, testing::HasSubstr("3.93 % are defective, of new ones 10 %"));
}

TEST(Campaign, RefusesARunThatWouldNeverEnd) {
  training::Scenario s = scenario();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  s.run.recovery.container_start = Seconds(10 * 54 * kSecondsADay / 419);
  EXPECT_THROW(simulate(s), core::Error);
}

// Nodes that are taken away are billed on: said where there are such.
TEST(Campaign, SaysThatNodesThatAreTakenAwayAreBilled) {
  training::Scenario s = scenario();
  s.run.prices = price::PriceSpec{};
  const auto says = [&] {
    const auto all = simulate(s).assumptions;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& one) { return one.key == "cost.gpus_usd"; });
  };
  EXPECT_FALSE(says());
  s.run.failures->hazards.front().effect = failures::Effect::preemption;
  EXPECT_TRUE(says());
}

TEST(Campaign, BillsEveryGpuHour) {
  training::Scenario s = scenario();
  price::PriceSpec prices;
  prices.gpu_hour = core::DollarsPerSecond(2.0 / 3600);
  prices.spare_share = 0.5;
  prices.pue = 1;
  s.run.prices = prices;
  const CampaignOutcome outcome = simulate(s);
  ASSERT_TRUE(outcome.mean_bill && outcome.total_usd);
  const double hours = 54 * 24;
  EXPECT_NEAR(outcome.mean_bill->gpus.si(), 2 * hours * 16384, 1);
  EXPECT_NEAR(outcome.mean_bill->spares.si(), hours * 64 * 8, 1);
  EXPECT_NEAR(outcome.total_usd->mean, outcome.mean_bill->total().si(), 1);
  // Energy is the integral of two powers over the ledger.
  const training::MachinePower power =
      training::machine_power(s.cluster, s.cluster.spares, 4.2 / 5.6);
  const Ledger& ledger = outcome.result.ledger;
  const Seconds stepping((ledger[Account::useful] + ledger[Account::lost]) / 16384);
  EXPECT_NEAR(outcome.mean_bill->energy / it_energy(power, stepping, Seconds(54 * kSecondsADay)), 1,
              1e-9);
  // Steps that wait for input draw no more than standing ones: starved to twice the step, as many
  // steps take the power of training for as long as before.
  training::Scenario fed = s, starved = s;
  fed.run.failures.reset();
  fed.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  starved.run = fed.run;
  starved.run.data = storage::DataSpec{};
  starved.run.data->bytes_per_token = core::Bytes(2 * 5.6 * 2e12 / (8192.0 * 2048));
  const CampaignOutcome waits = simulate(starved), runs = simulate(fed);
  EXPECT_NEAR(waits.result.ledger[Account::input] / runs.result.ledger[Account::useful], 1, 1e-6);
  EXPECT_NEAR(
      (waits.mean_bill->energy - runs.mean_bill->energy) / (power.standing * Seconds(1000 * 5.6)),
      1, 1e-3);
  // A ramp adds time, in which machines stand, and no step.
  training::Scenario ramped = fed;
  ramped.run.bring_up = price::BringUpSpec{};
  ramped.run.bring_up->ramp = Seconds(1000);
  ramped.run.bring_up->ramp_from = 0.5;
  EXPECT_NEAR((simulate(ramped).mean_bill->energy - runs.mean_bill->energy) /
                  (power.standing * Seconds(250)),
              1, 1e-6);
  // A feed's PUE is the building's, in the bill too.
  s.cluster.power.emplace().facility = core::Watts(1e9);
  s.cluster.power->pue = 1.5;
  EXPECT_NEAR(simulate(s).mean_bill->energy / outcome.mean_bill->energy, 1.5, 1e-9);
  // Dollars a useful hour: total / (ETTR x GPU hours).
  EXPECT_NEAR(outcome.mean_bill->usd_per_useful_gpu_hour,
              outcome.mean_bill->total().si() / (outcome.result.ettr.mean * hours * 16384), 1e-9);
}

// A run of so many hours of wall clock that nothing stops: its last save, of 1 s + 14 ms, is
// timed to the end, and all but the saves is work. With failures it is less, and never below 0.8
// of the exact long run (0.94) here.
TEST(Campaign, IsAsEfficientAsItsSavesLetIt) {
  training::Scenario s = scenario();
  s.run.checkpoint.persist = Seconds(0);
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(600)};
  for (const double hours : {0.5, 6.0, 100.0}) {
    s.run.until = training::UntilSpec{.tokens = {}, .steps = {}, .wall = Seconds(hours * 3600)};
    s.run.failures.reset();
    const double stall = 1 + 405.85e9 * 14 / 16384 / 25e9;
    const double saves = std::ceil(hours * 3600 / (600 + stall));
    const CampaignOutcome healthy = simulate(s);
    EXPECT_NEAR(healthy.result.ettr.mean, 1 - saves * stall / (hours * 3600), 1e-6) << hours;
    s.run.failures = llama3_failures();
    const CampaignOutcome struck = simulate(s);
    EXPECT_LT(struck.result.ettr.mean, healthy.result.ettr.mean) << hours;
    EXPECT_GT(struck.result.ettr.mean, 0.8 * 0.94) << hours;
    EXPECT_LE(struck.result.ettr.p95, healthy.result.ettr.mean + 1e-9) << hours;
    EXPECT_NEAR(struck.result.goodput.mean, struck.result.ettr.mean * 2048 / (2048 + 64), 1e-9);
  }
}

// An interval beyond the end of the run is the end of the run: whoever asks for 10 days between the
// saves of a run of 0.65 days gets the same run as whoever asks for 20, and neither is refused.
TEST(Campaign, DoesNotRefuseAnIntervalLongerThanTheRun) {
  training::Scenario s = scenario();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 10000, .wall = {}};
  s.run.failures->hazards.resize(1);
  s.run.failures->hazards[0].count = 40;  // one in 1.35 days
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(10 * kSecondsADay)};
  const auto ten = simulate(s);
  s.run.checkpoint.interval = core::OrAuto<Seconds>{Seconds(20 * kSecondsADay)};
  const auto twenty = simulate(s);
  EXPECT_EQ(ten.result.event_digest, twenty.result.event_digest);
  EXPECT_EQ(ten.result.checkpoint_interval.si(), 56000);
}

// A save costs its second however little it writes: no interval of the advice is shorter than a
// step or than that, and a fixed cost of a minute moves the best interval to the optimum for it.
TEST(Campaign, AdvisesNoIntervalBelowTheFixedCostOfASave) {
  training::Scenario s = scenario();
  s.run.trials = 20;
  const auto outcome = simulate(s);
  ASSERT_FALSE(outcome.result.advice.interval_curve.empty());
  for (const auto& point : outcome.result.advice.interval_curve) {
    EXPECT_GE(point.interval.si(), 5.6);
  }
  EXPECT_EQ(outcome.result.checkpoint_stall.si(),
            resolve_job(training::check(s), step()).job.stall.si());
  s.run.checkpoint.fixed_cost = Seconds(60);
  const ResolvedJob slow = resolve_job(training::check(s), step());
  EXPECT_NEAR(slow.job.stall.si(), 60.0139, 1e-3);
  EXPECT_NEAR(slow.job.interval.si(),
              optimal_interval(slow.job.stall, Seconds(54 * kSecondsADay / 419)).si(), 1e-6);
  EXPECT_EQ(shortest_interval(slow.job).si(), 60);
  // Measured, the stall has the cost in it.
  s.run.checkpoint.stall = Seconds(0.25);
  const ResolvedJob measured = resolve_job(training::check(s), step());
  EXPECT_EQ(measured.job.stall.si(), 0.25);
  EXPECT_EQ(shortest_interval(measured.job).si(), 5.6);
}

std::string complaint(const training::Scenario& s) {
  core::SourceMarks marks;
  marks[""] = {"s.yaml", 1, 1, 1, ""};
  marks["cluster.storage.write_bandwidth"] = {"s.yaml", 7, 1, 1, ""};
  marks["run.data.bytes_per_token"] = {"s.yaml", 8, 1, 1, ""};
  marks["run.until"] = {"s.yaml", 9, 1, 1, ""};
  marks["run.prices"] = {"s.yaml", 11, 1, 1, ""};
  marks["run.failures"] = {"s.yaml", 10, 1, 1, ""};
  marks["run.recovery.step_tax"] = {"s.yaml", 12, 1, 1, ""};
  try {
    simulate_campaign(training::check(s, marks), step(), {.threads = 1});
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

// What the clock or the memory of a campaign cannot hold is refused where it was written.
TEST(Campaign, RefusesWhatItCannotSimulateWithItsPlace) {
  using testing::StartsWith;
  training::Scenario s = scenario();
  s.cluster.storage->write_bandwidth = core::BytesPerSecond(1);
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:7:1: a save would take 1.8e+05 years; give"));
  s = scenario();
  s.run.data = storage::DataSpec{};
  s.run.data->bytes_per_token = core::Bytes(1e18);
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:8:1: the storage feeds the job so slowly"));
  s = scenario();
  s.run.until = training::UntilSpec{.tokens = 1e30, .steps = {}, .wall = {}};
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:9:1: the steps of the run alone last"));
  s = scenario();
  s.run.failures->hazards[0].count = 10'000'000;
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:10:1: something fails every 0.467 s"));
  // A tax of ten years a step lasts for centuries, and what fails meanwhile is counted with it.
  s = scenario();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  s.run.recovery.step_tax = failures::StepTaxSpec{Seconds(3650 * kSecondsADay), {}};
  EXPECT_THAT(complaint(s), testing::HasSubstr("s.yaml:12:1: with 3.15e+08 s more a step the run"));
  EXPECT_THAT(complaint(s), testing::HasSubstr("\ns.yaml:10:1: something fails every"));
  // 148 in 54 days, each slow for 500: 1,370 at once.
  s = scenario();
  s.run.failures->hazards[0].effect = failures::Effect::slow_link;
  s.run.failures->hazards[0].lasts = Seconds(500 * kSecondsADay);
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:10:1: 1.37e+03 parts are slow at once because of"));
  s = scenario();
  s.run.prices = price::PriceSpec{};
  s.run.prices->storage = core::DollarsPerByteSecond(1e300);
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:11:1: the bill of the storage is inf"));
  s = scenario();
  s.run.until = training::UntilSpec{.tokens = {}, .steps = 1000, .wall = {}};
  s.run.recovery.container_start = Seconds(10 * 54 * kSecondsADay / 419);
  EXPECT_THAT(complaint(s), StartsWith("s.yaml:9:1: the run would hardly end: with a failure"));
}

}  // namespace
}  // namespace headway::campaign

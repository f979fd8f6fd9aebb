// What a run reads to train on where cached logits of a teacher are part of it.
#include "sim/campaign/run_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/campaign/campaign.h"
#include "sim/campaign/resolve/resolve.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::campaign {
namespace {

using core::Bytes;
using core::BytesPerSecond;
using ::testing::HasSubstr;

constexpr double kLogitsOfToken = 256 * 5;  // values of two bytes, numbers of three
constexpr double kTokensOfRun = 1000 * 32 * 4096.0;

/// Eight nodes, tensor 8 x pipeline 4 x data 2: two of them compute the loss.
training::Scenario cached_logits() {
  training::Scenario s = training::eight_nodes();
  s.run.until = training::UntilSpec{};
  s.run.until->steps = 1000;
  s.training.distillation = workload::DistillationSpec{};
  s.training.distillation->top_k = 256;
  s.training.distillation->cached = workload::CachedLogitsSpec{};
  return s;
}

RunInput input_of(const training::Scenario& s, double tokens = kTokensOfRun) {
  return run_input(training::check(s), tokens).value();
}

TEST(RunInput, IsNothingWhereNothingIsSaid) {
  training::Scenario s = cached_logits();
  s.training.distillation.reset();
  EXPECT_FALSE(run_input(training::check(s), kTokensOfRun));
  s.run.data = storage::DataSpec{};
  s.run.data->dataset = Bytes(1e12);
  const RunInput data = input_of(s);
  EXPECT_EQ(data.data, *s.run.data);
  EXPECT_EQ(data.stored, Bytes(1e12));
  EXPECT_EQ(data.busiest, 1);
  EXPECT_TRUE(data.shares.empty());
}

// Two of eight nodes read: four times the mean.
TEST(RunInput, OfLogitsIsReadWhereTheLossIs) {
  const RunInput input = input_of(cached_logits());
  EXPECT_DOUBLE_EQ(input.data.bytes_per_token.si(), kLogitsOfToken);
  EXPECT_DOUBLE_EQ(input.logits.si(), kTokensOfRun * kLogitsOfToken);
  EXPECT_EQ(input.stored, input.logits);
  EXPECT_DOUBLE_EQ(input.busiest, 4);
  ASSERT_EQ(input.shares.size(), 8U);
  double all = 0;
  for (const double share : input.shares) {
    EXPECT_TRUE(share == 0 || share == 0.5) << share;
    all += share;
  }
  EXPECT_DOUBLE_EQ(all, 1);
}

// Beside 4 B of each token, an eighth of them a node: the nodes of the loss read 0.5 + 640 of
// 1,284.
TEST(RunInput, HasTheDataBesideTheLogits) {
  training::Scenario s = cached_logits();
  s.run.data = storage::DataSpec{};
  s.run.data->bytes_per_token = Bytes(4);
  s.run.data->dataset = Bytes(4e6);  // a million tokens, each read 131 times
  const RunInput input = input_of(s);
  EXPECT_DOUBLE_EQ(input.data.bytes_per_token.si(), 1284);
  EXPECT_DOUBLE_EQ(input.logits.si(), 1e6 * kLogitsOfToken);
  EXPECT_DOUBLE_EQ(input.stored.si(), 1e6 * 1284);
  EXPECT_DOUBLE_EQ(input.data.dataset.si(), 1e6 * 1284);
  EXPECT_DOUBLE_EQ(input.repeats, 1);
  EXPECT_NEAR(input.busiest, 8 * (0.5 + 640) / 1284, 1e-12);
  // A run that is shorter than the data set has the logits of its tokens.
  EXPECT_DOUBLE_EQ(input_of(s, 1e5).logits.si(), 1e5 * kLogitsOfToken);
}

// Tensor groups of 16 over two nodes: both read all of them, or of whole vocabularies a half.
TEST(RunInput, IsReadTwiceWhereATensorGroupIsOnTwoNodes) {
  training::Scenario s = cached_logits();
  s.model.key_value_heads = 16;
  s.parallelism.tensor = 16;
  s.parallelism.pipeline = 2;
  const RunInput twice = input_of(s);
  EXPECT_DOUBLE_EQ(twice.data.bytes_per_token.si(), 2 * kLogitsOfToken);
  EXPECT_DOUBLE_EQ(twice.logits.si(), kTokensOfRun * kLogitsOfToken);
  EXPECT_DOUBLE_EQ(twice.busiest, 2);
  s.training.distillation->top_k = 0;
  EXPECT_DOUBLE_EQ(input_of(s).data.bytes_per_token.si(), 2 * 128256);
  s.training.distillation->top_k = 256;
  s.run.data = storage::DataSpec{};
  s.run.data->dataset = Bytes(4e6);
  EXPECT_DOUBLE_EQ(input_of(s).repeats, (4 + 2560) / 1284.0);
}

// Micro-batches enter a bidirectional pipeline at both ends: half of the losses at each.
TEST(RunInput, OfABidirectionalPipelineIsReadAtBothEnds) {
  training::Scenario s = cached_logits();
  s.parallelism.schedule = workload::ScheduleKind::dual_pipe;
  EXPECT_DOUBLE_EQ(input_of(s).busiest, 2);
}

// The two clients are asked for t x 1,280 / 2 B/s each.
TEST(CachedLogits, StarveTheNodesThatComputeTheLoss) {
  training::Scenario s = cached_logits();
  const auto step = training::simulate_step(training::check(s));
  const double wanted = 32 * 4096 / step.time.si() * kLogitsOfToken;
  const auto starved = [&] {
    const auto checked = training::check(s);
    return resolve_job(checked, step).job.starved;
  };
  s.cluster.storage->read_bandwidth = BytesPerSecond(1e15);
  s.cluster.storage->client_read_bandwidth = BytesPerSecond(wanted / 2 / 3);
  EXPECT_NEAR(starved(), 3, 1e-9);
  s.cluster.storage->client_read_bandwidth = BytesPerSecond(wanted);
  EXPECT_EQ(starved(), 1);
  s.cluster.storage->read_bandwidth = BytesPerSecond(wanted / 2);
  EXPECT_NEAR(starved(), 2, 1e-9);
}

// The same over the fabric of training: each of the two is asked for twice what its client gives.
TEST(CachedLogits, OverTheTrainingFabricAreReadByThoseNodes) {
  training::Scenario s = cached_logits();
  s.cluster.storage->path = storage::StoragePath::shared;
  s.cluster.storage->servers = 4;
  s.cluster.storage->latency = core::Seconds(0);
  const auto step = training::simulate_step(training::check(s));
  const double wanted = 32 * 4096 / step.time.si() * kLogitsOfToken;
  s.cluster.storage->client_read_bandwidth = BytesPerSecond(wanted / 2 / 2);
  EXPECT_NEAR(resolve_job(training::check(s), step).job.starved, 2, 0.02);
}

TEST(CachedLogits, LieInStorageAndArePaidFor) {
  training::Scenario s = cached_logits();
  s.run.trials = 1;
  s.run.prices = price::PriceSpec{};
  const auto step = training::simulate_step(training::check(s));
  const auto resolved = resolve_job(training::check(s), step);
  EXPECT_DOUBLE_EQ(resolved.input_bytes.si(), kTokensOfRun * kLogitsOfToken);
  EXPECT_DOUBLE_EQ(resolved.input_rate.si(), 32 * 4096 / step.time.si() * kLogitsOfToken);
  const auto outcome = simulate_campaign(training::check(s), step);
  EXPECT_DOUBLE_EQ(outcome.result.logits_stored.si(), kTokensOfRun * kLogitsOfToken);
  // One checkpoint is made, of 4.54 G parameters x 14 B = 0.064 TB; 0.168 TB of logits beside it.
  s.cluster.storage->capacity = Bytes(0.24e12);
  EXPECT_NO_THROW(resolve_job(training::check(s), step));
  s.cluster.storage->capacity = Bytes(0.22e12);
  try {
    resolve_job(training::check(s), step);
    FAIL() << "fits";
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("with a data set and cached logits of 0.1678 TB"));
  }
}

}  // namespace
}  // namespace headway::campaign

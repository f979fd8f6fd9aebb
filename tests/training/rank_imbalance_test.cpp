// The slowest data rank: its closed form against draws, and its place in a step.
#include "sim/training/imbalance/rank_imbalance.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sim/core/random.h"
#include "sim/training/explain/explain.h"
#include "sim/training/step/step.h"
#include "sim/workload/vision/work_spread.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using workload::Sharding;

/// Numbers in (0, 1), one after another.
class Numbers {
 public:
  explicit Numbers(std::uint32_t trial) : stream_(1, "rank imbalance test", trial) {}
  double next() { return stream_.uniform(count_++); }

 private:
  core::RandomStream stream_;
  std::uint64_t count_ = 0;
};

/// Work of the documents that fill a sequence of 65,536 tokens; the last is cut.
double packed(Numbers& numbers, const std::vector<workload::DocumentLength>& documents) {
  double left = 65536;
  double work = 0;
  while (left > 0) {
    double at = numbers.next();
    std::size_t i = 0;
    while (i + 1 < documents.size() && at >= documents[i].share) {
      at -= documents[i].share;
      ++i;
    }
    const double length = std::min(left, static_cast<double>(documents[i].tokens));
    work += length * length;
    left -= length;
  }
  return work;
}

/// Largest sum of `m` micro-batches over `ranks`, of which `group` meet in every micro-batch, less
/// the mean of all; mean of many steps.
template <class Work>
double drawn_wait(int ranks, int group, int m, Work work) {
  constexpr std::uint32_t kSteps = 300;
  double waits = 0;
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    Numbers numbers(step);
    double slowest = 0;
    double sum = 0;
    for (int g = 0; g < ranks / group; ++g) {
      double of_group = 0;
      for (int k = 0; k < m; ++k) {
        double most = 0;
        for (int r = 0; r < group; ++r) {
          const double one = work(numbers);
          most = std::max(most, one);
          sum += one;
        }
        of_group += most;
      }
      slowest = std::max(slowest, of_group);
    }
    waits += slowest - sum / ranks;
  }
  return waits / kSteps;
}

TEST(RankImbalance, IsThatOfDrawsOfPackedDocuments) {
  workload::TrainingSpec training;
  training.sequence_length = 65536;
  training.documents = {{512, 0.6}, {2048, 0.3}, {8192, 0.1}};
  const auto square = [](double length) { return length * length; };
  const double deviation = std::sqrt(workload::packed_variance(training, square));
  const auto work = [&](Numbers& numbers) { return packed(numbers, training.documents); };
  for (const auto& [ranks, group, m] :
       {std::array{32, 1, 8}, std::array{32, 32, 4}, std::array{32, 8, 4}}) {
    const double form = expected_wait(wait_factors({ranks, group}), m, {deviation, 0}).si();
    EXPECT_NEAR(form / drawn_wait(ranks, group, m, work), 1, 0.08) << group;
  }
}

TEST(RankImbalance, IsThatOfDrawsOfImages) {
  const workload::ImagesSpec images{8, 4, {{256, 3}, {1024, 1}}};
  const auto time = [](double n) { return n * (1 + n / 1000); };
  const double deviation = std::sqrt(workload::images_variance(images, time));
  // 4 or 12 images, each small or large.
  const auto work = [&](Numbers& numbers) {
    const int count = numbers.next() < 0.5 ? 4 : 12;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      sum += time(numbers.next() < 0.75 ? 256 : 1024);
    }
    return sum;
  };
  const double form = expected_wait(wait_factors({64, 1}), 16, {deviation, 0}).si();
  EXPECT_NEAR(form / drawn_wait(64, 1, 16, work), 1, 0.05);
}

TEST(RankImbalance, OfEqualDocumentsIsNone) {
  workload::TrainingSpec training;
  training.sequence_length = 4096;
  training.documents = {{1024, 1}, {1024, 2}};
  EXPECT_EQ(workload::packed_variance(training, [](double l) { return l * l; }), 0);
  EXPECT_EQ(expected_wait(wait_factors({1, 1}), 8, {1, 0}).si(), 0);
  EXPECT_EQ(expected_wait(wait_factors({8, 1}), 8, {0, 0}).si(), 0);
}

TEST(RankImbalance, KnowsWhichRanksMeet) {
  Scenario s = eight_nodes();
  auto& p = s.parallelism;
  p.tensor = 2;
  p.pipeline = 1;
  EXPECT_EQ(rank_meetings(s, p, 32).group, 1);
  p.sharding = Sharding::zero3;
  EXPECT_EQ(rank_meetings(s, p, 32).group, 32);
  p.sharding = Sharding::hsdp;
  p.shard_group_size = 8;
  EXPECT_EQ(rank_meetings(s, p, 32).group, 8);
  p.pipeline = 2;
  s.training.framework.gather_once = true;
  EXPECT_EQ(rank_meetings(s, p, 16).group, 1);
  s.model.moe = workload::ExpertsSpec{};
  p.expert = 8;
  EXPECT_EQ(rank_meetings(s, p, 16).group, 4);  // tensor ranks have the same tokens
}

// The wait is of every hash: the interval over hashes moves by it, before the factor of the model's
// own error.
TEST(RankImbalance, IsInTheStepsOfAllHashes) {
  Scenario s = eight_nodes();
  s.cluster.fabric.topology = network::Topology::fat_tree;
  s.cluster.fabric.ports_per_leaf = 16;
  s.cluster.fabric.routing = network::Routing::ecmp;
  s.parallelism.tensor = s.parallelism.pipeline = 1;
  s.training.global_batch = 64;
  s.training.documents = {{512, 8}, {4096, 1}};
  const StepResult with = simulate_step(check(s), {.trace = false});
  const StepResult alone = simulate_step(check(s), {.trace = false, .hash_draws = 0});
  s.training.balanced_ranks = true;
  const StepResult balanced = simulate_step(check(s), {.trace = false});
  const double factor = alone.time / alone.interval_low;
  const core::Seconds wait = with.breakdown[core::Activity::rank_imbalance];
  EXPECT_GT(with.interval_high, alone.interval_high);
  EXPECT_NEAR(factor * (with.interval_low - balanced.interval_low) / wait, 1, 1e-6);
  EXPECT_NEAR((with.interval_high - balanced.interval_high) / factor / wait, 1, 1e-6);
}

TEST(RankImbalance, IsALineOfTheStep) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.training.documents = {{512, 8}, {4096, 1}};
  const StepResult with = simulate_step(check(s));
  s.training.balanced_ranks = true;
  const StepResult without = simulate_step(check(s));
  const core::Seconds wait = with.breakdown[core::Activity::rank_imbalance];
  EXPECT_GT(wait.si(), 0);
  EXPECT_NEAR((with.time - without.time) / wait, 1, 1e-9);
  EXPECT_EQ(with.critical_path[core::Activity::rank_imbalance], wait);
  EXPECT_EQ(without.breakdown[core::Activity::rank_imbalance].si(), 0);
  core::Seconds sum;
  for (const core::Seconds part : with.breakdown.values) {
    sum += part;
  }
  EXPECT_NEAR(sum / with.time, 1, 1e-9);
  s.training.balanced_ranks = false;
  const Explanation told = explain_step(check(s), 1000);
  const auto line = std::find_if(told.largest.begin(), told.largest.end(), [](const auto& part) {
    return part.activity == core::Activity::rank_imbalance;
  });
  ASSERT_NE(line, told.largest.end());
  EXPECT_EQ(line->time, wait);
  EXPECT_NEAR(told.step / with.time, 1, 1e-9);
}

// Kernels of attention of 16 layers, forward and backward, and the spread of their documents.
TEST(RankImbalance, ComesFromTheTimeOfAttention) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.training.documents = {{512, 8}, {4096, 1}};
  const double one = micro_batch_spread(s, s.parallelism).language.deviation;
  s.parallelism.micro_batch = 4;
  EXPECT_NEAR(micro_batch_spread(s, s.parallelism).language.deviation / one, 2, 0.1);  // sqrt(4)
  s.parallelism.micro_batch = 1;
  s.model.layers = 32;
  EXPECT_NEAR(micro_batch_spread(s, s.parallelism).language.deviation / one, 2, 1e-9);
  s.parallelism.pipeline = 2;
  EXPECT_NEAR(micro_batch_spread(s, s.parallelism).language.deviation / one, 1, 1e-9);
}

}  // namespace
}  // namespace headway::training

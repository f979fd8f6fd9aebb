// The parts of the engine: queue, digests, integer arithmetic, partitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/infeasible.h"
#include "sim/network/flow/digest.h"
#include "sim/network/flow/integer.h"
#include "sim/network/flow/tick_queue.h"
#include "sim/network/fold/fold.h"
#include "sim/network/fold/partition.h"

#include "tests/network/patterns/patterns.h"

namespace headway::network {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<std::uint32_t> entities(const std::vector<TickQueue::Event>& batch) {
  std::vector<std::uint32_t> list;
  for (const TickQueue::Event& event : batch) {
    list.push_back(event.entity);
  }
  return list;
}

TEST(TickQueue, PopsEverythingOfTheEarliestTick) {
  TickQueue queue;
  queue.schedule({0}, 30);
  queue.schedule({1, 7}, 10);
  queue.schedule({2}, 20);
  queue.schedule({3}, 10);
  EXPECT_THAT(queue.due(5), ElementsAre(30, 10, 20, 10, TickQueue::kNotDue));
  std::vector<TickQueue::Event> batch;
  EXPECT_EQ(queue.pop(batch), 10);
  EXPECT_THAT(batch, UnorderedElementsAre(TickQueue::Event{1, 7}, TickQueue::Event{3}));
  queue.schedule({1}, 30);
  EXPECT_EQ(queue.pop(batch), 20);
  EXPECT_EQ(queue.pop(batch), 30);
  EXPECT_THAT(entities(batch), UnorderedElementsAre(0U, 1U));
  queue.pop(batch);
  EXPECT_TRUE(batch.empty());
}

TEST(TickQueue, ForgetsWhatIsCancelled) {
  TickQueue queue;
  queue.schedule({0}, 5);
  const TickQueue::Place place = queue.schedule({1}, 5);
  queue.schedule({2}, 5);
  queue.cancel(place);
  EXPECT_THAT(queue.due(3), ElementsAre(5, TickQueue::kNotDue, 5));
  std::vector<TickQueue::Event> batch;
  EXPECT_EQ(queue.pop(batch), 5);
  EXPECT_THAT(entities(batch), UnorderedElementsAre(0U, 2U));
}

// Against a plain sort, with more distinct ticks than the cache remembers.
TEST(TickQueue, KeepsTheOrderOfManyTicks) {
  constexpr std::uint32_t kEntities = 20'000;
  TickQueue queue;
  std::vector<core::Tick> expected;
  for (std::uint32_t i = 0; i < kEntities; ++i) {
    const auto tick = static_cast<core::Tick>(scramble(i) % 15'000);
    queue.schedule({i}, tick);
    expected.push_back(tick);
  }
  std::sort(expected.begin(), expected.end());
  std::vector<core::Tick> popped;
  std::vector<TickQueue::Event> batch;
  for (core::Tick tick = queue.pop(batch); !batch.empty(); tick = queue.pop(batch)) {
    popped.insert(popped.end(), batch.size(), tick);
  }
  EXPECT_EQ(popped, expected);
}

// P(a + b) = P(a) P(b), which is what lets a digest be carried over a period.
TEST(Digest, IsExponentialInTime) {
  for (const core::Tick t :
       {core::Tick{1}, core::Tick{255}, core::Tick{256}, core::Tick{123'456'789'012'345}}) {
    const TickPowers a = tick_powers(t);
    const TickPowers b = tick_powers(1000);
    const TickPowers sum = tick_powers(t + 1000);
    EXPECT_EQ(sum.start, a.start * b.start);
    EXPECT_EQ(sum.end, a.end * b.end);
    EXPECT_NE(a.start, tick_powers(t + 1).start);
  }
}

TEST(Digest, SumsGeometricSeries) {
  EXPECT_EQ(geometric_sum(3, 0), 0U);
  EXPECT_EQ(geometric_sum(3, 5), 1U + 3 + 9 + 27 + 81);
  EXPECT_EQ(geometric_sum(1, 1'000'000), 1'000'000U);
}

// 50 GB/s are 0.05 byte/ps: below 2^-4, so the unit is 2^-66 byte/ps and the rate between 2^61 and
// 2^62.
TEST(RateUnit, UsesTheFinestUnitThatFits) {
  const RateUnit unit(core::BytesPerSecond(50e9));
  EXPECT_EQ(unit.shift(), 66);
  const std::int64_t rate = unit.rate(core::BytesPerSecond(50e9));
  EXPECT_GE(rate, std::int64_t{1} << 61);
  EXPECT_LT(rate, std::int64_t{1} << 62);
  TransferTime time;
  EXPECT_EQ(time(unit.volume(core::Bytes(1 << 20)), rate), 20'971'520);
}

TEST(TransferTime, RoundsToTheNearestTick) {
  TransferTime time;
  EXPECT_EQ(time(10, 4), 3);  // 2.5: half goes up
  EXPECT_EQ(time(9, 4), 2);
  EXPECT_EQ(time(11, 4), 3);
  EXPECT_THROW(time(static_cast<Int128>(1) << 100, 1), core::Infeasible);
}

// A ring over leaves of 32 folds to the 32 places in a leaf. The two to four links of a hop carry
// the same flow at the same capacity, so they are one class; all unused links are another.
TEST(Fold, LeavesThePlacesInALeafOfARing) {
  patterns::FatTree tree;
  tree.hosts = 256;
  const Problem ring =
      patterns::ring_all_reduce(tree, core::Bytes(1 << 20), patterns::Dependency::blocking);
  const Folding folding = fold(ring);
  ASSERT_TRUE(folding.folded);
  EXPECT_EQ(folding.problem.actors.size(), 32U);
  EXPECT_EQ(folding.problem.flows.size(), 32U);
  EXPECT_EQ(folding.problem.links.size(), 32U + 1U);
  EXPECT_EQ(folding.problem.actors[0].multiplicity, 8U);
}

// Hash rounds see only a few hops far; around a straggler in a ring every rank has its own
// distance.
TEST(Fold, SplitsWhereHashRoundsEndTooEarly) {
  patterns::FatTree tree;
  tree.hosts = 64;
  Problem ring =
      patterns::ring_all_reduce(tree, core::Bytes(1 << 20), patterns::Dependency::blocking);
  ring.actors[7].colour = 1;
  const FoldGraph graph(ring);
  Partition partition = hash_refine(graph, 3);
  EXPECT_FALSE(is_stable(graph, partition));
  ASSERT_TRUE(split_until_stable(graph, partition, graph.nodes));
  EXPECT_TRUE(is_stable(graph, partition));
  EXPECT_EQ(*std::max_element(partition.class_of.begin(), partition.class_of.begin() + 64), 63U);
  EXPECT_FALSE(fold(ring).folded);
}

// Both refiners end at the coarsest stable partition.
TEST(Fold, HashRoundsAndSplittingAgree) {
  patterns::TrainingStep step;
  step.replicas = 4;
  step.stages = 4;
  Problem problem = patterns::training_step(step);
  problem.actors[3].slowdown_ppm = 1000;
  const FoldGraph graph(problem);
  Partition hashed = hash_refine(graph, 100);
  ASSERT_TRUE(is_stable(graph, hashed));
  Partition split = hash_refine(graph, 0);
  ASSERT_TRUE(split_until_stable(graph, split, graph.nodes));
  EXPECT_EQ(hashed.classes, split.classes);
  EXPECT_EQ(hashed.class_of, split.class_of);
}

TEST(Fold, RefusesAPartitionThatIsNotStable) {
  patterns::FatTree tree;
  const Problem ring =
      patterns::ring_all_reduce(tree, core::Bytes(1 << 20), patterns::Dependency::blocking);
  const FoldGraph graph(ring);
  Partition partition = hash_refine(graph, 100);
  ASSERT_TRUE(is_stable(graph, partition));
  partition.class_of[40] = partition.class_of[41];
  EXPECT_FALSE(is_stable(graph, partition));
}

}  // namespace
}  // namespace headway::network

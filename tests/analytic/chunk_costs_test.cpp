#include "sim/analytic/chunk_costs.h"

#include <gtest/gtest.h>

namespace headway::analytic {
namespace {

using workload::Pass;

double time_of(const ChunkCosts& costs, Pass pass) {
  return costs.passes[static_cast<std::size_t>(pass)];
}

/// Four layers of 1 s forward and 2 s backward; embedding 0.25 and 0.5 s, head 0.75 and 1.5 s, 0.1
/// s to take over a message.
RankCosts rank() {
  RankCosts costs;
  costs.forward = {0, 1, 2, 3, 4};
  costs.backward = {0, 2, 4, 6, 8};
  costs.weight_gradient = {0, 0, 0, 0, 0};
  costs.embedding_forward = 0.25;
  costs.embedding_backward = 0.5;
  costs.head_forward = 0.75;
  costs.head_backward = 1.5;
  costs.receive = 0.1;
  return costs;
}

ChunkClass chunk_of(int layers) {
  ChunkClass chunk;
  chunk.layers = layers;
  return chunk;
}

/// An asynchronous transfer over the NICs, or the wait for one.
TimedBlock transfer(double seconds, int ticket) {
  TimedOperation o;
  o.kind = workload::OperationKind::collective;
  o.seconds = seconds;
  o.asynchronous = true;
  o.shares_network = true;
  o.ticket = ticket;
  TimedBlock block;
  block.add(o);
  return block;
}
TimedBlock wait_for(int ticket) {
  TimedOperation o;
  o.kind = workload::OperationKind::delay;
  o.await = {ticket};
  TimedBlock block;
  block.add(o);
  return block;
}

TEST(ChunkCosts, OfAChunkWithoutTrafficAreItsLayersAndEnds) {
  ChunkScratch scratch;
  const auto inner = chunk_costs(chunk_of(2), {1}, rank(), {}, scratch);
  EXPECT_DOUBLE_EQ(time_of(inner, Pass::forward), 0.1 + 2);
  EXPECT_DOUBLE_EQ(time_of(inner, Pass::backward), 0.1 + 4);
  EXPECT_EQ(time_of(inner, Pass::first_forward), time_of(inner, Pass::forward));
  EXPECT_EQ(time_of(inner, Pass::last_backward), time_of(inner, Pass::backward));
  EXPECT_EQ(inner.ready, 0);
  EXPECT_EQ(inner.tail, 0);
  // With the embedding nothing comes forward, with the head nothing comes backward.
  auto ends = chunk_of(4);
  ends.embedding = ends.head = true;
  const auto whole = chunk_costs(ends, {}, rank(), {}, scratch);
  EXPECT_DOUBLE_EQ(time_of(whole, Pass::forward), 4 + 0.25 + 0.75);
  EXPECT_DOUBLE_EQ(time_of(whole, Pass::backward), 8 + 0.5 + 1.5);
}

TEST(ChunkCosts, OfHalvesAddUpToTheWholeBackward) {
  auto halves = rank();
  halves.weight_gradient = {0, 0.5, 1, 1.5, 2};
  ChunkScratch scratch;
  const auto costs = chunk_costs(chunk_of(4), {}, halves, {}, scratch);
  EXPECT_DOUBLE_EQ(time_of(costs, Pass::weight_gradient), 2);
  EXPECT_DOUBLE_EQ(time_of(costs, Pass::whole_backward),
                   time_of(costs, Pass::backward) + time_of(costs, Pass::weight_gradient));
}

/// Two layers of which the second's weights arrive while the first computes, and whose gradients
/// are reduced layer by layer after the last backward.
struct Traffic {
  ChunkClass chunk = chunk_of(2);
  DataCosts data;

  Traffic(double gather, double reduce) {
    for (const TimedBlock& block : {transfer(gather, 1), wait_for(1), transfer(reduce, 0)}) {
      data.add(block);
    }
    chunk.has_traffic = true;
    chunk.forward = {{0}, {-1, false, 0, 1}, {1}, {-1, false, 1, 1}};
    chunk.backward = {{-1, false, 1, 1}, {2, true}, {-1, false, 0, 1}, {2, true}};
  }
  [[nodiscard]] ChunkCosts costs() const {
    ChunkScratch scratch;
    return chunk_costs(chunk, {1}, rank(), data, scratch);
  }
};

// The first forward waits for what of a gather the layer before does not hide; the others gather
// nothing.
TEST(ChunkCosts, OfTheFirstForwardHoldTheGatherThatNothingHides) {
  EXPECT_DOUBLE_EQ(time_of(Traffic(0.4, 0).costs(), Pass::first_forward), 0.1 + 2);
  EXPECT_DOUBLE_EQ(time_of(Traffic(3.0, 0).costs(), Pass::first_forward), 0.1 + 3 + 1);
  EXPECT_DOUBLE_EQ(time_of(Traffic(3.0, 0).costs(), Pass::forward), 0.1 + 2);
}

// Two reductions of r, the first beside the last layer of 2 s: r are left if r <= 2, 2 r - 2 else.
TEST(ChunkCosts, HaveATailOfTheReductionsThatGoOn) {
  EXPECT_DOUBLE_EQ(Traffic(0, 1).costs().tail, 1);
  EXPECT_DOUBLE_EQ(Traffic(0, 5).costs().tail, 2 * 5 - 2);
  EXPECT_DOUBLE_EQ(time_of(Traffic(0, 5).costs(), Pass::last_backward), 0.1 + 4);
}

TEST(ChunkCosts, BeginWhenTheirFirstParametersAreHere) {
  Traffic traffic(0, 0);
  traffic.data.add(transfer(0.7, 2));
  traffic.chunk.prologue = {3};
  EXPECT_DOUBLE_EQ(traffic.costs().ready, 0.7);
}

// Reductions of every micro-batch: of two of r = 3 each beside and behind a backward of 4.1 s, the
// first is launched at 2.1 s, so of 6 s of reductions 4.1 - 2.1 = 2 are done as it ends.
TEST(ChunkCosts, TellWhatOfTheReductionsTheFirstBackwardHides) {
  Traffic traffic(0, 3);
  traffic.chunk.backward_always = true;
  traffic.chunk.reduction = 6;
  EXPECT_DOUBLE_EQ(traffic.costs().begun, 2);
}

TEST(ChunkKinds, AreTheChunksOfAClassThatRecomputeAlike) {
  // Six chunks of two layers, the last of its own class.
  std::vector<PlacedChunk> chunks;
  for (int i = 0; i < 6; ++i) {
    chunks.push_back({i, -1, i == 5 ? 1 : 0, {2 * i, 0}});
  }
  workload::ParallelismSpec layout;
  ChunkKinds kinds;
  tell_kinds(chunks, layout, kinds);
  EXPECT_EQ(kinds.kind_of, (std::vector<int>{0, 0, 0, 0, 0, 1}));
  layout.recompute_period = 3;  // they begin at layers 0, 2, 4, 6, 8, 10
  tell_kinds(chunks, layout, kinds);
  EXPECT_EQ(kinds.kind_of, (std::vector<int>{0, 1, 2, 0, 1, 3}));
  EXPECT_EQ(kinds.kinds[2].first.own, 4);
  EXPECT_EQ(kinds.kinds[3].found, 1);
  layout.recompute_period = 1;
  layout.chunk_recompute = {1, 2, 2, 1, 2, 2};
  tell_kinds(chunks, layout, kinds);
  EXPECT_EQ(kinds.kind_of, (std::vector<int>{0, 1, 1, 0, 1, 2}));
}

// Of two directions each chunk is on two stages.
TEST(ChunkKinds, AreTheSameInBothDirections) {
  ChunkKinds kinds;
  tell_kinds({{0, 3, 0, {}}, {2, 1, 1, {4, 0}}}, {}, kinds);
  EXPECT_EQ(kinds.kind_of, (std::vector<int>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace headway::analytic

// A rank's nodes in lanes, and who waits for whom.
#include "sim/study/replay/rank_lanes.h"

#include <gtest/gtest.h>

#include "tests/import/chakra_nodes.h"

namespace headway::study {
namespace {

using import::ChakraNode;
using import::collective;
using import::compute;
using import::receive;
using import::send;
using import::trace_of;

using Numbers = std::vector<std::uint32_t>;
using Kind = LaneKey::Kind;

std::vector<RankLane> lanes(const std::vector<ChakraNode>& nodes,
                            const import::ChakraGroups& groups = {}) {
  return lanes_of(import::join_traces({trace_of(0, nodes)}, groups), 0);
}

ChakraNode on(ChakraNode node, std::int64_t stream, bool cpu = false) {
  node.stream = stream;
  node.on_cpu = cpu;
  return node;
}

TEST(RankLanes, AStreamAThreadAndAGroupAreEachOne) {
  const auto all =
      lanes({on(compute(0, 1), 7), on(compute(1, 1), 8), on(compute(2, 1), 7, true),
             on(compute(3, 1), 7), collective(4, import::ChakraCollective::all_reduce, 8),
             import::node_of(import::ChakraKind::metadata, 5, {})});
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].key, (LaneKey{Kind::stream, 7, 0}));
  ASSERT_EQ(all[0].nodes.size(), 2U);
  EXPECT_EQ(all[0].nodes[1].node, 3U);
  EXPECT_EQ(all[1].key, (LaneKey{Kind::stream, 8, 0}));
  EXPECT_EQ(all[2].key, (LaneKey{Kind::thread, 7, 0}));
  EXPECT_EQ(all[3].key.kind, Kind::group);
  EXPECT_EQ(all[4].key.kind, Kind::metadata);
}

// Messages of one tag to one rank follow one another, in each direction by itself.
TEST(RankLanes, MessagesAreALaneByRankTagAndDirection) {
  ChakraNode tagged = send(2, 1, 8);
  tagged.tag = 5;
  ChakraNode answer = receive(2, 0, 8);
  answer.tag = 5;
  const auto job = import::join_traces(
      {trace_of(0, {send(0, 1, 8), send(1, 1, 8), tagged, send(3, 2, 8), receive(4, 1, 8)}),
       trace_of(1, {receive(0, 0, 8), receive(1, 0, 8), answer, send(3, 0, 8)}),
       trace_of(2, {receive(0, 0, 8)})},
      {});
  const auto all = lanes_of(job, 0);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].key, (LaneKey{Kind::sends, 1, 0}));
  EXPECT_EQ(all[0].nodes.size(), 2U);
  EXPECT_EQ(all[1].key, (LaneKey{Kind::sends, 1, 5}));
  EXPECT_EQ(all[2].key, (LaneKey{Kind::sends, 2, 0}));
  EXPECT_EQ(all[3].key, (LaneKey{Kind::receives, 1, 0}));
}

TEST(RankLanes, OfOneLaneOnlyTheLastNodeIsWaitedFor) {
  const auto all =
      lanes({on(compute(0, 1), 7), on(compute(1, 1), 7), on(compute(2, 1, {0, 1}), 8)});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].nodes[0].tells.empty());
  EXPECT_EQ(all[0].nodes[1].tells, Numbers{1});
  EXPECT_EQ(all[1].nodes[0].waits, Numbers{0});
}

TEST(RankLanes, WhatWasWaitedForOnceIsNotWaitedForAgain) {
  const auto all =
      lanes({on(compute(0, 1), 7), on(compute(1, 1), 7), on(compute(2, 1, {1}), 8),
             on(compute(3, 1, {0}), 8), on(compute(4, 1, {1}), 8), on(compute(5, 1, {1}), 9)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].nodes[0].waits, Numbers{0});
  EXPECT_TRUE(all[1].nodes[1].waits.empty()) << "behind it already";
  EXPECT_TRUE(all[1].nodes[2].waits.empty());
  EXPECT_EQ(all[2].nodes[0].waits, Numbers{0}) << "another lane waits for itself";
  EXPECT_EQ(all[0].nodes[1].tells, (Numbers{1, 2}));
}

TEST(RankLanes, ALaterNodeOfTheSameLaneIsWaitedForAnew) {
  const auto all = lanes({on(compute(0, 1), 7), on(compute(1, 1), 7), on(compute(2, 1, {0}), 8),
                          on(compute(3, 1, {1}), 8)});
  EXPECT_EQ(all[0].nodes[0].tells, Numbers{1});
  EXPECT_EQ(all[0].nodes[1].tells, Numbers{1});
  EXPECT_EQ(all[1].nodes[0].waits, Numbers{0});
  EXPECT_EQ(all[1].nodes[1].waits, Numbers{0});
}

TEST(RankLanes, NobodyWaitsForHisOwnLane) {
  const auto all = lanes({on(compute(0, 1), 7), on(compute(1, 1, {0}), 7)});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].nodes[0].tells.empty());
  EXPECT_TRUE(all[0].nodes[1].waits.empty());
}

}  // namespace
}  // namespace headway::study

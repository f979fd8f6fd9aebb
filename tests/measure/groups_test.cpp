#include "calibrate/measure/host/groups.h"

#include <gtest/gtest.h>
#include <set>

#include "calibrate/measure/cuda/kernels.h"

namespace headway::measure {
namespace {

using core::CollectiveKind;

TEST(RanksByNode, ProcessesOnOneHostShareANode) {
  using Nodes = std::vector<std::vector<int>>;
  EXPECT_EQ(ranks_by_node({{"a", 4}, {"b", 4}}), (Nodes{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  // One process a GPU, dealt out in turns.
  EXPECT_EQ(ranks_by_node({{"a", 1}, {"b", 1}, {"a", 1}, {"b", 1}}), (Nodes{{0, 2}, {1, 3}}));
}

TEST(GroupCases, CoverEverySizeInTheNode) {
  const auto cases = group_cases({{0, 1, 2, 3, 4, 5, 6, 7}}, false);
  std::set<std::size_t> sizes;
  for (const GroupCase& one : cases) {
    EXPECT_EQ(one.members.front(), 0);
    EXPECT_EQ(one.ranks_per_node, static_cast<int>(one.members.size()));
    sizes.insert(one.members.size());
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cases.front().members.size(), 8U);
  EXPECT_EQ(group_cases({{0, 1, 2, 3, 4, 5, 6, 7}}, true).size(), 3U);  // 8, 4, 2
}

TEST(GroupCases, OverNodesUseOneOrAllGpusOfEach) {
  const auto cases = group_cases({{0, 1}, {2, 3}, {4, 5}}, false);
  const std::vector<GroupCase> expected{
      {{0, 1}, 2}, {{0, 1, 2, 3}, 2}, {{0, 2}, 1}, {{0, 1, 2, 3, 4, 5}, 2}, {{0, 2, 4}, 1}};
  EXPECT_EQ(cases, expected);
}

TEST(GroupCases, OneGpuANodeHasNoGroupTwice) {
  const std::vector<GroupCase> expected{{{0, 1}, 1}};
  EXPECT_EQ(group_cases({{0}, {1}}, false), expected);
}

TEST(ElementCounts, CountTheWholeArrayWhereverItIs) {
  // 1 KiB of bf16 over 4 ranks: 512 elements in all, 128 a share.
  const auto counts = [](CollectiveKind kind) { return element_counts(kind, 1024, 4, 2); };
  EXPECT_EQ(counts(CollectiveKind::all_reduce).send, 512U);
  EXPECT_EQ(counts(CollectiveKind::all_gather).send, 128U);
  EXPECT_EQ(counts(CollectiveKind::all_gather).receive, 512U);
  EXPECT_EQ(counts(CollectiveKind::reduce_scatter).send, 512U);
  EXPECT_EQ(counts(CollectiveKind::reduce_scatter).receive, 128U);
  EXPECT_EQ(counts(CollectiveKind::all_to_all).send, 512U);
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                          CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    EXPECT_EQ(counts(kind).whole_bytes, 1024U);
    // Three ranks do not divide it: what is recorded is what was really moved.
    const ElementCounts uneven = element_counts(kind, 1024, 3, 2);
    EXPECT_EQ(uneven.whole_bytes, 2 * std::max(uneven.send, uneven.receive));
    EXPECT_LE(uneven.whole_bytes, 1024U);
  }
}

TEST(ExpectedValue, FollowsTheDefinitionOfEachCollective) {
  const int ranks = 3;
  const ElementCounts gather = element_counts(CollectiveKind::all_gather, 60, ranks, 2);
  EXPECT_EQ(expected_value(CollectiveKind::all_gather, gather, 0, ranks, 10 + 4), rank_value(1, 4));
  const ElementCounts scatter = element_counts(CollectiveKind::reduce_scatter, 60, ranks, 2);
  EXPECT_EQ(expected_value(CollectiveKind::reduce_scatter, scatter, 2, ranks, 3),
            rank_value(0, 23) + rank_value(1, 23) + rank_value(2, 23));
  const ElementCounts all = element_counts(CollectiveKind::all_to_all, 60, ranks, 2);
  EXPECT_EQ(expected_value(CollectiveKind::all_to_all, all, 1, ranks, 20 + 7),
            rank_value(2, 10 + 7));
  EXPECT_EQ(expected_value(CollectiveKind::send_receive, all, 0, ranks, 5), rank_value(2, 5));
}

TEST(RankValue, DiffersBetweenRanksAndPlaces) {
  int between_ranks = 0, between_places = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    between_ranks += rank_value(0, i) != rank_value(1, i) ? 1 : 0;
    between_places += rank_value(0, i) != rank_value(0, i + 1) ? 1 : 0;
  }
  EXPECT_GT(between_ranks, 100);
  EXPECT_GT(between_places, 100);
}

TEST(CallsPerBatch, FallsAsMessagesGrow) {
  int before = 1000;
  for (const std::uint64_t bytes : message_sizes(false, false)) {
    EXPECT_LE(calls_per_batch(bytes), before);
    before = calls_per_batch(bytes);
  }
  EXPECT_GE(before, 1);
}

}  // namespace
}  // namespace headway::measure

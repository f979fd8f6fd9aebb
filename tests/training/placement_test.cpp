#include "sim/training/step/placement.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Rank;
using workload::Group;

workload::ParallelismSpec layout(int tensor, int context, int pipeline) {
  workload::ParallelismSpec p;
  p.tensor = tensor;
  p.context = context;
  p.pipeline = pipeline;
  return p;
}

TEST(RankLayout, PutsTensorRanksNextToEachOther) {
  const RankLayout ranks(layout(8, 1, 4), 16);
  EXPECT_EQ(ranks.ranks(), 512);
  EXPECT_EQ(ranks.members(Group::tensor, Rank(11)),
            (std::vector<Rank>{Rank(8), Rank(9), Rank(10), Rank(11), Rank(12), Rank(13), Rank(14),
                               Rank(15)}));
}

TEST(RankLayout, DataRanksAreNeighbourNodesInMegatronOrder) {
  const RankLayout ranks(layout(8, 1, 4), 3);
  EXPECT_EQ(ranks.members(Group::data, Rank(1)), (std::vector<Rank>{Rank(1), Rank(9), Rank(17)}));
  // One stage further: 3 data ranks x 8 tensor ranks away.
  EXPECT_EQ(ranks.members(Group::pipeline_next, Rank(1)), (std::vector<Rank>{Rank(1), Rank(25)}));
}

TEST(RankLayout, StagesAreNeighbourNodesInLlamaOrder) {
  auto spec = layout(8, 1, 4);
  spec.rank_order = workload::RankOrder::pipeline_first;
  const RankLayout ranks(spec, 3);
  EXPECT_EQ(ranks.members(Group::pipeline_next, Rank(1)), (std::vector<Rank>{Rank(1), Rank(9)}));
  EXPECT_EQ(ranks.members(Group::data, Rank(1)), (std::vector<Rank>{Rank(1), Rank(33), Rank(65)}));
}

TEST(RankLayout, TheLastStageIsFollowedByTheFirst) {
  const RankLayout ranks(layout(2, 1, 4), 1);
  EXPECT_EQ(ranks.members(Group::pipeline_next, Rank(7)), (std::vector<Rank>{Rank(7), Rank(1)}));
  EXPECT_EQ(ranks.members(Group::pipeline_previous, Rank(1)),
            (std::vector<Rank>{Rank(1), Rank(7)}));
}

TEST(RankLayout, TheContextRingClosesOnItself) {
  const RankLayout ranks(layout(2, 4, 1), 1);
  EXPECT_EQ(ranks.context_neighbour(Rank(1), 1), Rank(3));
  EXPECT_EQ(ranks.context_neighbour(Rank(7), 1), Rank(1));
  EXPECT_EQ(ranks.context_neighbour(Rank(1), -1), Rank(7));
}

TEST(RankLayout, CoordinatesAndRanksAreInverse) {
  for (const auto order : {workload::RankOrder::data_first, workload::RankOrder::pipeline_first}) {
    auto spec = layout(4, 2, 3);
    spec.rank_order = order;
    const RankLayout ranks(spec, 5);
    for (int r = 0; r < ranks.ranks(); ++r) {
      EXPECT_EQ(ranks.rank(ranks.coordinates(Rank(r))), Rank(r));
    }
  }
}

TEST(RankLayout, ExpertRanksAreNeighboursAmongTheRanksOfAStage) {
  // tensor 2 x data 8 = 16 ranks a stage = expert tensor 2 x expert 4 x 2.
  auto spec = layout(2, 1, 2);
  spec.expert = 4;
  spec.expert_tensor = 2;
  const RankLayout ranks(spec, 8);
  EXPECT_EQ(ranks.members(Group::expert_tensor, Rank(5)), (std::vector<Rank>{Rank(4), Rank(5)}));
  EXPECT_EQ(ranks.members(Group::expert, Rank(5)),
            (std::vector<Rank>{Rank(1), Rank(3), Rank(5), Rank(7)}));
  EXPECT_EQ(ranks.members(Group::expert_data, Rank(5)), (std::vector<Rank>{Rank(5), Rank(13)}));
  EXPECT_EQ(ranks.members(Group::expert, Rank(17)),
            (std::vector<Rank>{Rank(17), Rank(19), Rank(21), Rank(23)}));
}

TEST(RankLayout, CopiesOfExpertsAreThoseOfTheOtherWeights) {
  // tensor 2 x data 8 = 16 ranks a stage = expert 2 x 8 with the same experts; shard groups of 4
  // data ranks, so 8 ranks in a row hold one copy of everything, and 4 of them divide each expert.
  auto spec = layout(2, 1, 2);
  spec.expert = 2;
  spec.sharding = workload::Sharding::hsdp;
  spec.shard_group_size = 4;
  const RankLayout ranks(spec, 8);
  EXPECT_EQ(ranks.members(Group::shard, Rank(11)),
            (std::vector<Rank>{Rank(9), Rank(11), Rank(13), Rank(15)}));
  EXPECT_EQ(ranks.members(Group::expert_shard, Rank(11)),
            (std::vector<Rank>{Rank(9), Rank(11), Rank(13), Rank(15)}));
  EXPECT_EQ(ranks.members(Group::expert_shard, Rank(10)),
            (std::vector<Rank>{Rank(8), Rank(10), Rank(12), Rank(14)}));
  EXPECT_EQ(ranks.members(Group::expert_replica, Rank(11)), (std::vector<Rank>{Rank(3), Rank(11)}));
  EXPECT_EQ(ranks.members(Group::replica, Rank(11)), (std::vector<Rank>{Rank(3), Rank(11)}));
}

TEST(RankLayout, AnExpertGroupIsDividedIntoDomainsAndRails) {
  // 8 expert ranks in domains of 4: 0 1 2 3 | 4 5 6 7.
  auto spec = layout(1, 1, 1);
  spec.expert = 8;
  const RankLayout ranks(spec, 16, 4);
  EXPECT_EQ(ranks.expert_domains(), 2);
  EXPECT_EQ(ranks.members(Group::expert_domain, Rank(6)),
            (std::vector<Rank>{Rank(4), Rank(5), Rank(6), Rank(7)}));
  EXPECT_EQ(ranks.members(Group::expert_rail, Rank(6)), (std::vector<Rank>{Rank(2), Rank(6)}));
  EXPECT_EQ(ranks.members(Group::expert_rail, Rank(15)), (std::vector<Rank>{Rank(11), Rank(15)}));
  // Groups of 8 in domains of 12 lie unevenly: 8 | 4 and 4 | 8.
  EXPECT_EQ(RankLayout(spec, 24, 12).expert_domains(), 1);
}

TEST(RankLayout, EveryRankIsInExactlyOneGroupOfEachKind) {
  auto spec = layout(2, 2, 3);
  spec.expert = 4;
  spec.expert_tensor = 2;
  spec.shard_group_size = 4;
  const RankLayout ranks(spec, 8, 4);
  for (const auto group :
       {Group::tensor, Group::context, Group::data, Group::data_context, Group::expert,
        Group::expert_tensor, Group::expert_data, Group::expert_domain, Group::expert_rail,
        Group::expert_shard, Group::expert_replica, Group::shard, Group::replica}) {
    std::vector<int> seen(static_cast<std::size_t>(ranks.ranks()));
    for (int r = 0; r < ranks.ranks(); ++r) {
      const auto members = ranks.members(group, Rank(r));
      EXPECT_EQ(ranks.leader(group, Rank(r)), members.front());
      if (members.front() == Rank(r)) {
        for (const auto member : members) {
          ++seen[member.index()];
        }
      }
    }
    for (const int count : seen) {
      EXPECT_EQ(count, 1);
    }
  }
}

ClusterSpec cluster_of(Placement placement, int nodes) {
  ClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = 8;
  cluster.placement = placement;
  return cluster;
}

NodeOrder order_of(Placement placement, int nodes, std::uint64_t seed) {
  return node_order(cluster_of(placement, nodes), layout(8, 1, 1), nodes, seed);
}

// NVL72: 18 nodes of four. 64 expert ranks fill 16 nodes of each rack, 8 of them all 18, 48 twelve;
// groups of 128 are halved. A job inside one rack, or on nodes with an NVLink domain of their own,
// is left alone.
TEST(FilledDomain, KeepsExpertGroupsWithinRacks) {
  ClusterSpec cluster = eight_nodes().cluster;
  cluster.nodes = 64;
  cluster.node.gpus = 4;
  cluster.node.scale_up.domain_gpus = 72;
  workload::ParallelismSpec layout;
  const auto filled = [&](int tensor, int expert) {
    layout.tensor = tensor;
    layout.expert = expert;
    return filled_domain(cluster, layout);
  };
  EXPECT_EQ(filled(1, 64), 64);
  EXPECT_EQ(filled(1, 8), 72);
  EXPECT_EQ(filled(1, 48), 48);
  EXPECT_EQ(filled(1, 128), 64);
  EXPECT_EQ(filled(16, 1), 64);
  EXPECT_EQ(filled(8, 1), 72);
  cluster.nodes = 18;
  EXPECT_EQ(filled(1, 64), 72);
  EXPECT_EQ(filled_domain(eight_nodes().cluster, layout),
            eight_nodes().cluster.node.scale_up.domain_gpus);
}

TEST(NodeOrder, ByRackPutsTheNodesOfAReplicaSideBySide) {
  // TP 8 x DP 3 x PP 2: packed, nodes 0 to 2 are stage 0 of the three replicas, 3 to 5 stage 1.
  const auto order = node_order(cluster_of(Placement::rack, 6), layout(8, 1, 2), 3, 1).node;
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 2, 4, 1, 3, 5}));
  // Without a pipeline a node is a replica, and nothing moves.
  EXPECT_EQ(order_of(Placement::rack, 4, 1).node, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(NodeOrder, RandomIsAPermutationThatTheSeedDecides) {
  const auto order = order_of(Placement::random, 37, 1).node;
  EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 37U);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 36U);
  EXPECT_EQ(order_of(Placement::random, 37, 1).node, order);
  EXPECT_NE(order_of(Placement::random, 37, 2).node, order);
}

TEST(NodeOrder, FragmentsOfFourNodesStayTogether) {
  // 10 nodes: runs {0..3}, {4..7}, {8, 9} in some order.
  const auto order = order_of(Placement::fragmented, 10, 1).node;
  ASSERT_EQ(order.size(), 10U);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (order[i] % 4 != 3 && order[i] != 9) {
      EXPECT_EQ(order[i + 1], order[i] + 1);
    }
  }
}

TEST(RankLayout, RanksOfANodeStayTogetherWhereverItIs) {
  const NodeOrder order{{2, 0, 1}, 8};
  const RankLayout ranks(layout(8, 1, 1), 3, 8, order);
  EXPECT_EQ(ranks.gpu(Rank(0)).index(), 16U);
  EXPECT_EQ(ranks.gpu(Rank(7)).index(), 23U);
  EXPECT_EQ(ranks.gpu(Rank(8)).index(), 0U);
  EXPECT_EQ(ranks.gpu(Rank(17)).index(), 9U);
}

}  // namespace
}  // namespace headway::training

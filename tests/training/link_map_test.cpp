// What the cables between leaves and spines carry.
#include "sim/training/explain/link_map.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/training/explain/timeline.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// Four leaves of two nodes each, with half as many cables to the spines as to the nodes.
Scenario tree(network::Routing routing) {
  Scenario s = eight_nodes();
  s.cluster.fabric.topology = network::Topology::fat_tree;
  s.cluster.fabric.tiers = 2;
  s.cluster.fabric.ports_per_leaf = 16;
  s.cluster.fabric.leaf_oversubscription = 2;
  s.cluster.fabric.routing = routing;
  return s;
}

double busiest_of_the_tier(const StepResult& step) {
  const auto found = std::find_if(step.links.begin(), step.links.end(),
                                  [](const LinkUse& use) { return use.tier == "leaf-spine"; });
  return found == step.links.end() ? -1 : found->busiest;
}

double largest(const LinkMap& map) {
  double use = 0;
  for (const LeafUse& leaf : map.leaves) {
    use = std::max(use, *std::max_element(leaf.use.begin(), leaf.use.end()));
  }
  return use;
}

// The hottest cell is the busiest link that the result tells of the tier.
TEST(LinkMap, ItsHottestCellIsTheBusiestLinkOfTheTier) {
  for (const auto routing : {network::Routing::ecmp, network::Routing::adaptive}) {
    const auto checked = check(tree(routing));
    const StepPictures drawn = draw_step(checked);
    const auto& map = drawn.cables;
    ASSERT_TRUE(map);
    EXPECT_EQ(drawn.cables_why, "");
    EXPECT_DOUBLE_EQ(largest(*map), busiest_of_the_tier(simulate_step(checked, {.hash_draws = 0})));
    const bool pooled = routing == network::Routing::adaptive;
    EXPECT_EQ(map->pooled, pooled);
    for (const LeafUse& leaf : map->leaves) {
      EXPECT_EQ(leaf.use.size(), pooled ? 1U : static_cast<std::size_t>(map->spines));
      EXPECT_LE(leaf.last, 3);
    }
  }
}

TEST(LinkMap, IsAbsentWhereNoLeafHasASpine) {
  Scenario s = eight_nodes();
  s.cluster.nodes = 2;
  s.parallelism.pipeline = 2;
  const StepPictures drawn = draw_step(check(s));
  EXPECT_FALSE(drawn.cables) << "one leaf a rail";
  EXPECT_FALSE(drawn.cables_why.empty()) << "who looks for it is told";
}

}  // namespace
}  // namespace headway::training

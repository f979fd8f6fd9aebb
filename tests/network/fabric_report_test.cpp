#include "sim/network/fabric/fabric_report.h"

#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/network/fabric/fabric_graph.h"
#include "sim/network/fabric/fabric_reach.h"

#include "tests/network/fabric_fixture.h"

namespace headway::network {
namespace {

/// Maximum flow from the first half of the nodes to the second over the drawn graph, by Edmonds and
/// Karp.
double max_flow_between_halves(const Fabric& fabric) {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct Pipe {
    double capacity = 0, residual = 0;
    Traits::edge_descriptor reverse;
  };
  using Pipes =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Pipe>;
  const auto drawn = build_graph(fabric, GraphDetail::nodes);
  const std::size_t n = boost::num_vertices(drawn);
  Pipes pipes(n + 2);
  const auto add = [&](std::size_t from, std::size_t to, double capacity) {
    const auto forth = boost::add_edge(from, to, pipes).first;
    const auto back = boost::add_edge(to, from, pipes).first;
    pipes[forth] = {capacity, 0, back};
    pipes[back] = {0, 0, forth};
  };
  for (const auto edge : boost::make_iterator_range(boost::edges(drawn))) {
    add(boost::source(edge, drawn), boost::target(edge, drawn), drawn[edge].capacity.si());
  }
  const std::size_t nodes = fabric.shape().nodes;
  for (std::size_t i = 0; i < nodes; ++i) {
    i < nodes / 2 ? add(n, i, 1e15) : add(i, n + 1, 1e15);
  }
  return boost::edmonds_karp_max_flow(pipes, n, n + 1,
                                      boost::capacity_map(boost::get(&Pipe::capacity, pipes))
                                          .residual_capacity_map(boost::get(&Pipe::residual, pipes))
                                          .reverse_edge_map(boost::get(&Pipe::reverse, pipes)));
}

TEST(FabricReport, ANonBlockingTreeHasFullBisection) {
  const auto r = report(Fabric(flat_tree(64)));
  EXPECT_DOUBLE_EQ(r.bisection.si(), 32 * 50e9);
  EXPECT_DOUBLE_EQ(r.full_bisection.si(), 32 * 50e9);
  EXPECT_TRUE(r.connected);
  // GPU, NIC, leaf, spine, leaf, NIC, GPU.
  EXPECT_EQ(r.diameter, 6);
  EXPECT_EQ(r.ports_per_leaf, 32U);
  ASSERT_EQ(r.tiers.size(), 2U);
  EXPECT_EQ(r.tiers[1].name, "leaf-spine");
  EXPECT_DOUBLE_EQ(r.tiers[1].oversubscription, 1);
}

TEST(FabricReport, OversubscriptionDividesTheBisection) {
  auto in = flat_tree(64);
  in.fabric.leaf_oversubscription = 4;
  const auto r = report(Fabric(in));
  EXPECT_DOUBLE_EQ(r.bisection.si(), 8 * 50e9);
  EXPECT_DOUBLE_EQ(r.tiers[1].oversubscription, 4);
}

TEST(FabricReport, BisectionIsTheMaximumFlow) {
  for (const auto routing : {Routing::adaptive, Routing::destination_modulo}) {
    auto in = flat_tree(30, routing);  // halves meet inside a leaf
    in.fabric.ports_per_leaf = 4;
    in.fabric.tiers = 3;
    in.fabric.leaves_per_pod = 2;
    in.fabric.leaf_oversubscription = 2;
    in.fabric.spine_oversubscription = 2;
    Fabric fabric(in);
    fabric.degrade(fabric.leaf_link(1, 0, true), 0.5);
    EXPECT_NEAR(report(fabric).bisection.si() / max_flow_between_halves(fabric), 1, 1e-9);
    auto rails = dgx_h100(12);
    rails.fabric.routing = routing;
    rails.fabric.leaf_oversubscription = 4;
    const Fabric rail_optimized(rails);
    EXPECT_NEAR(report(rail_optimized).bisection.si() / max_flow_between_halves(rail_optimized), 1,
                1e-9);
  }
}

TEST(FabricReport, RailOnlyIsConnectedThroughNvlink) {
  auto in = dgx_h100(8);
  in.fabric.topology = Topology::rail_only;
  EXPECT_TRUE(report(Fabric(in)).connected);
  in.scale_up.domain_gpus = 1;
  const auto apart = report(Fabric(in));
  EXPECT_FALSE(apart.connected);
  EXPECT_EQ(apart.unreachable_gpus, 7U * 8U);
}

TEST(FabricReport, ADeadNicCutsItsOnlyGpuOff) {
  Fabric fabric(flat_tree(64));
  fabric.degrade(fabric.nic_link(5, 0, 0, true), 0);
  const auto r = report(fabric);
  EXPECT_FALSE(r.connected);
  EXPECT_EQ(r.unreachable_gpus, 1U);
  EXPECT_EQ(r.links_down, 1U);
}

TEST(FabricReport, DragonflyIsConnectedInSevenLinks) {
  auto in = flat_tree(72, Routing::adaptive);
  in.fabric.topology = Topology::dragonfly;
  in.fabric.ports_per_leaf = 2;
  in.fabric.leaves_per_pod = 4;
  const auto r = report(Fabric(in));
  EXPECT_TRUE(r.connected);
  // GPU, NIC, leaf, gateway, gateway, leaf, NIC, GPU.
  EXPECT_EQ(r.diameter, 7);
  EXPECT_EQ(r.tiers.back().cables, 36U);
}

// The longest way is the same by coordinates as by a search of the whole graph.
TEST(FabricReach, CountedIsSearched) {
  int counted = 0;
  for (const auto topology :
       {Topology::fat_tree, Topology::rail_optimized, Topology::rail_only, Topology::multi_plane}) {
    for (const int nodes : {1, 2, 5, 12}) {
      for (const int ports : {2, 4, 8}) {
        for (const int domain : {1, 2, 4, 8}) {
          for (const auto kind : {ScaleUpKind::nvswitch, ScaleUpKind::mesh}) {
            auto in = dgx_h100(nodes);
            in.gpus_per_node = 4;
            in.nic.count = ports == 8 ? 2 : 4;
            in.fabric.topology = topology;
            in.fabric.tiers = 3;
            in.fabric.leaves_per_pod = nodes > 5 ? 2 : 0;
            in.fabric.ports_per_leaf = ports;
            in.fabric.planes = topology == Topology::multi_plane ? 2 : 1;
            in.scale_up.kind = kind;
            in.scale_up.domain_gpus = kind == ScaleUpKind::mesh ? std::min(domain, 4) : domain;
            const Fabric fabric(in);
            if (!can_count_reach(fabric)) {
              EXPECT_TRUE(topology == Topology::rail_only && domain < 4);
              continue;
            }
            const Reach a = counted_reach(fabric);
            const Reach b = searched_reach(fabric);
            EXPECT_EQ(a.diameter, b.diameter)
                << core::to_word(topology) << ' ' << nodes << ' ' << ports << ' ' << domain;
            EXPECT_EQ(a.connected, b.connected);
            EXPECT_EQ(a.missed, b.missed);
            ++counted;
          }
        }
      }
    }
  }
  EXPECT_GT(counted, 300);
}

TEST(FabricReport, DrawsNodesAndSwitches) {
  auto in = flat_tree(2);
  in.fabric.ports_per_leaf = 1;
  Fabric fabric(in);
  fabric.degrade(fabric.leaf_link(0, 0, true), 0);
  const std::string dot = to_dot(fabric);
  EXPECT_THAT(dot, testing::StartsWith("digraph G {"));
  EXPECT_THAT(dot, testing::HasSubstr("[label=\"node0\", shape=box]"));
  EXPECT_THAT(dot, testing::HasSubstr("[label=\"1 x 50 GB/s\"]"));
  EXPECT_THAT(dot, testing::HasSubstr("color=red"));
  const std::string xml = to_graphml(fabric);
  EXPECT_THAT(xml, testing::HasSubstr("spine0"));
  EXPECT_THAT(xml, testing::HasSubstr("attr.name=\"bandwidth_bytes_per_s\""));
  EXPECT_THAT(xml, testing::HasSubstr("leaf-spine"));
}

}  // namespace
}  // namespace headway::network

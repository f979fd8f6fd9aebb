#include "sim/study/placement/node_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/training/occupancy/occupancy.h"

namespace headway::study {

namespace {

using Nodes = std::vector<std::uint32_t>;

/// Free nodes behind one leaf, or in one pod.
struct NodeGroup {
  std::uint32_t pod = 0;
  Nodes nodes;
};

/// By leaf of the first rail.
std::map<std::uint32_t, NodeGroup> by_leaf(const network::Fabric& fabric, const Nodes& nodes) {
  std::map<std::uint32_t, NodeGroup> groups;
  for (const std::uint32_t node : nodes) {
    const std::uint32_t leaf = fabric.leaf_of(node, 0, 0);
    NodeGroup& group = groups[leaf];
    group.pod = fabric.pod_of(leaf);
    group.nodes.push_back(node);
  }
  return groups;
}

/// As few groups as can be: the largest first, and of those that hold what is left the smallest.
std::vector<NodeGroup> fewest(std::vector<NodeGroup> groups, std::size_t count) {
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.nodes.size() > b.nodes.size(); });
  std::vector<NodeGroup> out;
  for (std::size_t i = 0; count > 0; ++i) {
    std::size_t last = i;
    while (last + 1 < groups.size() && groups[last + 1].nodes.size() >= count) {
      ++last;
    }
    NodeGroup group = groups[last];
    if (group.nodes.size() > count) {
      group.nodes.resize(count);
    }
    count -= group.nodes.size();
    out.push_back(std::move(group));
  }
  return out;
}

Nodes all_of(const std::vector<NodeGroup>& groups) {
  Nodes nodes;
  for (const NodeGroup& group : groups) {
    nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
  }
  return nodes;
}

/// First as few pods as can be, then in each as few leaves.
Nodes fewest_leaves(const network::Fabric& fabric, const Nodes& free, std::size_t count) {
  std::map<std::uint32_t, NodeGroup> pods;
  std::map<std::uint32_t, std::vector<NodeGroup>> leaves;
  for (const auto& [leaf, group] : by_leaf(fabric, free)) {
    NodeGroup& pod = pods[group.pod];
    pod.pod = group.pod;
    pod.nodes.insert(pod.nodes.end(), group.nodes.begin(), group.nodes.end());
    leaves[group.pod].push_back(group);
  }
  std::vector<NodeGroup> list;
  for (auto& [number, pod] : pods) {
    list.push_back(std::move(pod));
  }
  Nodes nodes;
  for (const NodeGroup& pod : fewest(std::move(list), count)) {
    const Nodes here = all_of(fewest(leaves[pod.pod], pod.nodes.size()));
    nodes.insert(nodes.end(), here.begin(), here.end());
  }
  return nodes;
}

/// Leaves in the order of what others send into them from their nodes.
Nodes quiet(const training::OccupancySpec& occupancy,
            const network::Fabric& fabric,
            const Nodes& free) {
  std::map<std::uint32_t, double> sent;
  for (const training::OtherJobSpec& job : occupancy.jobs) {
    for (const std::uint32_t node : training::node_numbers(job.nodes)) {
      sent[fabric.leaf_of(node, 0, 0)] += job.rate.si();
    }
  }
  std::vector<std::pair<double, NodeGroup>> groups;
  for (auto& [leaf, group] : by_leaf(fabric, free)) {
    groups.emplace_back(sent[leaf], group);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.nodes.size() > b.second.nodes.size();
  });
  Nodes nodes;
  for (const auto& [rate, group] : groups) {
    nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
  }
  return nodes;
}

/// One from each leaf in turn.
Nodes spread(const network::Fabric& fabric, const Nodes& free) {
  const auto groups = by_leaf(fabric, free);
  Nodes nodes;
  for (std::size_t turn = 0; nodes.size() < free.size(); ++turn) {
    for (const auto& [leaf, group] : groups) {
      if (turn < group.nodes.size()) {
        nodes.push_back(group.nodes[turn]);
      }
    }
  }
  return nodes;
}

/// Fisher-Yates.
Nodes shuffled(Nodes nodes, std::uint64_t seed, int draw) {
  const core::RandomStream stream(seed, "choice of nodes");
  for (std::size_t i = nodes.size(); i > 1; --i) {
    std::swap(nodes[i - 1], nodes[stream.index(i, static_cast<std::uint32_t>(draw), i)]);
  }
  return nodes;
}

}  // namespace

std::vector<std::uint32_t> choose_nodes(NodeChoice choice,
                                        const training::ClusterSpec& cluster,
                                        const network::Fabric& fabric,
                                        std::uint64_t seed,
                                        int draw) {
  HEADWAY_CHECK(cluster.occupancy.has_value(), "nobody else is on the fabric");
  const auto count = static_cast<std::size_t>(cluster.nodes);
  if (choice == NodeChoice::given) {
    return training::taken_nodes(cluster);
  }
  Nodes nodes = training::free_nodes(*cluster.occupancy);
  if (choice == NodeChoice::fewest_leaves) {
    nodes = fewest_leaves(fabric, nodes, count);
  } else if (choice == NodeChoice::quiet) {
    nodes = quiet(*cluster.occupancy, fabric, nodes);
  } else if (choice == NodeChoice::spread) {
    nodes = spread(fabric, nodes);
  } else if (choice == NodeChoice::random) {
    nodes = shuffled(std::move(nodes), seed, draw);
  }
  nodes.resize(count);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<std::uint32_t> leaves_of(const network::Fabric& fabric,
                                     const std::vector<std::uint32_t>& nodes) {
  std::set<std::uint32_t> leaves;
  for (const std::uint32_t node : nodes) {
    for (std::uint32_t rail = 0; rail < fabric.shape().rails; ++rail) {
      leaves.insert(fabric.leaf_of(node, rail, 0));
    }
  }
  return {leaves.begin(), leaves.end()};
}

}  // namespace headway::study

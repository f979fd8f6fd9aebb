#include "sim/import/network/switch_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/core/error.h"

namespace headway::import {

namespace {

constexpr int kUnreached = -1;

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? T{} : values[values.size() / 2];
}

/// Steps from the nearest leaf: 0 leaf, 1 spine, 2 core; kUnreached for a switch without a way to
/// one.
std::vector<int> tiers_of(const SwitchGraph& graph) {
  std::vector<int> tier(graph.switches.size(), kUnreached);
  std::vector<std::size_t> frontier;
  for (std::size_t i = 0; i < graph.switches.size(); ++i) {
    if (graph.switches[i].host_ports > 0) {
      tier[i] = 0;
      frontier.push_back(i);
    }
  }
  while (!frontier.empty()) {
    std::vector<std::size_t> next;
    for (const std::size_t at : frontier) {
      for (const SwitchNode::Trunk& trunk : graph.switches[at].trunks) {
        if (tier[trunk.to] == kUnreached) {
          tier[trunk.to] = tier[at] + 1;
          next.push_back(trunk.to);
        }
      }
    }
    frontier = std::move(next);
  }
  return tier;
}

/// Cables of a switch to the tier above it.
int uplinks(const SwitchGraph& graph, const std::vector<int>& tier, std::size_t at) {
  int sum = 0;
  for (const SwitchNode::Trunk& trunk : graph.switches[at].trunks) {
    sum += tier[trunk.to] == tier[at] + 1 ? trunk.cables : 0;
  }
  return sum;
}

/// Cables of a switch to the tier below it, or its host ports if it is a leaf.
int downlinks(const SwitchGraph& graph, const std::vector<int>& tier, std::size_t at) {
  int sum = graph.switches[at].host_ports;
  for (const SwitchNode::Trunk& trunk : graph.switches[at].trunks) {
    sum += tier[trunk.to] == tier[at] - 1 ? trunk.cables : 0;
  }
  return sum;
}

/// Leaves in each group of leaves and spines that hang together without cores.
std::vector<int> leaves_per_pod(const SwitchGraph& graph, const std::vector<int>& tier) {
  std::vector<bool> seen(graph.switches.size(), false);
  std::vector<int> sizes;
  for (std::size_t start = 0; start < graph.switches.size(); ++start) {
    if (seen[start] || tier[start] != 0) {
      continue;
    }
    int leaves = 0;
    std::vector<std::size_t> stack{start};
    seen[start] = true;
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      leaves += tier[at] == 0 ? 1 : 0;
      for (const SwitchNode::Trunk& trunk : graph.switches[at].trunks) {
        if (!seen[trunk.to] && tier[trunk.to] <= 1) {
          seen[trunk.to] = true;
          stack.push_back(trunk.to);
        }
      }
    }
    sizes.push_back(leaves);
  }
  return sizes;
}

/// The servers with their cards: name -> leaves their cards are plugged into.
std::map<std::string, std::vector<std::size_t>> cards_of_hosts(const SwitchGraph& graph) {
  std::map<std::string, std::vector<std::size_t>> cards;
  for (const HostPort& port : graph.host_ports) {
    if (!port.host.empty()) {
      cards[port.host].push_back(port.at);
    }
  }
  return cards;
}

/// Servers, cards a server, and whether each card of a server has a leaf of its own (rails).
/// Rails are told from the leaves, never from the names of cards, which differ between servers.
void describe_hosts(const SwitchGraph& graph, ImportedFabric& result) {
  const auto cards = cards_of_hosts(graph);
  std::vector<int> counts;
  std::size_t named = 0;
  int on_rails = 0;
  int with_several = 0;
  for (const auto& [host, leaves] : cards) {
    result.hosts.push_back(host);
    counts.push_back(static_cast<int>(leaves.size()));
    named += leaves.size();
    if (leaves.size() > 1) {
      ++with_several;
      on_rails +=
          std::set<std::size_t>(leaves.begin(), leaves.end()).size() == leaves.size() ? 1 : 0;
    }
  }
  result.nics_per_node = std::max(1, median(counts));
  const std::size_t unnamed = graph.host_ports.size() - named;
  result.nodes = static_cast<int>(
      (graph.host_ports.size() + static_cast<std::size_t>(result.nics_per_node) - 1) /
      static_cast<std::size_t>(result.nics_per_node));
  const bool rails = with_several > 0 && 2 * on_rails > with_several;
  result.fabric.topology = rails ? network::Topology::rail_optimized : network::Topology::fat_tree;
  if (unnamed > 0) {
    result.warnings.push_back(
        fmt::format("{} of {} network cards do not name their server; {} servers are counted as "
                    "cards / {} a server",
                    unnamed, graph.host_ports.size(), result.nodes, result.nics_per_node));
  }
  const auto odd = std::count_if(counts.begin(), counts.end(),
                                 [&result](int count) { return count != result.nics_per_node; });
  if (odd > 0) {
    result.warnings.push_back(
        fmt::format("{} of {} named servers have another number of cards than {}", odd,
                    counts.size(), result.nics_per_node));
  }
}

/// Median oversubscription of the switches of one tier; 1 if the tier has nothing above it.
double oversubscription(const SwitchGraph& graph, const std::vector<int>& tier, int of) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < graph.switches.size(); ++i) {
    const int up = tier[i] == of ? uplinks(graph, tier, i) : 0;
    if (up > 0) {
      ratios.push_back(static_cast<double>(downlinks(graph, tier, i)) / up);
    }
  }
  return std::max(1.0, median(ratios));
}

void describe_leaves(const SwitchGraph& graph,
                     const std::vector<int>& tier,
                     ImportedFabric& result) {
  std::vector<int> ports;
  int stranded = 0;
  for (std::size_t i = 0; i < graph.switches.size(); ++i) {
    result.leaves += tier[i] == 0 ? 1 : 0;
    result.spines += tier[i] == 1 ? 1 : 0;
    result.cores += tier[i] == 2 ? 1 : 0;
    stranded += tier[i] == kUnreached || tier[i] > 2 ? 1 : 0;
    if (tier[i] == 0) {
      ports.push_back(graph.switches[i].host_ports);
    }
  }
  const auto [least, most] = std::minmax_element(ports.begin(), ports.end());
  result.fabric.ports_per_leaf = *most;
  if (*least != *most) {
    result.warnings.push_back(fmt::format(
        "leaves carry {} to {} network cards; ports_per_leaf is the largest", *least, *most));
  }
  if (stranded > 0) {
    result.warnings.push_back(fmt::format(
        "{} switches are more than two steps from every server and are left out", stranded));
  }
}

}  // namespace

ImportedFabric describe_fabric(const SwitchGraph& graph, std::string name) {
  HEADWAY_CHECK(!graph.host_ports.empty(), "a fabric without servers has no leaves");
  ImportedFabric result;
  network::FabricSpec& fabric = result.fabric;
  fabric.name = std::move(name);
  fabric.link_bandwidth = graph.link_bandwidth;
  const std::vector<int> tier = tiers_of(graph);
  describe_hosts(graph, result);
  describe_leaves(graph, tier, result);
  fabric.tiers = result.cores > 0 ? 3 : result.spines > 0 ? 2 : 1;
  fabric.leaf_oversubscription = oversubscription(graph, tier, 0);
  const std::vector<int> pods = leaves_per_pod(graph, tier);
  if (fabric.tiers == 3) {
    fabric.leaves_per_pod = *std::max_element(pods.begin(), pods.end());
    fabric.spine_oversubscription = oversubscription(graph, tier, 1);
  } else if (pods.size() > 1) {
    result.warnings.push_back(
        fmt::format("the fabric falls into {} parts that no cable joins", pods.size()));
  }
  return result;
}

}  // namespace headway::import

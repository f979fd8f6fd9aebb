#include "sim/config/launch/launch_cluster.h"

#include <fmt/format.h>

#include "sim/training/unequal/node_kinds.h"

namespace headway::config {

namespace {

/// "nodes 0-15 (ranks 0-127)", counted in the order in which ranks fill nodes.
std::string nodes_and_ranks(std::int64_t first, std::int64_t count, int gpus) {
  const auto range = [](std::int64_t from, std::int64_t size) {
    return size == 1 ? fmt::format(" {}", from) : fmt::format("s {}-{}", from, from + size - 1);
  };
  return fmt::format("node{} (rank{})", range(first, count), range(first * gpus, count * gpus));
}

std::string kinds_of_nodes(const training::ClusterSpec& cluster, workload::RankOrder order) {
  std::vector<std::string> kinds;
  for (int kind = 0; kind < training::node_kinds(cluster); ++kind) {
    const training::NodeSpec& node = training::node_of_kind(cluster, kind);
    kinds.push_back(fmt::format("{} on {} with {}",
                                nodes_and_ranks(training::first_node(cluster, kind),
                                                training::nodes_of_kind(cluster, kind), node.gpus),
                                node.name, node.gpu.name));
  }
  return fmt::format(
      "cluster.other_nodes: the layers of the stages are right only with {}, the ranks in the "
      "order {}: order the hosts so",
      fmt::join(kinds, ", "), core::to_word(order));
}

std::string sites(const training::CheckedScenario& checked) {
  const training::ClusterSpec& cluster = checked.scenario().cluster;
  const int count = cluster.sites->count;
  const int nodes = cluster.nodes / count;
  std::vector<std::string> each;
  for (int site = 0; site < count && site < 4; ++site) {
    each.push_back(
        fmt::format("site {} {}", site + 1,
                    nodes_and_ranks(std::int64_t{site} * nodes, nodes, cluster.node.gpus)));
  }
  return fmt::format(
      "cluster.sites: the nodes are on {} sites, {}{}, the ranks in the order {}: order "
      "the hosts so{}",
      count, fmt::join(each, ", "), count > 4 ? " and so on" : "",
      core::to_word(checked.scenario().parallelism.rank_order),
      checked.islands() > 1
          ? "; training.local_steps needs code of its own (DiLoCo), and this file "
            "starts a run whose data ranks all meet in every step"
          : "");
}

}  // namespace

std::vector<std::string> cluster_losses(const training::CheckedScenario& checked) {
  const training::ClusterSpec& cluster = checked.scenario().cluster;
  std::vector<std::string> out;
  if (training::unequal(cluster)) {
    out.push_back(kinds_of_nodes(cluster, checked.scenario().parallelism.rank_order));
  }
  if (cluster.sites) {
    out.push_back(sites(checked));
  }
  if (cluster.occupancy && !cluster.occupancy->take.empty()) {
    out.push_back(fmt::format(
        "cluster.occupancy.take: the job takes nodes {} of the fabric, and its ranks fill them in "
        "this order: name these hosts",
        fmt::join(cluster.occupancy->take, ", ")));
  } else if (cluster.placement != training::Placement::packed) {
    out.push_back(fmt::format("cluster.placement is {}: who starts the run chooses the hosts",
                              core::to_word(cluster.placement)));
  }
  return out;
}

}  // namespace headway::config

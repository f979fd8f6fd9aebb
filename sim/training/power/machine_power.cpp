#include "sim/training/power/machine_power.h"

#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

double switch_ports(const ClusterSpec& cluster, std::int64_t spares) {
  const auto& fabric = cluster.fabric;
  const double leaf_ports = static_cast<double>(cluster.nodes + spares) * cluster.node.nic.count;
  double ports = leaf_ports;
  if (fabric.tiers >= 2) {
    ports += 2 * leaf_ports / fabric.leaf_oversubscription;
  }
  if (fabric.tiers >= 3) {
    ports += 2 * leaf_ports / (fabric.leaf_oversubscription * fabric.spine_oversubscription);
  }
  return ports;
}

MachinePower machine_power(const ClusterSpec& cluster,
                           std::int64_t spares,
                           const std::vector<double>& busy_shares) {
  const auto spare_gpus = static_cast<double>(spares) * cluster.node.gpus;
  core::Watts training, idle, hosts;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    const auto& node = node_of_kind(cluster, kind);
    const auto nodes = static_cast<double>(nodes_of_kind(cluster, kind));
    const double gpus = nodes * node.gpus;
    const double busy = busy_shares.at(static_cast<std::size_t>(kind));
    training += gpus * (node.gpu.idle_power + busy * (node.gpu.power - node.gpu.idle_power));
    idle += gpus * node.gpu.idle_power;
    hosts += (nodes + (kind == 0 ? static_cast<double>(spares) : 0)) * node.host_power;
  }
  const core::Watts rest = spare_gpus * cluster.node.gpu.idle_power + hosts +
                           switch_ports(cluster, spares) * cluster.fabric.switch_power_per_port;
  return {.training = training + rest, .standing = idle + rest};
}

MachinePower machine_power(const ClusterSpec& cluster, std::int64_t spares, double busy_share) {
  const auto kinds = static_cast<std::size_t>(node_kinds(cluster));
  return machine_power(cluster, spares, std::vector<double>(kinds, busy_share));
}

double pue_of(const Scenario& scenario) {
  const auto& power = scenario.cluster.power;
  return power && power->pue ? *power->pue : scenario.run.prices ? scenario.run.prices->pue : 1;
}

core::Watts peak_power(const Scenario& scenario) {
  return machine_power(scenario.cluster, spare_nodes(scenario), 1).training;
}

}  // namespace headway::training

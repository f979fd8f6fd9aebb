#include "sim/campaign/energy.h"

#include "sim/training/unequal/node_kinds.h"

namespace headway::campaign {

using core::Joules;
using core::Seconds;
using core::Watts;

double switch_ports(const training::ClusterSpec& cluster, std::int64_t spares) {
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

MachinePower machine_power(const training::ClusterSpec& cluster,
                           std::int64_t spares,
                           double busy_share) {
  const auto spare_gpus = static_cast<double>(spares) * cluster.node.gpus;
  Watts training, idle, hosts;
  for (int kind = 0; kind < training::node_kinds(cluster); ++kind) {
    const auto& node = training::node_of_kind(cluster, kind);
    const auto nodes = static_cast<double>(training::nodes_of_kind(cluster, kind));
    const double gpus = nodes * node.gpus;
    training += gpus * (node.gpu.idle_power + busy_share * (node.gpu.power - node.gpu.idle_power));
    idle += gpus * node.gpu.idle_power;
    hosts += (nodes + (kind == 0 ? static_cast<double>(spares) : 0)) * node.host_power;
  }
  const Watts rest = spare_gpus * cluster.node.gpu.idle_power + hosts +
                     switch_ports(cluster, spares) * cluster.fabric.switch_power_per_port;
  return {.training = training + rest, .standing = idle + rest};
}

Joules it_energy(const MachinePower& power, Seconds stepping, Seconds wall) {
  return power.training * stepping + power.standing * (wall - stepping);
}

}  // namespace headway::campaign

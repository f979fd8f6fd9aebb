#include "sim/campaign/energy.h"

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
  const auto& gpu = cluster.node.gpu;
  const auto gpus = static_cast<double>(cluster.nodes) * cluster.node.gpus;
  const auto spare_gpus = static_cast<double>(spares) * cluster.node.gpus;
  const Watts rest = spare_gpus * gpu.idle_power +
                     static_cast<double>(cluster.nodes + spares) * cluster.node.host_power +
                     switch_ports(cluster, spares) * cluster.fabric.switch_power_per_port;
  return {.training = gpus * (gpu.idle_power + busy_share * (gpu.power - gpu.idle_power)) + rest,
          .standing = gpus * gpu.idle_power + rest};
}

Joules it_energy(const MachinePower& power, Seconds stepping, Seconds wall) {
  return power.training * stepping + power.standing * (wall - stepping);
}

}  // namespace headway::campaign

// What the fabric that joins the GPUs of a cluster is built from.
#pragma once

#include "sim/network/fabric/fabric_shape.h"
#include "sim/training/cluster_spec.h"

namespace headway::training {

/// Without storage servers, so that it may be asked before a scenario is checked.
inline network::FabricInput compute_fabric(const ClusterSpec& cluster) {
  network::FabricInput input;
  input.fabric = cluster.fabric;
  input.scale_up = cluster.node.scale_up;
  input.nic = cluster.node.nic;
  input.nodes = cluster.occupancy ? cluster.occupancy->nodes : cluster.nodes;
  input.gpus_per_node = cluster.node.gpus;
  input.sites = cluster.sites;
  return input;
}

}  // namespace headway::training

// Small clusters that the network tests share.
#pragma once

#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

using namespace core::literals;

/// `nodes` DGX H100: 8 GPUs on NVLink, 8 NICs of 400 Gbps, rail-optimized, 4 nodes a leaf.
inline FabricInput dgx_h100(int nodes) {
  FabricInput in;
  in.fabric.name = "test fabric";
  in.fabric.topology = Topology::rail_optimized;
  in.fabric.link_bandwidth = 400_Gbps;
  in.fabric.ports_per_leaf = 4;
  in.fabric.efficiency = 1;
  in.scale_up.bandwidth = 450_GBps;
  in.scale_up.in_switch_reduction = true;
  in.nic.bandwidth = 400_Gbps;
  in.nodes = nodes;
  in.gpus_per_node = 8;
  return in;
}

/// One GPU and one NIC a node, 32 nodes a leaf, as many uplinks as hosts, 1 us a link: DESIGN's
/// reference fat tree.
inline FabricInput flat_tree(int nodes, Routing routing = Routing::destination_modulo) {
  FabricInput in;
  in.fabric.name = "flat tree";
  in.fabric.topology = Topology::fat_tree;
  in.fabric.link_bandwidth = 50_GBps;
  in.fabric.link_latency = 1_us;
  in.fabric.ports_per_leaf = 32;
  in.fabric.routing = routing;
  in.fabric.efficiency = 1;
  in.scale_up.bandwidth = 450_GBps;
  in.scale_up.domain_gpus = 1;
  in.nic.count = 1;
  in.nic.bandwidth = 50_GBps;
  in.nic.latency = core::Seconds{0};
  in.nodes = nodes;
  in.gpus_per_node = 1;
  return in;
}

inline std::vector<core::GpuId> first_gpus(int count) {
  std::vector<core::GpuId> list;
  for (int i = 0; i < count; ++i) {
    list.emplace_back(i);
  }
  return list;
}

}  // namespace headway::network

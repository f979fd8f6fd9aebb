#include "sim/network/collective/collective_call.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/fabric/wide_area.h"

namespace headway::network {

NetworkParameters make_parameters(const FabricInput& input, NcclGeneration generation) {
  const FabricShape shape = make_shape(input);
  NetworkParameters p;
  p.generation = generation;
  p.scale_up_kind = input.scale_up.kind;
  p.scale_up_bandwidth = input.scale_up.bandwidth;
  p.scale_up_latency = input.scale_up.latency;
  p.domain_gpus = input.scale_up.domain_gpus;
  p.gpus_per_node = input.gpus_per_node;
  p.nvls = input.scale_up.in_switch_reduction && input.scale_up.kind == ScaleUpKind::nvswitch;
  p.nic_bandwidth = shape.port_rate * static_cast<double>(shape.planes);
  p.gpus_per_rail = static_cast<int>((shape.gpus_per_node + shape.rails - 1) / shape.rails);
  const int hops =
      shape.leaves_per_tree == 1 ? 2 : (shape.pods_per_tree == 1 ? 4 : (shape.dragonfly ? 5 : 6));
  p.network_latency =
      input.nic.latency * 2.0 + input.fabric.link_latency * static_cast<double>(hops);
  p.collnet = input.fabric.in_switch_reduction;
  p.pxn = input.fabric.pxn;
  p.node_latency = input.fabric.node_latency;
  if (input.sites) {
    const WideAreaRates rates = wide_area_rates(*input.sites, p.nic_bandwidth);
    p.site_rate = rates.site;
    p.sender_rate = rates.sender;
    p.site_latency = input.sites->latency;
    p.site_flat = input.sites->collective == CrossSite::flat;
  }
  return p;
}

GroupShape regular_group(int ranks,
                         int ranks_per_domain,
                         const NetworkParameters& parameters,
                         int gpus_per_node) {
  HEADWAY_CHECK(ranks >= 1 && ranks_per_domain >= 1, "{} ranks, {} a domain", ranks,
                ranks_per_domain);
  GroupShape g;
  g.ranks = ranks;
  g.ranks_per_domain = std::min(ranks, ranks_per_domain);
  g.domains = (ranks + g.ranks_per_domain - 1) / g.ranks_per_domain;
  const int nodes_a_domain = std::max(1, parameters.domain_gpus / gpus_per_node);
  g.ranks_per_node = std::min(ranks, std::max(1, g.ranks_per_domain / nodes_a_domain));
  g.nodes = (ranks + g.ranks_per_node - 1) / g.ranks_per_node;
  const int rails = std::max(1, gpus_per_node / parameters.gpus_per_rail);
  g.ranks_per_rail = (g.ranks_per_node + rails - 1) / rails;
  return g;
}

GroupShape group_shape(const Fabric& fabric, std::span<const core::GpuId> members) {
  GroupShape g;
  g.ranks = static_cast<int>(members.size());
  std::vector<std::uint64_t> keys(members.size());
  // How many different keys there are, and how often the most frequent one comes.
  const auto count = [&](auto key_of) {
    std::transform(members.begin(), members.end(), keys.begin(),
                   [&](core::GpuId gpu) { return key_of(fabric.place(gpu)); });
    if (!std::is_sorted(keys.begin(), keys.end())) {  // ranks mostly are, in the order of GPUs
      std::sort(keys.begin(), keys.end());
    }
    int most = 1, different = keys.empty() ? 0 : 1, run = 1;
    for (std::size_t i = 1; i < keys.size(); ++i) {
      run = keys[i] == keys[i - 1] ? run + 1 : 1;
      different += run == 1 ? 1 : 0;
      most = std::max(most, run);
    }
    return std::pair{std::max(1, different), most};
  };
  using Place = const GpuPlace&;
  std::tie(g.nodes, g.ranks_per_node) = count([](Place p) { return std::uint64_t{p.node}; });
  std::tie(g.domains, g.ranks_per_domain) = count([](Place p) { return std::uint64_t{p.domain}; });
  g.ranks_per_rail = count([](Place p) { return (std::uint64_t{p.node} << 32U) | p.rail; }).second;
  if (fabric.shape().sites > 1) {
    g.sites = count([&](Place p) { return std::uint64_t{fabric.site_of(p.node)}; }).first;
  }
  return g;
}

GroupShape repeated(GroupShape part, int times) {
  part.ranks *= times;
  part.domains *= times;
  part.nodes *= times;
  return part;
}

}  // namespace headway::network

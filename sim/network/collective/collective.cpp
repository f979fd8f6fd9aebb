#include "sim/network/collective/collective.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/collective/collective_curve.h"
#include "sim/network/collective/collective_wire.h"
#include "sim/network/collective/nccl_model.h"
#include "sim/network/collective/nccl_time.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {
namespace {

using core::CollectiveKind;

CollectiveTime time_of(TimeSource source,
                       Algorithm algorithm,
                       Protocol protocol,
                       const TimeEstimate& estimate) {
  CollectiveTime t;
  t.total = estimate.total;
  t.alpha = estimate.latency;
  t.algorithm = algorithm;
  t.protocol = protocol;
  t.source = source;
  return t;
}

CollectiveTime modelled(const CollectiveCall& call,
                        const GroupShape& group,
                        const NetworkParameters& machine) {
  const bool exchange =
      call.kind == CollectiveKind::all_to_all || call.kind == CollectiveKind::send_receive;
  if (exchange && !has_closed_form(call)) {
    const auto algorithm =
        call.kind == CollectiveKind::all_to_all ? Algorithm::pairwise : Algorithm::direct;
    return time_of(TimeSource::alpha_beta, algorithm, Protocol::simple,
                   exchange_time(call, group, machine));
  }
  if (has_closed_form(call)) {
    return time_of(TimeSource::alpha_beta, *call.algorithm, Protocol::simple,
                   closed_form_time(call, group, machine));
  }
  const auto choice = nccl_choice(call, group, machine);
  return time_of(TimeSource::nccl_model, choice.algorithm, choice.protocol,
                 nccl_time(choice, call, group, machine));
}

/// The group that a curve was measured on; it filled as many nodes of an NVLink domain as `like`
/// does.
GroupShape shape_of(const CollectiveCurve& curve,
                    const GroupShape& like,
                    const NetworkParameters& machine) {
  const int nodes_a_domain = std::max(1, like.ranks_per_domain / like.ranks_per_node);
  return regular_group(curve.ranks, curve.ranks_per_node * nodes_a_domain, machine,
                       machine.gpus_per_node);
}

/// The curve's time. Beyond an end that no fitted line carries on: the end's time x the model's
/// ratio, so that a curve of large messages does not speak for small ones.
core::Seconds read_curve(const CollectiveCurve& curve,
                         const CollectiveCall& call,
                         const GroupShape& group,
                         const NetworkParameters& machine) {
  const auto read = interpolate(curve, call.bytes);
  const auto& first = curve.points.front();
  const auto& last = curve.points.back();
  if (curve.fit || (call.bytes >= first.message && call.bytes <= last.message)) {
    return read;
  }
  const auto& end = call.bytes < first.message ? first : last;
  CollectiveCall at_end = call;
  at_end.bytes = end.message;
  return end.time * (modelled(call, group, machine).total / modelled(at_end, group, machine).total);
}

/// Wire bytes of the algorithm; then the latency is what the wires leave of the total.
void add_wire(CollectiveTime& t,
              const CollectiveCall& call,
              const GroupShape& group,
              const NetworkParameters& machine) {
  const auto wire = wire_bytes(call.kind, t.algorithm, call.bytes, group);
  t.scale_up_bytes = wire.scale_up;
  t.nic_bytes = wire.nic;
  const auto busy =
      std::max(wire.scale_up / machine.scale_up_bandwidth, wire.nic / machine.nic_bandwidth);
  t.alpha = std::clamp(t.total - busy, core::Seconds{}, t.alpha);
}

}  // namespace

CollectiveTime collective_time(const CollectiveCall& call,
                               const GroupShape& group,
                               const NetworkParameters& parameters,
                               std::span<const CollectiveCurve> curves) {
  HEADWAY_CHECK(group.ranks >= 1 && call.bytes.si() >= 0, "{} ranks, {} bytes", group.ranks,
                call.bytes.si());
  if (group.ranks == 1 || call.bytes.si() == 0) {
    return {};
  }
  CollectiveTime t = modelled(call, group, parameters);
  const bool free_choice = !call.algorithm && !call.protocol;
  if (const auto* curve = free_choice ? find_curve(curves, call.kind, group) : nullptr) {
    CollectiveCall least = call;
    least.bytes = core::Bytes{1};
    t.total = read_curve(*curve, call, group, parameters);
    t.alpha = std::min(t.alpha, read_curve(*curve, least, group, parameters));
    t.source = TimeSource::measured_curve;
  } else if (const auto* near = free_choice ? nearest_curve(curves, call.kind, group) : nullptr) {
    // The machine's own deviation from the model, taken from the nearest group that was measured.
    const GroupShape there = shape_of(*near, group, parameters);
    const double ratio =
        read_curve(*near, call, there, parameters) / modelled(call, there, parameters).total;
    t.total *= ratio;
    t.alpha *= ratio;
    t.source = TimeSource::fitted_bounds;
  }
  add_wire(t, call, group, parameters);
  return t;
}

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
    std::sort(keys.begin(), keys.end());
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
  return g;
}

}  // namespace headway::network

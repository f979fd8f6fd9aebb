#include "sim/network/collective/collective.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/collective/collective_curve.h"
#include "sim/network/collective/collective_wire.h"
#include "sim/network/collective/cross_site.h"
#include "sim/network/collective/nccl_measured.h"
#include "sim/network/collective/nccl_model.h"
#include "sim/network/collective/nccl_time.h"

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

/// What the nodes of a group add to a collective on a fabric whose nodes pass chunks on slowly.
core::Seconds time_of_nodes(const CollectiveCall& call,
                            const GroupShape& group,
                            const NetworkParameters& machine) {
  const bool exchange = core::is_exchange(call.kind);
  if (group.domains < 2 || exchange) {
    return {};
  }
  return machine.node_latency *
         (group.nodes * (call.bytes / (call.bytes + core::Bytes{nccl::kHalfOfNodesBytes})));
}

CollectiveTime modelled(const CollectiveCall& call,
                        const GroupShape& group,
                        const NetworkParameters& machine) {
  const bool exchange = core::is_exchange(call.kind);
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
  TimeEstimate least = nccl_least_time(call, group, machine);
  const core::Seconds nodes = time_of_nodes(call, group, machine);
  least.total += nodes;
  least.latency += nodes;
  return time_of(TimeSource::nccl_model, choice.algorithm, choice.protocol, least);
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

CollectiveTime inside_site(const CollectiveCall& call,
                           const GroupShape& group,
                           const NetworkParameters& parameters,
                           std::span<const CollectiveCurve> curves) {
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

}  // namespace

CollectiveTime collective_time(const CollectiveCall& call,
                               const GroupShape& group,
                               const NetworkParameters& parameters,
                               std::span<const CollectiveCurve> curves) {
  HEADWAY_CHECK(group.ranks >= 1 && call.bytes.si() >= 0, "{} ranks, {} bytes", group.ranks,
                call.bytes.si());
  if (group.sites == 1 || call.bytes.si() == 0) {
    return inside_site(call, group, parameters, curves);
  }
  const auto inside = [&](const CollectiveCall& asked, const GroupShape& shape) {
    return inside_site(asked, shape, parameters, curves);
  };
  return parameters.site_flat || call.kind == CollectiveKind::send_receive
             ? flat_over_sites(call, group, parameters, inside)
             : hierarchical_over_sites(call, group, parameters, inside);
}

}  // namespace headway::network

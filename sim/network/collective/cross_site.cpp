#include "sim/network/collective/cross_site.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::network {
namespace {

using core::Bytes;
using core::CollectiveKind;
using core::Seconds;

/// Part of an array that each rank of a ring over sites sends, and messages one after another.
struct Ring {
  double part = 0;
  int hops = 0;
};

Ring ring_of(CollectiveKind kind, int sites) {
  const double part = (sites - 1.0) / sites;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {2 * part, 2 * (sites - 1)};
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return {part, sites - 1};
    case CollectiveKind::broadcast:
      return {1, sites - 1};
    default:
      throw core::Error(
          fmt::format("{} between sites is not modelled: keep its ranks on one site, or write "
                      "'collective: flat' under cluster.sites",
                      core::to_word(kind)));
  }
}

/// The ranks of one site.
GroupShape of_one_site(const GroupShape& group) {
  HEADWAY_CHECK(group.ranks % group.sites == 0, "{} ranks on {} sites", group.ranks, group.sites);
  GroupShape site = group;
  site.sites = 1;
  site.ranks = group.ranks / group.sites;
  site.domains = std::max(1, group.domains / group.sites);
  site.nodes = std::max(1, group.nodes / group.sites);
  return site;
}

/// Sets the total: latency, and the longest of what carries the bytes.
void finish(CollectiveTime& t, Seconds busy, Seconds sender, Seconds site) {
  t.total = t.alpha + std::max({busy, sender, site});
}

}  // namespace

bool exchanged_between_sites(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
         kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::broadcast;
}

CollectiveTime hierarchical_over_sites(const CollectiveCall& call,
                                       const GroupShape& group,
                                       const NetworkParameters& machine,
                                       const TimeInside& inside) {
  const Ring ring = ring_of(call.kind, group.sites);
  const GroupShape of_site = of_one_site(group);
  const auto ranks = static_cast<double>(of_site.ranks);
  CollectiveTime t = inside(call, of_site);
  const bool reduces =
      call.kind == CollectiveKind::all_reduce || call.kind == CollectiveKind::reduce_scatter;
  const Bytes held = call.bytes / ranks;
  t.site_bytes = held * (ring.part * (reduces ? machine.site_pack : 1.0));
  const Seconds busy = t.total - t.alpha;
  t.alpha += machine.site_latency * static_cast<double>(ring.hops);
  if (reduces && machine.site_pack_rate.si() > 0) {
    t.alpha += held / machine.site_pack_rate;
  }
  const Bytes of_rail = t.site_bytes * static_cast<double>(of_site.ranks_per_rail);
  finish(t, busy + of_rail / machine.nic_bandwidth, of_rail / machine.sender_rate,
         t.site_bytes * (ranks * machine.site_sharers) / machine.site_rate);
  t.source = t.source == TimeSource::nothing_to_do ? TimeSource::alpha_beta : t.source;
  return t;
}

CollectiveTime flat_over_sites(const CollectiveCall& call,
                               const GroupShape& group,
                               const NetworkParameters& machine,
                               const TimeInside& inside) {
  GroupShape as_one = group;
  as_one.sites = 1;
  CollectiveCall ring = call;
  const bool exchange = core::is_exchange(call.kind);
  if (!exchange && !call.algorithm) {
    ring.algorithm = Algorithm::ring;
  }
  CollectiveTime t = inside(ring, as_one);
  const Seconds busy = t.total - t.alpha;
  const bool message = call.kind == CollectiveKind::send_receive;
  const double passes = call.kind == CollectiveKind::all_reduce ? 2 : 1;
  t.alpha += machine.site_latency * (message ? 1.0 : passes * group.sites);
  const double rails =
      std::max(1.0, static_cast<double>(group.ranks_per_domain) / group.ranks_per_rail);
  finish(t, busy, t.nic_bytes / machine.sender_rate,
         t.nic_bytes * (rails * machine.site_sharers) / machine.site_rate);
  return t;
}

}  // namespace headway::network

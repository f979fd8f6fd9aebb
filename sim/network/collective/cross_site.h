// Collectives whose ranks are on several sites.
#pragma once

#include <functional>

#include "sim/network/collective/collective.h"

namespace headway::network {

/// Time of a collective as if all ranks of the shape were on one site.
using TimeInside = std::function<CollectiveTime(const CollectiveCall&, const GroupShape&)>;

/// Whether a collective over sites has a time if its inner part and its exchange are separate
/// (`hierarchical_over_sites`); one ring over all ranks has a time whatever it carries.
bool exchanged_between_sites(core::CollectiveKind kind);

/// Inside each of s sites of m ranks as on one site; between them a ring of the s ranks of each
/// place, on the part of 1 / m of the array that a rank of the site holds. The parts are passed on
/// as they come, so transfers add up on a network card but not on each other's links:
///     T = a_in + h L + max(t_in + w / B_nic, w / B_sender, m w G / B_site) + pack
///     w = f S / m,  f = 2 (s-1) / s, h = 2 (s-1) for all-reduce;  (s-1) / s, s-1 for all-gather,
///     reduce-scatter;  1, s-1 for broadcast
/// S bytes as nccl-tests counts, L one way between sites, G groups that send at the same time. Of
/// reduced values f S is that of the narrower format, and kernels pack and unpack S / m.
/// @throws core::Error unless `exchanged_between_sites(call.kind)`
CollectiveTime hierarchical_over_sites(const CollectiveCall& call,
                                       const GroupShape& group,
                                       const NetworkParameters& machine,
                                       const TimeInside& inside);

/// One ring over all ranks, as software makes it that knows of no sites (NCCL_ALGO=Ring); s of its
/// edges cross, each with the bytes of a domain's rails:
///     T = a + p s L + max(t, n / B_sender, rails n G / B_site)
/// n bytes of one rail, p = 2 passes for all-reduce, else 1. A message crosses once.
CollectiveTime flat_over_sites(const CollectiveCall& call,
                               const GroupShape& group,
                               const NetworkParameters& machine,
                               const TimeInside& inside);

}  // namespace headway::network

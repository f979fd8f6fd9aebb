// How many bytes an algorithm puts on the wires in its steady state.
#pragma once

#include "sim/core/collective.h"
#include "sim/core/units.h"
#include "sim/network/collective.h"

namespace headway::network {

/// Sent by one rank over NVLink, and by one rail's NICs of a node, in the whole call.
struct WireBytes {
  core::Bytes scale_up;
  core::Bytes nic;
};

/// What the busiest domain sends in a double binary tree, as a share of S: 1 for two domains, else
/// 2 (half of S in each tree: up and to two children where it is inside, up where it is a leaf).
double domains_sent_by_tree(int domains);

/// r ranks in each of R domains, S bytes, k rails of a domain in use:
///     ring                X = 2(n-1)/n S (all-reduce), (n-1)/n S (gather, scatter), S (broadcast):
///     NVLink X (r-1)/r, NIC X/k tree                NVLink 2 (r-1)/r S, NIC S d / k      d:
///     domains_sent_by_tree nvls, nvls_tree     NVLink (1 + 1/r) S, NIC S d / k collnet NVLink 2
///     (r-1)/r S, NIC S / k hierarchical        NVLink 2 (r-1)/r S, NIC 2(R-1)/R S / k pairwise
///     NVLink (r-1)/n S,   NIC (n-r)/n S r / k
WireBytes wire_bytes(core::CollectiveKind kind,
                     Algorithm algorithm,
                     core::Bytes message,
                     const GroupShape& group);

}  // namespace headway::network

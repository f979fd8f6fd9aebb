// How many bytes an algorithm puts on the wires in its steady state.
#pragma once

#include "sim/core/collective.h"
#include "sim/core/units.h"
#include "sim/network/collective/collective_call.h"

namespace headway::network {

/// Sent by one rank over NVLink, and by one rail's NICs of a node, in the whole call.
struct WireBytes {
  core::Bytes scale_up;
  core::Bytes nic;
};

/// What the busiest domain sends in a double binary tree, as a share of S: 1 for two domains, else
/// 2 (half of S in each tree: up and to two children where it is inside, up where it is a leaf).
double domains_sent_by_tree(int domains);

/// n ranks, r in each of R domains, S bytes, k rails of a domain in use, p = 2 for an all-reduce,
/// else 1:
///
///     algorithm        NVLink, a rank        NIC, a rail
///     ring             X (r-1)/r             X / k         X = 2(n-1)/n S, (n-1)/n S or S
///     recursive, pat   p (r-1)/n S           p (n-r)/n S r / k
///     tree             2 (r-1)/r S           S d / k       d: domains_sent_by_tree
///     nvls, nvls_tree  (1 + 1/r) S           S d / k
///     collnet          2 (r-1)/r S           S / k
///     hierarchical     p (r-1)/r S           p (R-1)/R S / k
///     ... all-to-all   (r-1)/r S             (R-1)/R S r / k
///     pairwise         (r-1)/n S             (n-r)/n S r / k
WireBytes wire_bytes(core::CollectiveKind kind,
                     Algorithm algorithm,
                     core::Bytes message,
                     const GroupShape& group);

}  // namespace headway::network

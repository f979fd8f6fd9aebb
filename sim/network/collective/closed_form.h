// Closed forms of collectives and of the bandwidth figures that people print: pure functions.
//
// n ranks, S bytes as nccl-tests counts them (the whole array), alpha [s] per message, beta [B/s]
// of one rank in one direction. Sources: Hockney 1994; Thakur, Rabenseifner, Gropp, IJHPCA 2005;
// Patarasuk & Yuan, JPDC 2009; Sanders, Speck, Traeff, Parallel Computing 2009 (double tree);
// nccl-tests doc/PERFORMANCE.md (bus bandwidth).
#pragma once

#include "sim/core/collective.h"
#include "sim/core/units.h"

namespace headway::network {

/// Hockney's pair: a message of m bytes takes alpha + m / beta.
struct Hop {
  core::Seconds alpha;
  core::BytesPerSecond beta;
};

/// (n-1) alpha + (n-1)/n S/beta.
core::Seconds ring_all_gather(core::Bytes message, int n, Hop hop);
/// The same as the all-gather, read backwards.
core::Seconds ring_reduce_scatter(core::Bytes message, int n, Hop hop);
/// 2 (n-1) alpha + 2 (n-1)/n S/beta.
core::Seconds ring_all_reduce(core::Bytes message, int n, Hop hop);
/// log2(n) alpha + (n-1)/n S/beta; a power of two, else one more exchange of the whole array: +
/// alpha + S/beta.
core::Seconds recursive_doubling_all_gather(core::Bytes message, int n, Hop hop);
core::Seconds recursive_halving_reduce_scatter(core::Bytes message, int n, Hop hop);
/// Reduce-scatter by halving, then all-gather by doubling.
core::Seconds halving_doubling_all_reduce(core::Bytes message, int n, Hop hop);
/// Pipelined double binary tree: 2 ceil(log2 n) alpha + 2 S/beta.
core::Seconds double_tree_all_reduce(core::Bytes message, int n, Hop hop);
/// The switch reduces: 2 alpha + S/beta.
core::Seconds in_switch_all_reduce(core::Bytes message, Hop hop);
/// PAT (Bruck-like trees, one rank a node): ceil(log2 n) alpha + (n-1)/n S/beta.
core::Seconds pat_all_gather(core::Bytes message, int n, Hop hop);
/// Pipelined chain or tree: ceil(log2 n) alpha + S/beta.
core::Seconds tree_broadcast(core::Bytes message, int n, Hop hop);
/// n-1 exchanges: (n-1) alpha + (n-1)/n S/beta.
core::Seconds pairwise_all_to_all(core::Bytes message, int n, Hop hop);
/// Reduce-scatter inside, all-reduce of S/r along each rail, all-gather inside. r ranks a domain,
/// n/r domains.
core::Seconds hierarchical_all_reduce(core::Bytes message, int n, int r, Hop inside, Hop between);
/// Ring of S/r along each rail, then all-gather inside; reduce-scatter is the same read backwards.
core::Seconds hierarchical_all_gather(core::Bytes message, int n, int r, Hop inside, Hop between);
/// First to the mate on the destination's rail, then along the rails:
/// (r-1) a_i + (r-1)/r S/b_i + (R-1) a_b + (R-1)/R S/b_b, R = n/r domains.
core::Seconds staged_all_to_all(core::Bytes message, int n, int r, Hop inside, Hop between);
/// Inside and between at the same time: max((r-1) a_i + (r-1)/n S/b_i, (n-r) a_b + (n-r)/n S/b_b).
core::Seconds hierarchical_all_to_all(core::Bytes message, int n, int r, Hop inside, Hop between);
/// alpha + S/beta.
core::Seconds send_receive(core::Bytes message, Hop hop);

/// Algorithm bandwidth x this = bus bandwidth: 2(n-1)/n all-reduce; (n-1)/n all-gather,
/// reduce-scatter, all-to-all; 1 else.
double bus_factor(core::CollectiveKind kind, int n);
/// nccl-tests' busbw.
core::BytesPerSecond bus_bandwidth(core::CollectiveKind kind,
                                   core::Bytes message,
                                   int n,
                                   core::Seconds time);

}  // namespace headway::network

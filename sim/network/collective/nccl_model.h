// What NCCL would pick: its published cost model, algorithm by algorithm and protocol by protocol.
//
// time = latency + bytes / algorithm bandwidth; the candidate with the least predicted time is
// chosen. NCCL's "node" is an NVLink domain here.
#pragma once

#include <vector>

#include "sim/network/collective/collective_call.h"

namespace headway::network {

/// One algorithm with one protocol, as NCCL's model sees it.
struct NcclCandidate {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  core::Seconds base;              ///< latency of any call
  core::Seconds inside;            ///< latency of all hops over NVLink or PCIe
  core::Seconds network;           ///< latency of all hops over NICs, and what hops inside take
                                   ///< beyond NCCL's
  core::BytesPerSecond bandwidth;  ///< of the algorithm: bytes of the call / time, latency aside
  core::Seconds time;
  [[nodiscard]] core::Seconds latency() const { return base + inside + network; }
};

/// The candidates that a call allows; all-reduce: ring, tree, NVLS, NVLS tree, CollNet; all-gather
/// and reduce-scatter: ring and (one rank a domain) PAT; broadcast: ring. Empty for a group of one
/// rank, all-to-all and send/receive, which NCCL does not model.
std::vector<NcclCandidate> nccl_candidates(const CollectiveCall& call,
                                           const GroupShape& group,
                                           const NetworkParameters& parameters);

/// The fastest of the candidates that the call allows.
/// @throws core::Error if the call forces what does not exist
NcclCandidate nccl_choice(const CollectiveCall& call,
                          const GroupShape& group,
                          const NetworkParameters& parameters);

/// Its choice for this call, and what it would choose for larger ones, as candidates for this call.
std::vector<NcclCandidate> nccl_choices_from(const CollectiveCall& call,
                                             const GroupShape& group,
                                             const NetworkParameters& parameters);

/// GPU to GPU inside a domain, which NCCL's measured hops already contain: the default of
/// scale_up.latency.
core::Seconds reference_hop();
/// What scale_up.latency is beyond `reference_hop`; 0 for a faster one.
core::Seconds extra_scale_up_latency(const NetworkParameters& parameters);
/// Payload rate at which one GPU's NCCL channels feed NVLink [B/s], one direction.
core::BytesPerSecond nccl_nvlink_rate(const NetworkParameters& parameters);
/// Payload rate at which a domain's members leave it over their NICs [B/s], one direction.
core::BytesPerSecond boundary_rate(const GroupShape& group, const NetworkParameters& parameters);

}  // namespace headway::network

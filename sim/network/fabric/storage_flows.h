// Checkpoint and data traffic on the fabric that training uses: flows between GPUs and storage
// servers, which share links with collectives.
#pragma once

#include <span>

#include "sim/core/ids.h"
#include "sim/core/units.h"
#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"

namespace headway::network {

/// What every member writes or reads at once.
struct StorageCall {
  core::Bytes bytes;                  ///< of one member, striped evenly over all servers
  bool write = true;                  ///< GPU to servers; else back
  core::BytesPerSecond client_bound;  ///< of one member (client, streams, RPC slots); 0: none
  core::Seconds latency;              ///< open and metadata, before the first byte
};

/// One flow a member over its rail to every server (1 / servers of its bytes each, in lockstep), as
/// parallel file systems stripe. Members share servers and links max-min fairly, with each other
/// and with whatever else the problem holds. `alone` is the time of one member by itself.
/// @throws core::Error if the fabric has no storage servers, or a way to one is down
Transfer emit_storage(const Fabric& fabric,
                      const StorageCall& call,
                      std::span<const core::GpuId> members,
                      const EmitOptions& options = {});

}  // namespace headway::network

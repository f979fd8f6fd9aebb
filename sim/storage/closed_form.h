// How long saves and loads take, as formulas: no events, no network.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/units.h"
#include "sim/storage/spec.h"

namespace headway::storage {

/// Time until the last of `n` equal writers has stored its `share`.
///     T = max(share / client, n share / server)
/// @param n       writers that start together; 0 gives zero
/// @param share   bytes of one writer [B]
/// @param client  what one writer can move [B/s]
/// @param server  what all servers together can take [B/s]
/// The same formula holds for readers. Source: max-min sharing of one server with equal caps.
core::Seconds equal_clients_time(std::int64_t n,
                                 core::Bytes share,
                                 core::BytesPerSecond client,
                                 core::BytesPerSecond server);

/// What one client can move when it keeps `slots` requests of `request` bytes in flight.
///     b = slots request / latency
/// Example: the 128 slots of an NFS mount. @param latency  of one request [s]
core::BytesPerSecond slot_limit(int slots, core::Bytes request, core::Seconds latency);

/// Mean time in a processor-sharing server of a request that alone needs `service`.
///     T = service / (1 - load);  holds for any distribution of sizes
/// @param load  share of the server that is asked for, 0 <= load < 1
core::Seconds processor_sharing_sojourn(core::Seconds service, double load);

/// Mean wait before service in a first-come-first-served server with equal requests (M/D/1).
///     W = load service / (2 (1 - load))
core::Seconds fifo_wait(core::Seconds service, double load);

/// Who holds which bytes of a checkpoint.
struct ShardLayout {
  double parameters = 0;
  std::int64_t gpus = 1;
  int gpus_per_node = 8;
  std::int64_t replicas = 1;       ///< data-parallel copies of the weights
  bool optimizer_sharded = false;  ///< ZeRO-1 and above: each rank holds its own part of the state
};

/// Bytes of one whole checkpoint: parameters x bytes per parameter, each byte stored once.
core::Bytes checkpoint_bytes(double parameters, const CheckpointSpec& checkpoint);

/// Bytes one node writes: the checkpoint divided equally over all nodes.
core::Bytes written_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// Bytes one node reads at a restart.
/// The two bytes of each 16-bit weight are needed by every replica; optimizer state too, unless it
/// is sharded.
///     node share = gpus_per_node (weights / (gpus / replicas) + state / holders),  holders = gpus
///     if sharded, else gpus / replicas
core::Bytes read_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// GPU memory to host memory, all GPUs at once, each its equal part.
/// @param host_bandwidth  one GPU to its host [B/s]
core::Seconds snapshot_time(const ShardLayout& layout,
                            const CheckpointSpec& checkpoint,
                            core::BytesPerSecond host_bandwidth);

/// Host memory to durable: equal writers, one a node, plus one commit latency.
core::Seconds persist_time(const ShardLayout& layout,
                           const CheckpointSpec& checkpoint,
                           const StorageSpec& storage);

/// Storage to GPU memory at a restart: all nodes read at once, replicas read the same bytes again.
core::Seconds load_time(const ShardLayout& layout,
                        const CheckpointSpec& checkpoint,
                        const StorageSpec& storage);

/// Times of one save and one load, with measured figures of the spec where it has them.
struct CheckpointTimes {
  core::Seconds stall;    ///< training stands still
  core::Seconds persist;  ///< from the end of the stall until durable; 0 when synchronous
  core::Seconds load;
};

/// A synchronous save stalls for snapshot and persist, an asynchronous one for the snapshot only.
CheckpointTimes checkpoint_times(const ShardLayout& layout,
                                 const CheckpointSpec& checkpoint,
                                 const StorageSpec& storage,
                                 core::BytesPerSecond host_bandwidth);

/// Capacity that `keep` checkpoints need: a new one is complete before the oldest is deleted.
///     (keep + 1) x checkpoint
core::Bytes needed_capacity(double parameters, const CheckpointSpec& checkpoint);

/// Where bytes come from or go to.
enum class Place : std::uint8_t { gpu, host, storage };

/// A wish to move bytes; `training` routes it onto a fabric.
struct Transfer {
  Place from = Place::host;
  std::int64_t from_index = 0;  ///< GPU or node number; 0 for storage
  Place to = Place::storage;
  std::int64_t to_index = 0;
  core::Bytes bytes;
  core::BytesPerSecond bound;  ///< what the client can move at most
  bool operator==(const Transfer&) const = default;
};

/// The writes of one save, one a node, in node order.
std::vector<Transfer> save_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage);

/// The reads of one restart, one a node, in node order.
std::vector<Transfer> load_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage);

}  // namespace headway::storage

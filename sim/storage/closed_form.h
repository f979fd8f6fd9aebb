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

/// Bytes one node writes to a near level: the checkpoint divided equally over all nodes.
core::Bytes written_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// Bytes one node reads at a restart.
/// The two bytes of each 16-bit weight are needed by every replica; optimizer state too, unless it
/// is sharded.
///     node share = gpus_per_node (weights / (gpus / replicas) + state / holders),  holders = gpus
///     if sharded, else gpus / replicas
core::Bytes read_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// GPU memory to host memory for a near level, all GPUs at once, each its equal part.
/// @param host_bandwidth  one GPU to its host [B/s]
core::Seconds snapshot_time(const ShardLayout& layout,
                            const CheckpointSpec& checkpoint,
                            core::BytesPerSecond host_bandwidth);

/// What training stands still for at least where a save goes to storage: its fixed cost, and the
/// copy to the host of those that write.
core::Seconds snapshot_stall(const ShardLayout& layout,
                             const CheckpointSpec& checkpoint,
                             core::BytesPerSecond host_bandwidth);

/// What one node can write, or read: its client, or what its request slots allow.
core::BytesPerSecond client_write_rate(const StorageSpec& storage);
core::BytesPerSecond client_read_rate(const StorageSpec& storage);

/// Nodes that write a save: all, or those of one data-parallel replica.
std::int64_t writing_nodes(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// Their GPUs, each of which copies its equal part to its host.
std::int64_t writing_gpus(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// Bytes that one of the nodes that write a save holds in its host and writes to storage.
core::Bytes share_of_writer(const ShardLayout& layout, const CheckpointSpec& checkpoint);

/// Time the servers need to create or open the files of a save.
///     writing GPUs x files_per_writer / files_per_second;  0 without a limit
core::Seconds file_time(const ShardLayout& layout,
                        const CheckpointSpec& checkpoint,
                        const StorageSpec& storage);

/// Host memory to durable: equal writers, plus the files and one commit latency.
///     latency + files + max(share / client, bytes / server)
core::Seconds persist_time(const ShardLayout& layout,
                           const CheckpointSpec& checkpoint,
                           const StorageSpec& storage);

/// Storage to GPU memory at a restart: all nodes read at once, replicas read the same bytes again.
core::Seconds load_time(const ShardLayout& layout,
                        const CheckpointSpec& checkpoint,
                        const StorageSpec& storage);

/// The same while the drive or client of one node keeps only `keeps` of its rate: everyone waits
/// for it.
///     latency + files + max(share / (keeps client), bytes / server)
core::Seconds persist_time_slow_node(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage,
                                     double keeps);

/// Times of a near level.
///     host: snapshot, nothing to wait for; nvme and peer: node share / its bandwidth
struct NearTimes {
  core::Seconds stall, persist, load;
};

/// @param host_bandwidth  one GPU to its host [B/s]
/// @param node_network    all network cards of a node [B/s], for peers
/// @param snapshots       this level takes the snapshot; else it shares that of a nearer one
NearTimes near_times(const ShardLayout& layout,
                     const CheckpointSpec& checkpoint,
                     const CheckpointLevelSpec& level,
                     core::BytesPerSecond host_bandwidth,
                     core::BytesPerSecond node_network,
                     bool snapshots);

/// Bytes of a node's memory or drives that a near level needs: (keep + 1) shares of the node; a
/// peer holds those of another node beside its own.
core::Bytes near_capacity(const ShardLayout& layout,
                          const CheckpointSpec& checkpoint,
                          const CheckpointLevelSpec& level);

/// State that a replacement copies from its peers: what one node of the job holds.
core::Seconds peer_load_time(const ShardLayout& layout,
                             const CheckpointSpec& checkpoint,
                             core::BytesPerSecond node_network);

/// How long a step that must read its input takes, relative.
///     max(1, bytes wanted from storage / bytes the storage delivers)
/// In the first pass over the data set nothing is cached; after it, `min(1, caches / data set)` of
/// the reads are. The mean over the run weighs passes by their steps.
struct FeedTimes {
  double first_pass = 1;  ///< step that waits / step
  double later = 1;
  double mean = 1;
  double first_share = 1;   ///< of the run's tokens that are read in the first pass
  double cached = 0;        ///< share of the reads that caches serve in later passes
  core::Seconds staging;    ///< copying the data set to the other islands before the start
  core::Seconds refill;     ///< a node reads its part of the cache from storage
  core::Seconds restaging;  ///< copying the data set to one more island
};

/// The mean over a run of two factors on the step, by the tokens of each pass.
double mean_of_passes(const FeedTimes& times, double first_pass, double later);

/// @param tokens_per_s  of the whole job at healthy speed
/// @param tokens        of the whole run; 0: unknown, the later passes are taken
/// @param busiest       what the node that reads most reads / the mean of all nodes: its client and
///                      its cache are those that bind
FeedTimes feed_times(const DataSpec& input,
                     const StorageSpec& storage,
                     std::int64_t nodes,
                     double tokens_per_s,
                     double tokens,
                     double busiest = 1);

/// Times of one save and one load, with measured figures of the spec where it has them.
struct CheckpointTimes {
  core::Seconds stall;    ///< training stands still
  core::Seconds persist;  ///< from the end of the stall until durable; 0 when synchronous
  core::Seconds load;
};

/// A synchronous save stalls for its fixed cost, snapshot and persist, an asynchronous one for its
/// fixed cost and the snapshot only.
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

/// The copies of one save to peers, one a node, in node order: each node's share to the next node.
/// @param node_network  all network cards of a node [B/s]
std::vector<Transfer> peer_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const CheckpointLevelSpec& level,
                                     core::BytesPerSecond node_network);

/// The input of one step, one read a node, in node order.
/// @param step_bytes  of the whole job, without what caches serve
/// @param shares      of each node; empty: equal
std::vector<Transfer> feed_transfers(std::int64_t nodes,
                                     core::Bytes step_bytes,
                                     const StorageSpec& storage,
                                     const std::vector<double>& shares = {});

/// The reads of one restart, one a node, in node order.
std::vector<Transfer> load_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage);

}  // namespace headway::storage

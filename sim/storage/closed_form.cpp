#include "sim/storage/closed_form.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::storage {

using core::Bytes;
using core::BytesPerSecond;
using core::Seconds;

namespace {

/// One weight as training holds it [B]. Source: bf16 and fp16 have 16 bits.
constexpr double kWeightBytes = 2;

std::int64_t node_count(const ShardLayout& layout) {
  return (layout.gpus + layout.gpus_per_node - 1) / layout.gpus_per_node;
}

}  // namespace

Seconds equal_clients_time(std::int64_t n,
                           Bytes share,
                           BytesPerSecond client,
                           BytesPerSecond server) {
  if (n == 0) {
    return Seconds(0);
  }
  return std::max(share / client, static_cast<double>(n) * share / server);
}

BytesPerSecond slot_limit(int slots, Bytes request, Seconds latency) {
  return static_cast<double>(slots) * request / latency;
}

Seconds processor_sharing_sojourn(Seconds service, double load) {
  HEADWAY_CHECK(load >= 0 && load < 1, "load {} has no steady state", load);
  return service / (1 - load);
}

Bytes checkpoint_bytes(double parameters, const CheckpointSpec& checkpoint) {
  return Bytes(parameters * checkpoint.bytes_per_parameter);
}

Bytes written_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint) {
  return checkpoint_bytes(layout.parameters, checkpoint) / static_cast<double>(node_count(layout));
}

Bytes read_per_node(const ShardLayout& layout, const CheckpointSpec& checkpoint) {
  const double per_replica =
      static_cast<double>(layout.gpus) / static_cast<double>(layout.replicas);
  const double holders = layout.optimizer_sharded ? static_cast<double>(layout.gpus) : per_replica;
  const double weights = layout.parameters * std::min(kWeightBytes, checkpoint.bytes_per_parameter);
  const double state = layout.parameters * checkpoint.bytes_per_parameter - weights;
  const auto gpus_here =
      static_cast<double>(std::min<std::int64_t>(layout.gpus_per_node, layout.gpus));
  return Bytes(gpus_here * (weights / per_replica + state / holders));
}

Seconds snapshot_time(const ShardLayout& layout,
                      const CheckpointSpec& checkpoint,
                      BytesPerSecond host_bandwidth) {
  return checkpoint_bytes(layout.parameters, checkpoint) / static_cast<double>(layout.gpus) /
         host_bandwidth;
}

Seconds snapshot_stall(const ShardLayout& layout,
                       const CheckpointSpec& checkpoint,
                       BytesPerSecond host_bandwidth) {
  return checkpoint.fixed_cost + checkpoint_bytes(layout.parameters, checkpoint) /
                                     static_cast<double>(writing_gpus(layout, checkpoint)) /
                                     host_bandwidth;
}

BytesPerSecond client_write_rate(const StorageSpec& storage) {
  const auto& s = storage.client_slots;
  return s ? std::min(storage.client_write_bandwidth, slot_limit(s->slots, s->request, s->latency))
           : storage.client_write_bandwidth;
}

BytesPerSecond client_read_rate(const StorageSpec& storage) {
  const auto& s = storage.client_slots;
  return s ? std::min(storage.client_read_bandwidth, slot_limit(s->slots, s->request, s->latency))
           : storage.client_read_bandwidth;
}

std::int64_t writing_nodes(const ShardLayout& layout, const CheckpointSpec& checkpoint) {
  const std::int64_t nodes = node_count(layout);
  return checkpoint.writers == Writers::all
             ? nodes
             : std::max<std::int64_t>(1, (nodes + layout.replicas - 1) / layout.replicas);
}

std::int64_t writing_gpus(const ShardLayout& layout, const CheckpointSpec& checkpoint) {
  return std::min(layout.gpus, writing_nodes(layout, checkpoint) * layout.gpus_per_node);
}

Bytes share_of_writer(const ShardLayout& layout, const CheckpointSpec& checkpoint) {
  return checkpoint_bytes(layout.parameters, checkpoint) /
         static_cast<double>(writing_nodes(layout, checkpoint));
}

Seconds file_time(const ShardLayout& layout,
                  const CheckpointSpec& checkpoint,
                  const StorageSpec& storage) {
  if (!storage.files_per_second) {
    return Seconds(0);
  }
  const std::int64_t writers = writing_gpus(layout, checkpoint);
  return Seconds(static_cast<double>(writers * checkpoint.files_per_writer) /
                 *storage.files_per_second);
}

Seconds persist_time_slow_node(const ShardLayout& layout,
                               const CheckpointSpec& checkpoint,
                               const StorageSpec& storage,
                               double keeps) {
  const std::int64_t writers = writing_nodes(layout, checkpoint);
  const Bytes share = share_of_writer(layout, checkpoint);
  return storage.latency + file_time(layout, checkpoint, storage) +
         std::max(share / (keeps * client_write_rate(storage)),
                  equal_clients_time(writers, share, client_write_rate(storage),
                                     storage.write_bandwidth));
}

Seconds persist_time(const ShardLayout& layout,
                     const CheckpointSpec& checkpoint,
                     const StorageSpec& storage) {
  return persist_time_slow_node(layout, checkpoint, storage, 1);
}

NearTimes near_times(const ShardLayout& layout,
                     const CheckpointSpec& checkpoint,
                     const CheckpointLevelSpec& level,
                     BytesPerSecond host_bandwidth,
                     BytesPerSecond node_network,
                     bool snapshots) {
  const Seconds snapshot = snapshot_time(layout, checkpoint, host_bandwidth);
  NearTimes times;
  times.stall = level.stall.value_or(snapshots ? checkpoint.fixed_cost + snapshot : Seconds(0));
  if (level.place == NearPlace::host) {
    times.persist = level.persist.value_or(Seconds(0));
    times.load = level.load.value_or(snapshot);
    return times;
  }
  const BytesPerSecond write = level.write_bandwidth.value_or(node_network);
  const BytesPerSecond read = level.read_bandwidth.value_or(write);
  const Bytes share = written_per_node(layout, checkpoint);
  times.persist = level.persist.value_or(share / write);
  times.load = level.load.value_or(share / read + snapshot);
  return times;
}

Bytes near_capacity(const ShardLayout& layout,
                    const CheckpointSpec& checkpoint,
                    const CheckpointLevelSpec& level) {
  const double copies = level.place == NearPlace::peer ? 2 : 1;
  return copies * (1.0 + level.keep) * written_per_node(layout, checkpoint);
}

Seconds peer_load_time(const ShardLayout& layout,
                       const CheckpointSpec& checkpoint,
                       BytesPerSecond node_network) {
  return read_per_node(layout, checkpoint) / node_network;
}

FeedTimes feed_times(const DataSpec& input,
                     const StorageSpec& storage,
                     std::int64_t nodes,
                     double tokens_per_s,
                     double tokens,
                     double busiest) {
  const double n = static_cast<double>(nodes) / busiest;  // that read as much as the busiest
  const BytesPerSecond wanted(tokens_per_s * input.bytes_per_token.si());
  const BytesPerSecond served = std::min(storage.read_bandwidth, n * client_read_rate(storage));
  FeedTimes times;
  times.first_pass = std::max(1.0, wanted / served);
  times.later = times.first_pass;
  times.mean = times.first_pass;
  times.first_share = 0;  // without a data set all passes are alike
  if (input.dataset.si() <= 0) {
    return times;
  }
  times.cached = std::min(1.0, n * input.node_cache / input.dataset);
  times.later = std::max(1.0, (1 - times.cached) * wanted / served);
  const double passes = tokens * input.bytes_per_token.si() / input.dataset.si();
  times.first_share = passes > 0 ? std::min(1.0, 1 / passes) : 0;
  times.mean = mean_of_passes(times, times.first_pass, times.later);
  times.restaging = input.dataset / input.staging_bandwidth;
  if (input.stage_at_start) {
    times.staging = static_cast<double>(input.islands - 1) * times.restaging;
  }
  times.refill = storage.latency + std::min(input.node_cache, input.dataset / n) /
                                       std::min(storage.read_bandwidth, client_read_rate(storage));
  return times;
}

double mean_of_passes(const FeedTimes& times, double first_pass, double later) {
  return times.first_share * first_pass + (1 - times.first_share) * later;
}

Seconds load_time(const ShardLayout& layout,
                  const CheckpointSpec& checkpoint,
                  const StorageSpec& storage) {
  return storage.latency + file_time(layout, checkpoint, storage) +
         equal_clients_time(node_count(layout), read_per_node(layout, checkpoint),
                            client_read_rate(storage), storage.read_bandwidth);
}

CheckpointTimes checkpoint_times(const ShardLayout& layout,
                                 const CheckpointSpec& checkpoint,
                                 const StorageSpec& storage,
                                 BytesPerSecond host_bandwidth) {
  const Seconds snapshot = snapshot_stall(layout, checkpoint, host_bandwidth);
  const Seconds persist = checkpoint.persist.value_or(persist_time(layout, checkpoint, storage));
  CheckpointTimes times;
  times.load = checkpoint.load.value_or(load_time(layout, checkpoint, storage));
  if (checkpoint.mode == CheckpointMode::synchronous) {
    times.stall = checkpoint.stall.value_or(snapshot + persist);
  } else {
    times.stall = checkpoint.stall.value_or(snapshot);
    times.persist = persist;
  }
  return times;
}

Bytes needed_capacity(double parameters, const CheckpointSpec& checkpoint) {
  return (1.0 + checkpoint.keep) * checkpoint_bytes(parameters, checkpoint);
}

std::vector<Transfer> save_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage) {
  std::vector<Transfer> transfers;
  const std::int64_t writers = writing_nodes(layout, checkpoint);
  const Bytes share =
      checkpoint_bytes(layout.parameters, checkpoint) / static_cast<double>(writers);
  for (std::int64_t node = 0; node < writers; ++node) {
    transfers.push_back({Place::host, node, Place::storage, 0, share, client_write_rate(storage)});
  }
  return transfers;
}

std::vector<Transfer> peer_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const CheckpointLevelSpec& level,
                                     BytesPerSecond node_network) {
  const std::int64_t nodes = node_count(layout);
  const Bytes share = written_per_node(layout, checkpoint);
  const BytesPerSecond bound = level.write_bandwidth.value_or(node_network);
  std::vector<Transfer> transfers;
  for (std::int64_t node = 0; node < nodes; ++node) {
    transfers.push_back({Place::host, node, Place::host, (node + 1) % nodes, share, bound});
  }
  return transfers;
}

std::vector<Transfer> feed_transfers(std::int64_t nodes,
                                     Bytes step_bytes,
                                     const StorageSpec& storage,
                                     const std::vector<double>& shares) {
  std::vector<Transfer> transfers;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const Bytes bytes = shares.empty() ? step_bytes / static_cast<double>(nodes)
                                       : shares[static_cast<std::size_t>(node)] * step_bytes;
    transfers.push_back({Place::storage, 0, Place::host, node, bytes, client_read_rate(storage)});
  }
  return transfers;
}

std::vector<Transfer> load_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage) {
  std::vector<Transfer> transfers;
  const Bytes share = read_per_node(layout, checkpoint);
  for (std::int64_t node = 0; node < node_count(layout); ++node) {
    transfers.push_back({Place::storage, 0, Place::host, node, share, client_read_rate(storage)});
  }
  return transfers;
}

}  // namespace headway::storage

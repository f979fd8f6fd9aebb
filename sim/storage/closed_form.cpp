#include "sim/storage/closed_form.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::storage {

using core::Bytes;
using core::BytesPerSecond;
using core::Seconds;

namespace {

constexpr double kWeightBytes = 2;  // one bf16 or fp16 weight, as training holds it

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

Seconds fifo_wait(Seconds service, double load) {
  HEADWAY_CHECK(load >= 0 && load < 1, "load {} has no steady state", load);
  return load * service / (2 * (1 - load));
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

Seconds persist_time(const ShardLayout& layout,
                     const CheckpointSpec& checkpoint,
                     const StorageSpec& storage) {
  return storage.latency +
         equal_clients_time(node_count(layout), written_per_node(layout, checkpoint),
                            storage.client_write_bandwidth, storage.write_bandwidth);
}

Seconds load_time(const ShardLayout& layout,
                  const CheckpointSpec& checkpoint,
                  const StorageSpec& storage) {
  return storage.latency + equal_clients_time(node_count(layout), read_per_node(layout, checkpoint),
                                              storage.client_read_bandwidth,
                                              storage.read_bandwidth);
}

CheckpointTimes checkpoint_times(const ShardLayout& layout,
                                 const CheckpointSpec& checkpoint,
                                 const StorageSpec& storage,
                                 BytesPerSecond host_bandwidth) {
  const Seconds snapshot = snapshot_time(layout, checkpoint, host_bandwidth);
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
  const Bytes share = written_per_node(layout, checkpoint);
  for (std::int64_t node = 0; node < node_count(layout); ++node) {
    transfers.push_back(
        {Place::host, node, Place::storage, 0, share, storage.client_write_bandwidth});
  }
  return transfers;
}

std::vector<Transfer> load_transfers(const ShardLayout& layout,
                                     const CheckpointSpec& checkpoint,
                                     const StorageSpec& storage) {
  std::vector<Transfer> transfers;
  const Bytes share = read_per_node(layout, checkpoint);
  for (std::int64_t node = 0; node < node_count(layout); ++node) {
    transfers.push_back(
        {Place::storage, 0, Place::host, node, share, storage.client_read_bandwidth});
  }
  return transfers;
}

}  // namespace headway::storage

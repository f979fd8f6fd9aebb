// Save and load times against hand algebra.
#include "sim/storage/closed_form.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::storage {
namespace {

using namespace core::literals;
using core::Bytes;
using core::BytesPerSecond;
using core::Seconds;

// 1,000 GPUs on 125 nodes, 100e9 parameters x 14 B = 1.4 TB.
ShardLayout layout() {
  return {.parameters = 100e9, .gpus = 1000, .gpus_per_node = 8, .replicas = 10};
}

StorageSpec storage() {
  StorageSpec spec;
  spec.write_bandwidth = 100_GBps;
  spec.read_bandwidth = 200_GBps;
  spec.client_write_bandwidth = 5_GBps;
  spec.client_read_bandwidth = 4_GBps;
  spec.latency = Seconds(0.5);
  return spec;
}

TEST(EqualClients, AreBoundByThemselvesWhenFewAndByTheServerWhenMany) {
  // O7: max(S/b, nS/B), the two meet at n = B/b = 20.
  EXPECT_DOUBLE_EQ(equal_clients_time(1, 10_GB, 5_GBps, 100_GBps).si(), 2);
  EXPECT_DOUBLE_EQ(equal_clients_time(20, 10_GB, 5_GBps, 100_GBps).si(), 2);
  EXPECT_DOUBLE_EQ(equal_clients_time(40, 10_GB, 5_GBps, 100_GBps).si(), 4);
  EXPECT_DOUBLE_EQ(equal_clients_time(0, 10_GB, 5_GBps, 100_GBps).si(), 0);
}

TEST(EqualClients, OfAnNfsMountAreBoundByItsSlots) {
  // 128 requests of 1 MiB in flight, each answered in 10 ms: 128 x 2^20 / 0.01 B/s.
  EXPECT_DOUBLE_EQ(slot_limit(128, 1_MiB, Seconds(0.01)).si(), 128 * 1048576 / 0.01);
}

TEST(OpenServer, SharingStretchesAndQueueingDelays) {
  EXPECT_DOUBLE_EQ(processor_sharing_sojourn(1_s, 0.6).si(), 2.5);
  EXPECT_DOUBLE_EQ(fifo_wait(1_s, 0.6).si(), 0.75);
  EXPECT_THROW(fifo_wait(1_s, 1), core::InternalError);
}

TEST(Checkpoint, HasTheBytesOfItsParameters) {
  CheckpointSpec spec;
  EXPECT_DOUBLE_EQ(checkpoint_bytes(405e9, spec).si(), 5.67e12);
  spec.keep = 3;
  EXPECT_DOUBLE_EQ(needed_capacity(405e9, spec).si(), 4 * 5.67e12);
}

TEST(Checkpoint, SavesInTheTimeOfSnapshotAndPersist) {
  // Snapshot 1.4 TB / 1000 / 25 GB/s = 56 ms. Persist: 125 x 5 GB/s > 100 GB/s, so 14 s + 0.5 s.
  CheckpointSpec spec;
  spec.mode = CheckpointMode::asynchronous;
  auto times = checkpoint_times(layout(), spec, storage(), 25_GBps);
  EXPECT_DOUBLE_EQ(times.stall.si(), 0.056);
  EXPECT_DOUBLE_EQ(times.persist.si(), 14.5);
  spec.mode = CheckpointMode::synchronous;
  times = checkpoint_times(layout(), spec, storage(), 25_GBps);
  EXPECT_DOUBLE_EQ(times.stall.si(), 14.556);
  EXPECT_DOUBLE_EQ(times.persist.si(), 0);
}

TEST(Checkpoint, IsWrittenNoFasterThanItsClients) {
  StorageSpec fast = storage();
  fast.write_bandwidth = BytesPerSecond(7e12);
  // 1.4 TB / 125 nodes = 11.2 GB at 5 GB/s.
  EXPECT_DOUBLE_EQ(persist_time(layout(), {}, fast).si(), 0.5 + 2.24);
}

TEST(Checkpoint, IsReadAgainByEveryReplica) {
  // 100 GPUs a replica. Each GPU reads 200 GB / 100 weights and 1.2 TB / 100 state: 14 GB, a node
  // 112 GB. All: 125 x 112 GB = 14 TB = 10 checkpoints; 14 TB / 200 GB/s = 70 s > 112 GB / 4 GB/s =
  // 28 s.
  EXPECT_DOUBLE_EQ(read_per_node(layout(), {}).si(), 112e9);
  EXPECT_DOUBLE_EQ(load_time(layout(), {}, storage()).si(), 70.5);
  // Sharded state is read once: each GPU 2 GB + 1.2 GB, a node 25.6 GB, all 3.2 TB.
  ShardLayout sharded = layout();
  sharded.optimizer_sharded = true;
  EXPECT_DOUBLE_EQ(read_per_node(sharded, {}).si(), 25.6e9);
  EXPECT_DOUBLE_EQ(load_time(sharded, {}, storage()).si(), 16.5);
}

TEST(Checkpoint, TakesMeasuredTimesBeforeComputedOnes) {
  CheckpointSpec spec;
  spec.stall = Seconds(0.59);
  spec.persist = Seconds(51);
  spec.load = Seconds(129);
  const auto times = checkpoint_times(layout(), spec, storage(), 25_GBps);
  EXPECT_EQ(times.stall, Seconds(0.59));
  EXPECT_EQ(times.persist, Seconds(51));
  EXPECT_EQ(times.load, Seconds(129));
}

TEST(Transfers, MoveTheWholeCheckpointOnceAndTheLoadAsOftenAsItIsRead) {
  Bytes written;
  for (const auto& transfer : save_transfers(layout(), {}, storage())) {
    written += transfer.bytes;
    EXPECT_EQ(transfer.to, Place::storage);
    EXPECT_EQ(transfer.bound, 5_GBps);
  }
  EXPECT_NEAR(written.si(), 1.4e12, 1);
  Bytes read;
  for (const auto& transfer : load_transfers(layout(), {}, storage())) {
    read += transfer.bytes;
  }
  EXPECT_NEAR(read.si(), 14e12, 10);
}

}  // namespace
}  // namespace headway::storage

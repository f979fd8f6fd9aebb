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

TEST(OpenServer, StretchesRequestsByItsLoad) {
  EXPECT_DOUBLE_EQ(processor_sharing_sojourn(1_s, 0.6).si(), 2.5);
  EXPECT_THROW(processor_sharing_sojourn(1_s, 1), core::InternalError);
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
  // Both stand for the fixed cost of a save, 1 s unless given.
  EXPECT_DOUBLE_EQ(times.stall.si(), 1.056);
  EXPECT_DOUBLE_EQ(times.persist.si(), 14.5);
  spec.mode = CheckpointMode::synchronous;
  times = checkpoint_times(layout(), spec, storage(), 25_GBps);
  EXPECT_DOUBLE_EQ(times.stall.si(), 15.556);
  EXPECT_DOUBLE_EQ(times.persist.si(), 0);
  spec.fixed_cost = Seconds(30);
  EXPECT_DOUBLE_EQ(checkpoint_times(layout(), spec, storage(), 25_GBps).stall.si(), 44.556);
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

// 100 nodes of 8 GPUs, 4 replicas; 100e9 parameters of 14 bytes: 1.4 TB, 14 GB a node.
ShardLayout hundred_nodes() {
  return {.parameters = 100e9,
          .gpus = 800,
          .gpus_per_node = 8,
          .replicas = 4,
          .optimizer_sharded = true};
}

StorageSpec plain_store() {
  StorageSpec spec;
  spec.write_bandwidth = BytesPerSecond(1e12);
  spec.read_bandwidth = BytesPerSecond(1e12);
  spec.client_write_bandwidth = BytesPerSecond(7e9);
  spec.client_read_bandwidth = BytesPerSecond(7e9);
  spec.latency = Seconds(0);
  return spec;
}

TEST(Writers, OfOneReplicaHaveMoreToWriteEach) {
  CheckpointSpec checkpoint;
  EXPECT_DOUBLE_EQ(persist_time(hundred_nodes(), checkpoint, plain_store()).si(),
                   2);  // 14 GB at 7 GB/s
  checkpoint.writers = Writers::one_replica;
  EXPECT_EQ(writing_nodes(hundred_nodes(), checkpoint), 25);
  EXPECT_DOUBLE_EQ(persist_time(hundred_nodes(), checkpoint, plain_store()).si(), 8);  // 56 GB each
  EXPECT_EQ(save_transfers(hundred_nodes(), checkpoint, plain_store()).size(), 25U);
}

// 1.4 TB from 800 GPUs, or from the 200 of one replica, at 50 GB/s each; 1 s is the fixed cost.
TEST(Writers, OfOneReplicaAloneCopyToTheirHosts) {
  CheckpointSpec checkpoint;
  const BytesPerSecond host(50e9);
  EXPECT_DOUBLE_EQ(snapshot_stall(hundred_nodes(), checkpoint, host).si(), 1 + 1.4e12 / 800 / 50e9);
  EXPECT_DOUBLE_EQ(share_of_writer(hundred_nodes(), checkpoint).si(), 14e9);
  checkpoint.writers = Writers::one_replica;
  EXPECT_EQ(writing_gpus(hundred_nodes(), checkpoint), 200);
  EXPECT_DOUBLE_EQ(snapshot_stall(hundred_nodes(), checkpoint, host).si(), 1 + 1.4e12 / 200 / 50e9);
  EXPECT_DOUBLE_EQ(share_of_writer(hundred_nodes(), checkpoint).si(), 56e9);
}

TEST(Writers, WaitForTheirFiles) {
  CheckpointSpec checkpoint;
  checkpoint.files_per_writer = 5;
  StorageSpec store = plain_store();
  store.files_per_second = 1000;
  EXPECT_DOUBLE_EQ(persist_time(hundred_nodes(), checkpoint, store).si(), 2 + 4);  // 800 x 5 files
}

TEST(Writers, AreBoundByTheirRequestSlots) {
  StorageSpec store = plain_store();
  store.client_slots = ClientSlotsSpec{128, Bytes(1e6), Seconds(0.064)};  // 2 GB/s
  EXPECT_DOUBLE_EQ(persist_time(hundred_nodes(), {}, store).si(), 7);
}

TEST(SlowNode, TripsTheWatchdogOfASynchronousSaveBelowAKnownRate) {
  // 405B at 14 bytes on 512 nodes: 11.07 GB a node, 600 s at 18.46 MB/s.
  const ShardLayout layout{.parameters = 405e9, .gpus = 4096, .gpus_per_node = 8, .replicas = 32};
  StorageSpec store = plain_store();
  const double threshold = 405e9 * 14 / 512 / 600;
  EXPECT_NEAR(threshold / 1e6, 18.46, 0.005);
  const double keeps = threshold / store.client_write_bandwidth.si();
  EXPECT_NEAR(persist_time_slow_node(layout, {}, store, keeps).si(), 600, 1e-6);
  EXPECT_LT(persist_time_slow_node(layout, {}, store, 1.01 * keeps).si(), 600);
  EXPECT_DOUBLE_EQ(persist_time_slow_node(layout, {}, store, 1).si(),
                   persist_time(layout, {}, store).si());
}

TEST(NearLevel, TakesTheSnapshotOrSharesIt) {
  const CheckpointSpec checkpoint;
  CheckpointLevelSpec level;
  const BytesPerSecond host(50e9);
  const BytesPerSecond network(400e9);
  // 1.75 GB a GPU at 50 GB/s.
  const NearTimes memory = near_times(hundred_nodes(), checkpoint, level, host, network, true);
  EXPECT_DOUBLE_EQ(memory.stall.si(), 1.035);
  EXPECT_DOUBLE_EQ(memory.load.si(), 0.035);  // what is read has no plan
  EXPECT_DOUBLE_EQ(memory.persist.si(), 0);
  level.place = NearPlace::nvme;
  level.write_bandwidth = BytesPerSecond(7e9);
  level.read_bandwidth = BytesPerSecond(14e9);
  const NearTimes drives = near_times(hundred_nodes(), checkpoint, level, host, network, false);
  EXPECT_DOUBLE_EQ(drives.stall.si(), 0);
  EXPECT_DOUBLE_EQ(drives.persist.si(), 2);
  EXPECT_DOUBLE_EQ(drives.load.si(), 1 + 0.035);
  level = {};
  level.place = NearPlace::peer;
  level.keep = 2;
  EXPECT_DOUBLE_EQ(
      near_times(hundred_nodes(), checkpoint, level, host, network, false).persist.si(), 0.035);
  // Own and a peer's, two kept and one being written: 6 x 14 GB.
  EXPECT_DOUBLE_EQ(near_capacity(hundred_nodes(), checkpoint, level).si(), 84e9);
}

TEST(Input, StarvesAJobUntilItsCachesAreWarm) {
  DataSpec input;
  input.bytes_per_token = Bytes(1e6);
  StorageSpec store = plain_store();
  // 1.4e6 tokens/s want 1.4 TB/s; 100 clients read 0.7 TB/s.
  FeedTimes feed = feed_times(input, store, 100, 1.4e6, 0);
  EXPECT_DOUBLE_EQ(feed.mean, 2);
  input.dataset = Bytes(100e12);
  input.node_cache = Bytes(0.75e12);
  input.islands = 3;
  input.staging_bandwidth = BytesPerSecond(50e9);
  // Three quarters of later reads are cached: 0.35 TB/s are wanted. Four passes, one of them cold.
  feed = feed_times(input, store, 100, 1.4e6, 400e6);
  EXPECT_DOUBLE_EQ(feed.cached, 0.75);
  EXPECT_DOUBLE_EQ(feed.first_pass, 2);
  EXPECT_DOUBLE_EQ(feed.later, 1);
  EXPECT_DOUBLE_EQ(feed.mean, 1.25);
  EXPECT_DOUBLE_EQ(feed.staging.si(), 2 * 100e12 / 50e9);
  EXPECT_DOUBLE_EQ(feed.restaging.si(), 100e12 / 50e9);
  // A spare reads the 0.75 TB that its drives hold.
  EXPECT_DOUBLE_EQ(feed.refill.si(), store.latency.si() + 0.75e12 / client_read_rate(store).si());
  // Drives that could hold more than the node's part of the data set hold that part: 1 TB.
  input.node_cache = Bytes(5e12);
  EXPECT_DOUBLE_EQ(feed_times(input, store, 100, 1.4e6, 400e6).refill.si(),
                   store.latency.si() + 1e12 / client_read_rate(store).si());
}

// One node reads four times the mean: as 25 nodes that read alike, which hold a quarter as much.
TEST(Input, WaitsForTheNodeThatReadsMost) {
  DataSpec input;
  input.bytes_per_token = Bytes(1e6);
  const StorageSpec store = plain_store();
  EXPECT_DOUBLE_EQ(feed_times(input, store, 100, 1.4e6, 0, 4).mean, 8);
  input.dataset = Bytes(100e12);
  input.node_cache = Bytes(1e12);
  EXPECT_DOUBLE_EQ(feed_times(input, store, 100, 1.4e6, 400e6, 4).cached, 0.25);
  EXPECT_DOUBLE_EQ(feed_times(input, store, 100, 1.4e6, 400e6).cached, 1);
  const auto reads = feed_transfers(3, Bytes(12), store, {0.5, 0, 0.5});
  ASSERT_EQ(reads.size(), 3U);
  EXPECT_EQ(reads[0].bytes, Bytes(6));
  EXPECT_EQ(reads[1].bytes, Bytes(0));
  EXPECT_EQ(feed_transfers(3, Bytes(12), store)[1].bytes, Bytes(4));
}

}  // namespace
}  // namespace headway::storage

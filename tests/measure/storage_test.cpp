#include "calibrate/measure/host/storage.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headway::measure {
namespace {

namespace fs = std::filesystem;

class StorageTest : public testing::Test {
 protected:
  StorageTest() { fs::create_directories(folder_); }
  ~StorageTest() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::path(testing::TempDir()) / ("headway-storage-" + std::to_string(getpid()));
};

TEST_F(StorageTest, WritesReadsBackAndRemoves) {
  const auto begin = std::chrono::steady_clock::now();
  const StorageTimes times = time_storage({folder_.string(), 3, 1 << 20, 1 << 18});
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(times.right);
  // Three phases, one after the other, each of some time: in seconds, and parts of the whole.
  EXPECT_GT(times.write_s, 0);
  EXPECT_GT(times.sync_s, 0);
  EXPECT_GT(times.read_s, 0);
  EXPECT_LE(times.write_s + times.sync_s + times.read_s, all.count());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(StorageTest, NamesTheFolderThatIsNotThere) {
  try {
    time_storage({(folder_ / "nowhere").string(), 1, 1 << 18, 1 << 18});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos);
  }
}

TEST_F(StorageTest, ThePartMeasuresEachNumberOfStreams) {
  BenchOptions options;
  options.tiny = true;
  options.quiet = true;
  options.out = (folder_ / "node.yaml").string();
  Bench bench(options);
  measure_storage(bench);
  int writes = 0, reads = 0, syncs = 0, entries = 0;
  for (const fit::Sample& sample : bench.measured.samples) {
    EXPECT_GT(sample.seconds, 0) << sample.op;
    EXPECT_FALSE(sample.has(fit::SampleFlag::wrong));
    writes += sample.op == "write" ? 1 : 0;
    reads += sample.op == "read" ? 1 : 0;
    syncs += sample.op == "sync" ? 1 : 0;
    entries += sample.op == "metadata" ? 1 : 0;
  }
  EXPECT_EQ(writes, 3);  // 1, 4 and 16 streams
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(syncs, 3);
  EXPECT_EQ(entries, 1);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(StorageTest, AMissingFolderIsLeftOutByName) {
  BenchOptions options;
  options.tiny = true;
  options.quiet = true;
  options.storage_paths = {"/no/such/folder"};
  Bench bench(options);
  measure_storage(bench);
  EXPECT_TRUE(bench.measured.samples.empty());
  EXPECT_NE(bench.measured.fact("not measured, storage /no/such/folder"), "");
}

}  // namespace
}  // namespace headway::measure

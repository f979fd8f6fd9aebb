// Storage by direct I/O: what a checkpoint writes and a restart reads, with the page cache out of
// the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/measure/host/bench.h"

namespace headway::measure {

/// One run of `streams` files written or read at the same time.
struct StorageRun {
  std::string folder;
  int streams = 1;
  std::uint64_t bytes_per_stream = 0;
  std::uint64_t block = std::uint64_t{16} << 20;  ///< of one write or read call; a multiple of 4096
};

/// Seconds of each phase, over all streams, and whether what was read is what was written.
struct StorageTimes {
  double write_s = 0;  ///< until the last write call returns
  double sync_s = 0;   ///< fsync of every file after that: when it ends the bytes are durable
  double read_s = 0;
  bool direct =
      true;  ///< false: the file system refuses O_DIRECT, so the page cache may have helped
  bool right = true;
};

/// Writes, syncs, reads back and removes the files of `run`.
/// @throws std::runtime_error naming the file and the system's reason
StorageTimes time_storage(const StorageRun& run);

/// Seconds to create, write one block, sync, rename and remove a small file: the cost of a
/// checkpoint's bookkeeping.
double time_metadata(const std::string& folder);

/// Measures the folders of the options (the folder of the profile by default).
void measure_storage(Bench& bench);

}  // namespace headway::measure

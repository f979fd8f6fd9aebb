// The folder that keeps a sweep: what it is made from, and the shards that are done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/study/points/sweep.h"

#include "apps/headway/options.h"
#include "apps/headway/sweep/shard_folder.h"

namespace headway::apps {

class SweepFolder {
 public:
  /// A folder for this sweep, made if it is not there; one that has the same sweep goes on.
  /// @param shards  0: as many as a sweep in one process needs to lose little when it is stopped
  /// @throws core::Error if it holds another sweep, or other files
  SweepFolder(std::filesystem::path folder, const study::Sweep& sweep, std::int64_t shards);

  /// The sweep that a folder holds.
  /// @throws core::Error if it holds none, or this installation reads its scenario otherwise
  static study::Sweep open(const std::filesystem::path& folder);

  [[nodiscard]] const ShardFolder& folder() const { return folder_; }
  [[nodiscard]] std::int64_t shards() const { return folder_.shards(); }
  /// Numbers from 1 of the shards that are not done.
  [[nodiscard]] std::vector<std::int64_t> missing() const { return folder_.missing(); }
  /// Simulates these shards and writes each when its last point is done.
  void complete(const std::vector<std::int64_t>& shards, const CommonOptions& options) const;
  /// Rows of all shards that are done, in the order of the points.
  /// @throws core::Error if a shard cannot be read
  [[nodiscard]] std::vector<study::SweepRow> rows() const;

 private:
  const study::Sweep& sweep_;
  ShardFolder folder_;
};

/// Simulates points and says how far it is and which was best.
/// @param done  told every row, by one thread at a time; may be empty
std::vector<study::SweepRow> simulate_points(
    const study::Sweep& sweep,
    const std::vector<std::size_t>& points,
    const CommonOptions& options,
    const std::function<void(const study::SweepRow& row)>& done = {});

/// Prints a sweep in the form that --format names.
/// @returns the exit code
int deliver_sweep(const CommonOptions& options, const study::SweepReport& report);

}  // namespace headway::apps

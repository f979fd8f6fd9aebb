// The folder that keeps a question of which several processes answer a part each, and the options
// that ask for it: --keep, --shards, --emit, --engine, --scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/points/work.h"

#include "apps/headway/options.h"
#include "apps/headway/sweep/shard_folder.h"

namespace headway::apps {

struct KeepOptions {
  std::string keep;  ///< empty: all in this process
  std::string emit, engine, scheduler;
  std::int64_t shards = 0;
};

/// A question about a scenario file.
report::WorkRequest work_request(report::WorkKind kind,
                                 const std::string& scenario,
                                 const CommonOptions& common);

/// @param kept    what --keep says it keeps
/// @param listed  the help of the verb has the others; else `headway sweep --help` does
void add_keep_options(CLI::App& app,
                      KeepOptions& options,
                      const std::string& kept,
                      bool listed = true);

/// Whether a folder is to keep what is worked out.
/// @throws core::Error if an option lacks another that it needs
bool keeps(const KeepOptions& options);

/// Writes the job file that --emit names, and says how the shards of a folder are run and what
/// follows.
void tell_of_shards(const KeepOptions& options,
                    std::int64_t shards,
                    const std::string& what,
                    const std::string& then);

/// Answers in parts, kept in a folder.
class WorkFolder {
 public:
  /// Made, or found with the same question.
  WorkFolder(report::WorkRequest request, const KeepOptions& options);
  /// The one that a folder keeps.
  /// @throws core::Error if it keeps none, or this installation reads its scenario otherwise
  explicit WorkFolder(const std::string& folder);

  /// Whether a folder keeps one.
  static bool is_one(const std::string& folder);
  /// What it keeps and how that is finished, for those who look for a sweep in it.
  static std::string no_sweep(const std::string& folder);

  [[nodiscard]] const ShardFolder& shards() const { return folder_; }
  /// Works these shards out and writes each when it is done.
  void complete(const std::vector<std::int64_t>& shards, const CommonOptions& options);

  /// Has all parts worked out as the options say.
  /// @returns the exit code, if that is all that is asked for, or if some are missing
  std::optional<int> complete(const KeepOptions& options,
                              const CommonOptions& common,
                              const std::string& then);

  /// What all shards say.
  [[nodiscard]] campaign::KnownTrials trials() const;
  [[nodiscard]] std::vector<study::MachineAnswer> machines() const;

 private:
  WorkFolder(const std::string& folder, const report::WorkManifest& manifest);
  [[nodiscard]] std::string text(std::int64_t shard) const;

  std::unique_ptr<report::Work> work_;
  ShardFolder folder_;
};

}  // namespace headway::apps

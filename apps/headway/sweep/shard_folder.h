// A folder that keeps what is worked out in shards: one file says what it is, and each shard that
// is done is a file that is whole or not there; it may be written twice, by whom and where does not
// matter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/headway/options.h"

namespace headway::apps {

/// What a folder is to hold.
struct ShardedText {
  const char* what = "sweep";         ///< in words
  const char* manifest = "";          ///< name of the file that says what it is made from
  std::string digest;                 ///< equal digests have equal shards
  std::int64_t asked = 0, usual = 1;  ///< shards; 0: as many as usual
  /// Text of that file, with so many shards.
  std::function<std::string(std::int64_t shards)> text;
  /// Digest and shards of such a text.
  std::function<std::pair<std::string, std::int64_t>(const std::string& text,
                                                     const std::string& name)>
      read;
};

class ShardFolder {
 public:
  /// Made if it is not there; one that has the same goes on.
  /// @throws core::Error if it holds something else
  ShardFolder(std::filesystem::path folder, const ShardedText& sharded);

  [[nodiscard]] std::int64_t shards() const { return shards_; }
  /// Numbers from 1 of the shards that are not done.
  [[nodiscard]] std::vector<std::int64_t> missing() const;
  [[nodiscard]] std::filesystem::path file(std::int64_t shard) const;
  /// Writes a shard under another name first.
  void write(std::int64_t shard, const std::string& text) const;

 private:
  std::filesystem::path folder_;
  std::string digest_;
  std::int64_t shards_ = 1;
};

/// "7/64" as a number from 1 to the second, which must be the number of shards.
std::int64_t shard_of(const std::string& text, std::int64_t shards);

}  // namespace headway::apps

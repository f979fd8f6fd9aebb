#include "apps/headway/sweep/shard_folder.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "sim/core/read_file.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/report/points/sweep_report.h"

#include "apps/headway/output.h"

namespace headway::apps {

namespace {

namespace fs = std::filesystem;

void write_whole(const fs::path& path, const std::string& text) {
  CommonOptions silent;
  silent.out = path.string();
  silent.force = true;
  silent.quiet = true;
  deliver(silent, text);
}

}  // namespace

ShardFolder::ShardFolder(fs::path folder, const ShardedText& sharded)
    : folder_(std::move(folder)), digest_(sharded.digest) {
  const fs::path manifest = folder_ / sharded.manifest;
  if (fs::exists(manifest)) {
    const auto [digest, shards] =
        sharded.read(core::read_file(manifest, core::kLargestMeasurement), manifest.string());
    if (digest != digest_) {
      throw core::Error(fmt::format(
          "{} holds another {} ({}, this is {}); name another folder, or remove that one",
          folder_.string(), sharded.what, digest, digest_));
    }
    if (sharded.asked != 0 && sharded.asked != shards) {
      throw core::Error(
          fmt::format("{} is cut into {} shards, not {}; leave --shards out, or "
                      "name another folder",
                      folder_.string(), shards, sharded.asked));
    }
    shards_ = shards;
    return;
  }
  std::error_code failed;
  const bool other = fs::exists(folder_) && !fs::is_empty(folder_, failed);
  if (other || failed) {
    throw core::Error(fmt::format("{} is there and holds no {}; name a new or an empty folder",
                                  folder_.string(), sharded.what));
  }
  fs::create_directories(folder_);
  shards_ = sharded.asked == 0 ? sharded.usual : sharded.asked;
  write_whole(manifest, sharded.text(shards_));
}

fs::path ShardFolder::file(std::int64_t shard) const {
  return folder_ / report::shard_file_name(digest_, shard, shards_);
}

std::vector<std::int64_t> ShardFolder::missing() const {
  std::vector<std::int64_t> shards;
  for (std::int64_t shard = 1; shard <= shards_; ++shard) {
    if (!fs::exists(file(shard))) {
      shards.push_back(shard);
    }
  }
  return shards;
}

void ShardFolder::write(std::int64_t shard, const std::string& text) const {
  write_whole(file(shard), text);
}

std::int64_t shard_of(const std::string& text, std::int64_t shards) {
  const std::string_view words = text;
  const std::size_t slash = std::min(words.find('/'), words.size());
  const auto shard = core::whole_text_as<std::int64_t>(words.substr(0, slash));
  const auto of = slash < words.size() ? core::whole_text_as<std::int64_t>(words.substr(slash + 1))
                                       : std::nullopt;
  if (!shard || of != shards || *shard < 1 || *shard > shards) {
    throw core::Error(
        fmt::format("argument --shard {}: the sweep has {} shards; write 1/{} to "
                    "{}/{}",
                    core::shortened(text), shards, shards, shards, shards));
  }
  return *shard;
}

}  // namespace headway::apps

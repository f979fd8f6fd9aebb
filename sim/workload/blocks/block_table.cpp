#include "sim/workload/blocks/block_table.h"

#include <algorithm>
#include <bit>

namespace headway::workload {

namespace {

/// Equal for equal blocks, and nearly always different for others.
std::uint64_t fingerprint(const Block& block) {
  std::uint64_t hash = block.name.size();
  const auto mix = [&hash](std::uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 31U;
  };
  for (const Operation& o : block.operations) {
    mix(static_cast<std::uint64_t>(o.kind) << 32U | o.kernels.size());
    mix(std::bit_cast<std::uint64_t>(o.bytes.si()));
    mix(static_cast<std::uint64_t>(o.await.empty() ? o.ticket : o.await.front()));
  }
  return hash;
}

}  // namespace

int BlockTable::intern(Block block) {
  const std::uint64_t print = fingerprint(block);
  const auto end = fingerprints_.end();
  auto found = std::find(fingerprints_.begin(), end, print);
  for (; found != end; found = std::find(found + 1, end, print)) {
    const auto index = found - fingerprints_.begin();
    if (blocks_[static_cast<std::size_t>(index)] == block) {
      return static_cast<int>(index);
    }
  }
  fingerprints_.push_back(print);
  blocks_.push_back(std::move(block));
  return static_cast<int>(blocks_.size()) - 1;
}

}  // namespace headway::workload

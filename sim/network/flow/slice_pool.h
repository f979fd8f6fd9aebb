// Slices of one table for what comes and goes: room that is given back is used again, so that what
// is alive stays in cache and no new pages are asked for.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/network/flow/large_vector.h"

namespace headway::network {

/// Elements in slices, each with room for a power of two of them.
template <class T>
class SlicePool {
 public:
  /// @param most  elements for which addresses are set aside; pages come when they are used
  explicit SlicePool(std::size_t most) { table_.reserve(most); }

  /// The least order (room for 2^order elements) that holds `count` > 0 of them.
  [[nodiscard]] static unsigned order_for(std::uint32_t count) {
    return static_cast<unsigned>(std::bit_width(count - 1));
  }
  /// @returns the index of its first element; their values are what was left there
  std::uint32_t take(unsigned order) {
    std::vector<std::uint32_t>& free = free_[order];
    if (free.empty()) {
      const auto first = static_cast<std::uint32_t>(table_.size());
      table_.resize(table_.size() + (std::size_t{1} << order));
      return first;
    }
    const std::uint32_t first = free.back();
    free.pop_back();
    return first;
  }
  void give_back(std::uint32_t first, unsigned order) { free_[order].push_back(first); }

  [[nodiscard]] T& operator[](std::size_t index) { return table_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return table_[index]; }
  [[nodiscard]] const T* data() const { return table_.data(); }

 private:
  LargeVector<T> table_;
  std::array<std::vector<std::uint32_t>, 32> free_;  // by order
};

}  // namespace headway::network

// Typed indices: a rank can never be used where a link is meant.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace headway::core {

/// An index into a table of things of kind `Tag`. Default-constructed ids are invalid.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : index_(index) {}
  constexpr explicit Id(std::size_t index) : index_(static_cast<std::uint32_t>(index)) {}
  constexpr explicit Id(int index) : index_(static_cast<std::uint32_t>(index)) {}

  [[nodiscard]] constexpr std::uint32_t index() const { return index_; }
  [[nodiscard]] constexpr bool valid() const { return index_ != kInvalid; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kInvalid = 0xffffffffU;
  std::uint32_t index_ = kInvalid;
};

/// A global rank of the training job, 0 to world size - 1.
using Rank = Id<struct RankTag>;
/// A GPU of the cluster, numbered node by node.
using GpuId = Id<struct GpuTag>;
/// A server.
using NodeId = Id<struct NodeTag>;
/// One direction of a cable.
using LinkId = Id<struct LinkTag>;
/// One flow of bytes.
using FlowId = Id<struct FlowTag>;
/// A logical process of the event engine.
using ProcessId = Id<struct ProcessTag>;

}  // namespace headway::core

template <class Tag>
struct std::hash<headway::core::Id<Tag>> {
  std::size_t operator()(headway::core::Id<Tag> id) const noexcept { return id.index(); }
};

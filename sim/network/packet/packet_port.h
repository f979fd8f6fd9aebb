// The sending side of a cable: packets that wait, and what keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/tick.h"

namespace headway::network {

/// A packet that waits.
struct HeldPacket {
  std::uint64_t a = 0, b = 0;
  core::Tick ready = 0;  ///< when it may leave at the earliest
  std::int64_t bytes = 0;
};

/// First in, first out; keeps its memory.
class PacketQueue {
 public:
  [[nodiscard]] bool empty() const { return head_ == held_.size(); }
  [[nodiscard]] const HeldPacket& front() const { return held_[head_]; }
  void push(const HeldPacket& packet) {
    if (head_ > kMostStale && head_ * 2 > held_.size()) {
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    held_.push_back(packet);
  }
  void pop() {
    if (++head_ == held_.size()) {
      held_.clear();
      head_ = 0;
    }
  }
  /// All that wait, for messages about deadlocks.
  [[nodiscard]] std::vector<HeldPacket> all() const {
    return {held_.begin() + static_cast<std::ptrdiff_t>(head_), held_.end()};
  }

 private:
  static constexpr std::size_t kMostStale = 64;
  std::vector<HeldPacket> held_;
  std::size_t head_ = 0;
};

/// The sending side of a cable: one lane a traffic class, the first with what is the cable's.
struct OutPort {
  core::Tick free_at = 0;   ///< the cable
  std::int64_t credit = 0;  ///< bytes that the buffer behind the cable has room for
  bool stopped = false;     ///< by a pause
  bool told = false;        ///< the cable: a `free` event is on its way
  PacketQueue queue;
  std::int64_t queued = 0;  ///< bytes
  std::int64_t sent = 0;    ///< the cable: bytes, since the beginning
  std::int64_t turn = 0;    ///< bytes x per_byte that the class has had
};

}  // namespace headway::network

// What travels through the engine: events, and the total order in which they are handled.
#pragma once

#include <cstdint>
#include <limits>

#include "sim/core/ids.h"
#include "sim/core/tick.h"

namespace headway::core {

/// Later than every event.
inline constexpr Tick kEndOfTime = std::numeric_limits<Tick>::max();

/// Events of equal tick are handled in rising priority; 0 is first, 15 is last.
using Priority = std::uint8_t;
inline constexpr Priority kNormalPriority = 8;
inline constexpr Priority kLastPriority = 15;

/// What a process asks the engine to deliver. The meaning of `kind`, `a` and `b` is the model's
/// own.
struct Message {
  std::uint32_t kind = 0;
  Priority priority = kNormalPriority;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

/// The tie-break of one tick in one word, so that two compares order any two events:
/// priority (4 bits), then source process (24 bits), then the source's own sequence number (36
/// bits).
class EventOrder {
 public:
  static constexpr int kSequenceBits = 36;
  static constexpr int kProcessBits = 24;
  static constexpr std::uint64_t kMaxSequence = (std::uint64_t{1} << kSequenceBits) - 1;
  static constexpr std::uint64_t kMaxProcesses = std::uint64_t{1} << kProcessBits;

  constexpr EventOrder() = default;
  constexpr EventOrder(Priority priority, ProcessId source, std::uint64_t sequence)
      : word_((std::uint64_t{priority} << (kProcessBits + kSequenceBits)) |
              (std::uint64_t{source.index()} << kSequenceBits) | sequence) {}

  [[nodiscard]] constexpr Priority priority() const {
    return static_cast<Priority>(word_ >> (kProcessBits + kSequenceBits));
  }
  [[nodiscard]] constexpr ProcessId source() const {
    return ProcessId(static_cast<std::uint32_t>((word_ >> kSequenceBits) & (kMaxProcesses - 1)));
  }
  [[nodiscard]] constexpr std::uint64_t sequence() const { return word_ & kMaxSequence; }
  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }

 private:
  std::uint64_t word_ = 0;
};

/// A message on its way, or just arrived: what a process handles.
struct Event {
  Tick tick = 0;
  EventOrder order;
  ProcessId target;
  std::uint32_t kind = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  [[nodiscard]] constexpr ProcessId source() const { return order.source(); }
};

/// The total order: tick, priority, source process, the source's own sequence number.
/// No two events are equal, so the order in which queues are filled never shows.
constexpr bool earlier(const Event& x, const Event& y) {
  // One 128-bit compare: no branch on the tick, which random models would mispredict.
  __extension__ using Key = unsigned __int128;
  const Key kx = (Key{static_cast<std::uint64_t>(x.tick)} << 64) | x.order.word();
  const Key ky = (Key{static_cast<std::uint64_t>(y.tick)} << 64) | y.order.word();
  return kx < ky;
}

}  // namespace headway::core

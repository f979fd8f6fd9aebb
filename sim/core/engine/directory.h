// What all partitions of an engine read and none writes while events are handled: names, channels,
// places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/engine/process.h"

namespace headway::core {

/// Consecutive process ids: first to end - 1.
struct ProcessRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  [[nodiscard]] constexpr bool contains(ProcessId id) const {
    return id.index() - first < end - first;
  }
};

/// A declared way from some processes to others.
struct Channel {
  ProcessRange from;
  ProcessRange to;
  Tick minimum_latency = 1;

  [[nodiscard]] constexpr bool allows(ProcessId source, ProcessId target, Tick delay) const {
    return from.contains(source) && to.contains(target) && delay >= minimum_latency;
  }
};

/// Who is who and who may send to whom.
class Directory {
 public:
  /// @param names  sorted, each once: the position is the process id
  Directory(std::vector<ProcessName> names,
            std::vector<Channel> channels,
            std::vector<std::uint32_t> partition_of);

  [[nodiscard]] std::size_t processes() const { return names_.size(); }
  [[nodiscard]] std::span<const Channel> channels() const { return channels_; }
  [[nodiscard]] const ProcessName& name(ProcessId id) const { return names_[id.index()]; }
  [[nodiscard]] ProcessId find(const ProcessName& name) const;
  [[nodiscard]] std::uint32_t partition_of(ProcessId id) const { return partition_of_[id.index()]; }

  /// The channel, if it lets `source` send to `target` with that delay.
  /// @throws InternalError that says what is wrong, if not
  [[nodiscard]] const Channel& checked(ChannelId id,
                                       ProcessId source,
                                       ProcessId target,
                                       Tick delay) const {
    if (id.index() >= channels_.size() || !channels_[id.index()].allows(source, target, delay))
        [[unlikely]] {
      refuse(id, source, target, delay);
    }
    return channels_[id.index()];
  }

 private:
  [[noreturn]] void refuse(ChannelId id, ProcessId source, ProcessId target, Tick delay) const;

  std::vector<ProcessName> names_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> partition_of_;
};

}  // namespace headway::core

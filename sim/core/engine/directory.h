// What all partitions of an engine read and none writes while events are handled: names, channels,
// places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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

/// All processes of one kind: consecutive ids in order of position.
struct ProcessKind {
  std::string name;
  std::uint32_t first = 0;  ///< id of its first process
  std::uint32_t count = 0;
  std::vector<std::uint32_t> positions;  ///< rising; empty if they are 0 to count - 1
};

/// Who is who and who may send to whom.
class Directory {
 public:
  /// @param kinds  sorted by name, with consecutive ids from 0
  Directory(std::vector<ProcessKind> kinds,
            std::vector<Channel> channels,
            std::vector<std::uint32_t> partition_of);

  [[nodiscard]] std::size_t processes() const { return partition_of_.size(); }
  [[nodiscard]] std::span<const Channel> channels() const { return channels_; }
  [[nodiscard]] ProcessName name(ProcessId id) const;
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

  std::vector<ProcessKind> kinds_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> partition_of_;
};

}  // namespace headway::core

#include "sim/core/engine/directory.h"

#include <algorithm>
#include <iterator>

#include "sim/core/error.h"

namespace headway::core {

Directory::Directory(std::vector<ProcessKind> kinds,
                     std::vector<Channel> channels,
                     std::vector<std::uint32_t> partition_of)
    : kinds_(std::move(kinds)),
      channels_(std::move(channels)),
      partition_of_(std::move(partition_of)) {}

ProcessName Directory::name(ProcessId id) const {
  const auto after = std::upper_bound(
      kinds_.begin(), kinds_.end(), id.index(),
      [](std::uint32_t index, const ProcessKind& kind) { return index < kind.first; });
  const ProcessKind& kind = *std::prev(after);
  const std::uint32_t place = id.index() - kind.first;
  return {kind.name, kind.positions.empty() ? place : kind.positions[place]};
}

ProcessId Directory::find(const ProcessName& name) const {
  const auto kind = std::lower_bound(
      kinds_.begin(), kinds_.end(), name.kind,
      [](const ProcessKind& k, const std::string& wanted) { return k.name < wanted; });
  std::uint32_t place = name.position;
  bool known = kind != kinds_.end() && kind->name == name.kind;
  if (known && !kind->positions.empty()) {
    const auto& positions = kind->positions;
    const auto found = std::lower_bound(positions.begin(), positions.end(), name.position);
    known = found != positions.end() && *found == name.position;
    place = static_cast<std::uint32_t>(found - positions.begin());
  }
  HEADWAY_CHECK(known && place < kind->count, "there is no process {} {}", name.kind,
                name.position);
  return ProcessId(kind->first + place);
}

void Directory::refuse(ChannelId id, ProcessId source, ProcessId target, Tick delay) const {
  HEADWAY_CHECK(id.index() < channels_.size(), "there is no channel {}", id.index());
  HEADWAY_CHECK(target.index() < processes(), "there is no process with id {}", target.index());
  const Channel& channel = channels_[id.index()];
  const ProcessName from = name(source);
  const ProcessName to = name(target);
  HEADWAY_CHECK(channel.from.contains(source) && channel.to.contains(target),
                "channel {} does not lead from {} {} to {} {}", id.index(), from.kind,
                from.position, to.kind, to.position);
  HEADWAY_CHECK(
      delay >= channel.minimum_latency,
      "{} {} sends to {} {} with a delay of {} ticks; the channel's minimum latency is {}",
      from.kind, from.position, to.kind, to.position, delay, channel.minimum_latency);
  check_failed("channel allows", __FILE__, __LINE__, "refused without a reason");
}

}  // namespace headway::core

#include "sim/core/engine/directory.h"

#include <algorithm>

#include "sim/core/error.h"

namespace headway::core {

Directory::Directory(std::vector<ProcessName> names,
                     std::vector<Channel> channels,
                     std::vector<std::uint32_t> partition_of)
    : names_(std::move(names)),
      channels_(std::move(channels)),
      partition_of_(std::move(partition_of)) {}

ProcessId Directory::find(const ProcessName& name) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), name);
  HEADWAY_CHECK(found != names_.end() && *found == name, "there is no process {} {}", name.kind,
                name.position);
  return ProcessId(static_cast<std::size_t>(found - names_.begin()));
}

void Directory::refuse(ChannelId id, ProcessId source, ProcessId target, Tick delay) const {
  HEADWAY_CHECK(id.index() < channels_.size(), "there is no channel {}", id.index());
  HEADWAY_CHECK(target.index() < names_.size(), "there is no process with id {}", target.index());
  const Channel& channel = channels_[id.index()];
  const ProcessName& from = name(source);
  const ProcessName& to = name(target);
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

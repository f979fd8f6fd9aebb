#include "sim/core/engine/engine.h"

#include <algorithm>
#include <bit>
#include <exception>

#include "sim/core/error.h"

namespace headway::core {

namespace {

struct NamedProcess {
  ProcessName name;
  Process* process = nullptr;
};

struct NamedChannel {
  ProcessSet from;
  ProcessSet to;
  Tick minimum_latency = 1;
};

/// Ids of the processes in `set`.
ProcessRange resolve(const ProcessSet& set, const std::vector<ProcessKind>& kinds) {
  const bool all = set.position == ProcessSet::kAll;
  for (const ProcessKind& kind : kinds) {
    if (kind.name != set.kind) {
      continue;
    }
    if (all) {
      return {kind.first, kind.first + kind.count};
    }
    const std::vector<std::uint32_t>& positions = kind.positions;
    const auto found = std::lower_bound(positions.begin(), positions.end(), set.position);
    const std::int64_t place = positions.empty() ? set.position : found - positions.begin();
    if (place >= 0 && place < kind.count && (positions.empty() || *found == set.position)) {
      const std::uint32_t id = kind.first + static_cast<std::uint32_t>(place);
      return {id, id + 1};
    }
  }
  check_failed("the channel's ends exist", __FILE__, __LINE__,
               fmt::format("a channel names processes that were never added: {} {}", set.kind,
                           all ? std::string("(all)") : std::to_string(set.position)));
}

/// The sorted processes by kind.
std::vector<ProcessKind> kinds_of(const std::vector<NamedProcess>& processes) {
  std::vector<ProcessKind> kinds;
  for (const auto& [name, process] : processes) {
    if (kinds.empty() || kinds.back().name != name.kind) {
      const std::uint32_t first = kinds.empty() ? 0 : kinds.back().first + kinds.back().count;
      kinds.push_back({name.kind, first, 0, {}});
    }
    kinds.back().positions.push_back(name.position);
    ++kinds.back().count;
  }
  for (ProcessKind& kind : kinds) {
    if (kind.positions.back() == kind.count - 1) {    // each once, so these are 0 to count - 1
      kind.positions = std::vector<std::uint32_t>();  // `= {}` would keep the memory
    }
  }
  return kinds;
}

/// Processes a partition has unless the caller says. Large enough for its queue and state to make
/// good use of the first-level cache (64 x about 120 B), small for many threads where processes are
/// few.
std::size_t default_block(std::size_t processes, int threads) {
  constexpr std::size_t kLargest = 64;
  return threads == 1 ? kLargest : std::clamp<std::size_t>(processes / kLargest, 1, kLargest);
}

/// Partitions a group has, as a power of two: 64 (x 64 processes are half a megabyte) unless that
/// makes fewer than 16 groups, which threads could not share evenly, or more than 256, whose
/// mailboxes to one another would outnumber the events.
int partitions_per_group_log2(std::size_t partitions) {
  const std::size_t least = std::max<std::size_t>(1, (partitions + 255) / 256);
  const std::size_t wanted = std::clamp<std::size_t>(partitions / 16, 1, 64);
  return std::countr_zero(std::bit_ceil(std::max(least, std::bit_floor(wanted))));
}

std::vector<std::uint32_t> assign_partitions(const EngineOptions& options, std::size_t processes) {
  if (!options.partition_of_process.empty()) {
    HEADWAY_CHECK(options.partition_of_process.size() == processes,
                  "{} partition numbers for {} processes", options.partition_of_process.size(),
                  processes);
    return options.partition_of_process;
  }
  const std::size_t block = options.processes_per_partition != 0
                                ? options.processes_per_partition
                                : default_block(processes, options.threads);
  std::vector<std::uint32_t> partition_of(processes);
  for (std::size_t i = 0; i < processes; ++i) {
    partition_of[i] = static_cast<std::uint32_t>(i / block);
  }
  return partition_of;
}

}  // namespace

/// What was added, until the first run; then the state of the processes.
struct Engine::Description {
  std::vector<NamedProcess> processes;
  std::vector<NamedChannel> channels;
  std::vector<ProcessSlot> slots;
};

Engine::Engine(EngineOptions options)
    : options_(std::move(options)),
      description_(std::make_unique<Description>()),
      executor_(make_executor(options_.threads)) {}

Engine::~Engine() = default;

void Engine::add(ProcessName name, Process& process) {
  HEADWAY_CHECK(!directory_, "{} {} is added after the run began", name.kind, name.position);
  description_->processes.push_back({std::move(name), &process});
}

ChannelId Engine::connect(ProcessSet from, ProcessSet to, Tick minimum_latency) {
  HEADWAY_CHECK(!directory_, "a channel from {} to {} is added after the run began", from.kind,
                to.kind);
  HEADWAY_CHECK(minimum_latency > 0,
                "the channel from {} to {} has a minimum latency of {} ticks; it must be positive",
                from.kind, to.kind, minimum_latency);
  description_->channels.push_back({std::move(from), std::move(to), minimum_latency});
  return ChannelId(description_->channels.size() - 1);
}

// Ids are places in the sorted list of names, so the order of `add` leaves no trace.
void Engine::seal() {
  auto& processes = description_->processes;
  std::sort(processes.begin(), processes.end(),
            [](const auto& x, const auto& y) { return x.name < y.name; });
  HEADWAY_CHECK(processes.size() <= EventOrder::kMaxProcesses,
                "{} processes; the engine numbers at most {}", processes.size(),
                EventOrder::kMaxProcesses);
  description_->slots.reserve(processes.size());
  const ProcessName* previous = nullptr;
  for (const auto& [name, process] : processes) {
    HEADWAY_CHECK(previous == nullptr || *previous != name, "two processes are named {} {}",
                  name.kind, name.position);
    previous = &name;
    description_->slots.push_back({process, combine(hash_text(name.kind), name.position), 0, 0});
  }
  std::vector<ProcessKind> kinds = kinds_of(processes);
  std::vector<Channel> channels;
  for (const auto& [from, to, latency] : description_->channels) {
    channels.push_back({resolve(from, kinds), resolve(to, kinds), latency});
  }
  directory_ = std::make_unique<Directory>(std::move(kinds), std::move(channels),
                                           assign_partitions(options_, processes.size()));
  processes = std::vector<NamedProcess>();  // `= {}` would keep the memory
  build_partitions();
  start_processes();
}

void Engine::start_processes() {
  for (std::size_t i = 0; i < directory_->processes(); ++i) {
    partition(directory_->partition_of(ProcessId(i))).start(ProcessId(i));
  }
  for (const auto& group : office_.groups) {
    group->note_started();
  }
}

Partition& Engine::partition(std::uint32_t index) {
  return office_.groups[index >> office_.partitions_per_group_log2]->partition(index);
}

void Engine::build_partitions() {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < directory_->processes(); ++i) {
    count = std::max(count, directory_->partition_of(ProcessId(i)) + 1);
  }
  office_.partitions_per_group_log2 = partitions_per_group_log2(count);
  const std::uint32_t block = 1U << office_.partitions_per_group_log2;
  office_.groups.resize((count + block - 1) / block);
  for (std::uint32_t i = 0; i < office_.groups.size(); ++i) {
    const std::uint32_t partitions = std::min(block, count - i * block);
    office_.groups[i] =
        std::make_unique<PartitionGroup>(*directory_, description_->slots, office_, i, partitions);
  }
  for (const Channel& channel : directory_->channels()) {
    set_lookahead(channel);
  }
}

// A message into a partition from another takes at least the least latency of the channels that
// lead there.
void Engine::set_lookahead(const Channel& channel) {
  const std::uint32_t first_source = directory_->partition_of(ProcessId(channel.from.first));
  bool several_sources = false;
  for (std::uint32_t i = channel.from.first; i < channel.from.end; ++i) {
    several_sources = several_sources || directory_->partition_of(ProcessId(i)) != first_source;
  }
  for (std::uint32_t i = channel.to.first; i < channel.to.end; ++i) {
    const std::uint32_t place = directory_->partition_of(ProcessId(i));
    if (several_sources || place != first_source) {
      office_.groups[place >> office_.partitions_per_group_log2]->bound_lookahead(
          place, channel.minimum_latency);
    }
  }
}

Tick Engine::earliest_event() const {
  Tick first = kEndOfTime;
  for (const auto& group : office_.groups) {
    first = std::min(first, group->next_tick());
  }
  return first;
}

/// A window may be as short as a microsecond.
constexpr std::uint64_t kWindowsUnlooked = 16;

RunSummary Engine::run(Tick until) {
  if (!directory_) {
    seal();
  }
  std::vector<std::exception_ptr> failures(office_.groups.size());
  Tick first = earliest_event();
  const std::function<void(std::size_t)> run_group = [&](std::size_t i) {
    try {
      office_.groups[i]->run(first, until);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  for (; first < until; first = earliest_event()) {
    office_.outgoing = 1 - office_.outgoing;
    executor_->for_each(office_.groups.size(), run_group);
    ++windows_;
    if (options_.look && windows_ % kWindowsUnlooked == 0) {
      options_.look();
    }
    for (const auto& failure : failures) {
      if (failure) {  // of several, always the same one
        std::rethrow_exception(failure);
      }
    }
  }
  return summary();
}

RunSummary Engine::summary() {
  RunSummary result;
  result.windows = windows_;
  result.finished = earliest_event() == kEndOfTime;
  for (const ProcessSlot& slot : description_->slots) {
    result.events += slot.events;
    result.event_digest = combine(result.event_digest, slot.digest);
  }
  for (const auto& group : office_.groups) {
    for (const Partition& partition : group->partitions()) {
      result.end = std::max(result.end, partition.last_tick());
    }
  }
  return result;
}

}  // namespace headway::core

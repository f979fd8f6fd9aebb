#include "sim/core/engine/engine.h"

#include <algorithm>
#include <exception>
#include <numeric>

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

/// Ids of the processes in `set`, given all names in order.
ProcessRange resolve(const ProcessSet& set, const std::vector<ProcessName>& names) {
  const bool all = set.position == ProcessSet::kAll;
  const auto before = [&](const ProcessName& name, const ProcessSet& wanted) {
    return name.kind < wanted.kind ||
           (name.kind == wanted.kind && !all && name.position < wanted.position);
  };
  const auto after = [&](const ProcessSet& wanted, const ProcessName& name) {
    return wanted.kind < name.kind ||
           (wanted.kind == name.kind && !all && wanted.position < name.position);
  };
  const auto first = std::lower_bound(names.begin(), names.end(), set, before);
  const auto end = std::upper_bound(first, names.end(), set, after);
  HEADWAY_CHECK(first != end, "a channel names processes that were never added: {} {}", set.kind,
                all ? std::string("(all)") : std::to_string(set.position));
  return {static_cast<std::uint32_t>(first - names.begin()),
          static_cast<std::uint32_t>(end - names.begin())};
}

/// Consecutive blocks. Small ones keep a queue in the first-level cache; too small ones make
/// windows dear.
std::size_t default_block(std::size_t processes, int threads) {
  constexpr std::size_t kLargest = 64;
  const std::size_t per_thread = processes / (static_cast<std::size_t>(std::max(threads, 1)) * 8);
  return threads == 1 ? kLargest : std::clamp<std::size_t>(per_thread, 1, kLargest);
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

/// The tick up to which a partition may run: `first` plus its lookahead, at most `until`.
Tick window_end(Tick first, Tick lookahead, Tick until) {
  return lookahead >= until - first ? until : first + lookahead;
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
  std::vector<ProcessName> names;
  for (const auto& [name, process] : processes) {
    HEADWAY_CHECK(names.empty() || names.back() != name, "two processes are named {} {}", name.kind,
                  name.position);
    names.push_back(name);
    description_->slots.push_back({process, combine(hash_text(name.kind), name.position), 0, 0});
  }
  std::vector<Channel> channels;
  for (const auto& [from, to, latency] : description_->channels) {
    channels.push_back({resolve(from, names), resolve(to, names), latency});
  }
  auto partition_of = assign_partitions(options_, names.size());
  directory_ =
      std::make_unique<Directory>(std::move(names), std::move(channels), std::move(partition_of));
  processes = {};  // their names live on in the directory
  build_partitions();
  for (std::size_t i = 0; i < directory_->processes(); ++i) {
    partitions_[directory_->partition_of(ProcessId(i))]->start(ProcessId(i));
  }
}

void Engine::build_partitions() {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < directory_->processes(); ++i) {
    count = std::max(count, directory_->partition_of(ProcessId(i)) + 1);
  }
  partitions_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    partitions_.push_back(
        std::make_unique<Partition>(*directory_, description_->slots, partitions_, i));
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
      Tick& lookahead = partitions_[place]->lookahead;
      lookahead = std::min(lookahead, channel.minimum_latency);
    }
  }
}

Tick Engine::earliest_event() {
  Tick first = kEndOfTime;
  for (const auto& partition : partitions_) {
    first = std::min(first, partition->first_tick());
  }
  return first;
}

RunSummary Engine::run(Tick until) {
  if (!directory_) {
    seal();
  }
  std::vector<std::exception_ptr> failures(partitions_.size());
  Tick first = earliest_event();
  const std::function<void(std::size_t)> run_partition = [&](std::size_t i) {
    try {
      partitions_[i]->run(window_end(first, partitions_[i]->lookahead, until));
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  for (; first < until; first = earliest_event()) {
    executor_->for_each(partitions_.size(), run_partition);
    ++windows_;
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
  for (const auto& partition : partitions_) {
    result.end = std::max(result.end, partition->last_tick());
  }
  return result;
}

}  // namespace headway::core

// What a model writes: processes that own their state, handle events and send messages through
// channels.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "sim/core/engine/event.h"

namespace headway::core {

/// The name a process has in the description; ids follow it, never the order of construction.
struct ProcessName {
  std::string kind;            ///< such as "fabric" or "rank group"
  std::uint32_t position = 0;  ///< among the processes of its kind

  auto operator<=>(const ProcessName&) const = default;
};

/// A declared way from some processes to others, with the least latency a message on it can have.
using ChannelId = Id<struct ChannelTag>;

class Partition;

/// What a process may do while it handles an event: read the clock, schedule to itself, send to
/// others.
class Context {
 public:
  /// Tick of the event being handled; 0 in `Process::start`.
  [[nodiscard]] Tick now() const { return now_; }
  /// The process that handles the event.
  [[nodiscard]] ProcessId self() const { return self_; }

  /// An event for this process itself, `delay` from now; 0 means later within the same tick.
  /// There is no cancelling: put a generation number into the message and ignore what is stale.
  /// @throws InternalError if `delay` is negative or the time is beyond 2^63 ticks
  void schedule(Tick delay, const Message& message);

  /// An event for process `to`, which the channel must reach.
  /// @param delay  from now; at least the channel's minimum latency
  /// @throws InternalError if the channel does not join the two, or `delay` is too short or
  /// overflows
  void send(ChannelId channel, ProcessId to, Tick delay, const Message& message);

  /// Id of the process of that name: for `start`, where a process learns its neighbours.
  /// Ids of one kind are consecutive, in order of position.
  /// @throws InternalError if there is none
  [[nodiscard]] ProcessId find(const ProcessName& name) const;

 private:
  friend class Partition;
  explicit Context(Partition& partition) : partition_(partition) {}

  Tick now_ = 0;
  ProcessId self_;
  Partition& partition_;
};

/// One piece of the model. It owns its state; nothing outside may touch that state while the engine
/// runs.
class Process {
 public:
  virtual ~Process() = default;
  /// Called once, before the first event, at tick 0.
  virtual void start(Context& context) = 0;
  /// Called for each event sent to this process, in the total order of event.h.
  virtual void handle(Context& context, const Event& event) = 0;

 protected:
  Process() = default;
  Process(const Process&) = default;
  Process(Process&&) = default;
  Process& operator=(const Process&) = default;
  Process& operator=(Process&&) = default;
};

}  // namespace headway::core

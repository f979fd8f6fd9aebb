#include "sim/core/engine/partition.h"

#include "sim/core/error.h"

namespace headway::core {

namespace {

/// Folds one event into its process's running hash: every field, two multiplications.
std::uint64_t digest_event(std::uint64_t digest, const Event& event) {
  const std::uint64_t when = multiply_mix(digest ^ static_cast<std::uint64_t>(event.tick),
                                          event.order.word() ^ 0x9e3779b97f4a7c15U);
  return multiply_mix(when ^ event.a ^ 0xe7037ed1a0b428dbU,
                      event.b ^ (std::uint64_t{event.kind} << 32) ^ digest);
}

}  // namespace

ProcessId Context::find(const ProcessName& name) const { return partition_.directory_.find(name); }

void Partition::start(ProcessId id) {
  Context context(*this);
  context.self_ = id;
  slots_[id.index()].process->start(context);
}

void Partition::run(Tick end) {
  Context context(*this);
  while (queue_.first_tick() < end) {
    const Event event = queue_.pop();
    ProcessSlot& slot = slots_[event.target.index()];
    slot.digest = digest_event(slot.digest, event);
    ++slot.events;
    context.now_ = event.tick;
    context.self_ = event.target;
    last_tick_ = event.tick;
    slot.process->handle(context, event);
  }
}

void Partition::refuse_time(ProcessId source, Tick now, Tick delay) const {
  const ProcessName name = directory_.name(source);
  HEADWAY_CHECK(delay >= 0, "{} {} schedules {} ticks into the past at tick {}", name.kind,
                name.position, -delay, now);
  HEADWAY_CHECK(now <= kEndOfTime - 1 - delay,
                "{} {} schedules {} ticks after tick {}: beyond 2^63 ticks; use a coarser clock",
                name.kind, name.position, delay, now);
  check_failed("time is valid", __FILE__, __LINE__, "refused without a reason");
}

void Partition::refuse_sequence(ProcessId source) const {
  const ProcessName name = directory_.name(source);
  HEADWAY_CHECK(slots_[source.index()].sequence <= EventOrder::kMaxSequence + 1,
                "{} {} has sent more than 2^{} events", name.kind, name.position,
                EventOrder::kSequenceBits);
  check_failed(
      "message.priority <= kLastPriority", __FILE__, __LINE__,
      fmt::format("{} {} sends with a priority above {}", name.kind, name.position, kLastPriority));
}

}  // namespace headway::core

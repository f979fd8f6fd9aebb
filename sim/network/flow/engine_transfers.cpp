// What groups and flows do: gather arrivals, launch, move bytes, complete.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/core/error.h"
#include "sim/network/flow/engine.h"

namespace headway::network {

/// Some actor runs further ahead than there is room for: twice the room for the group, at the end.
void Engine::grow_instances(std::uint32_t index) {
  GroupState& group = groups_[index];
  const std::uint32_t more = 2 * group.room;
  const std::size_t first = instances_.size();
  HEADWAY_CHECK(first + more <= UINT32_MAX, "{} transfers are open at once", first);
  const auto grow = [&](auto& of_instances) {
    of_instances.resize(of_instances.empty() ? 0 : first + more);
    for (std::uint64_t i = 0; i < group.room && !of_instances.empty(); ++i) {
      const std::uint64_t number = group.completed + i;
      of_instances[first + (number & (more - 1))] = of_instances[place_of(index, number)];
    }
  };
  grow(instances_);
  grow(instance_paths_);
  group.first_instance = static_cast<std::uint32_t>(first);
  group.room = more;
}

/// @param tick  the actor's own. @returns whether all have come and the instance is next
bool Engine::join(std::uint32_t actor, std::uint32_t index, std::uint64_t number, core::Tick tick) {
  const GroupState& group = groups_[index];
  while (number - group.completed >= group.room) {
    grow_instances(index);
  }
  Instance& next = instance(index, number);
  // Of arrivals at one tick the first actor by number counts, whatever the order of work.
  if (next.arrivals == 0 || tick > next.latest ||
      (tick == next.latest && actor < next.last_arriver)) {
    next.latest = tick;
    next.last_arriver = actor;
    if (options_.paths) {
      path_of(next) = paths_[actor].times;
    }
  }
  return ++next.arrivals == group.need && number == group.completed;
}

void Engine::arrive(std::uint32_t actor, Slot& slot, core::Tick tick) {
  if (join(actor, slot.group, slot.arrived++, tick)) {
    launch(slot.group);
  }
}

/// At the tick of its last arrival, which may have been told ahead of the clock.
void Engine::launch(std::uint32_t index) {
  GroupState& group = groups_[index];
  ++live_;
  const core::Tick launched = std::max(now_, instance(index, group.completed).latest);
  group.launch_power = powers_at(launched).start;
  group.flows_left = group.flows;
  if (group.until_flows == 0) {
    timer(index);
  } else if (group.until_flows != kMixedLatency) {
    queue_.schedule({group_entity(index)}, sum(launched, group.until_flows));
  } else {
    for (std::uint32_t flow = group.first_flow; flow < group.first_flow + group.flows; ++flow) {
      const core::Tick wait = problem_.groups[index].delay + problem_.flows[flow].latency;
      if (wait == 0) {
        start_flow(flow);
      } else {
        queue_.schedule({flow_entity(flow)}, after(wait));
      }
    }
  }
}

/// The group's delay is over.
void Engine::timer(std::uint32_t index) {
  const GroupState& group = groups_[index];
  if (group.flows == 0) {
    completions_.push_back(index);
  }
  for (std::uint32_t flow = group.first_flow; flow < group.first_flow + group.flows; ++flow) {
    start_flow(flow);
  }
}

void Engine::complete(std::uint32_t index, core::Tick tick, const TickPowers& powers) {
  GroupState& group = groups_[index];
  result_sum_ += group.key * group.launch_power * powers.end;
  end_ = std::max(end_, tick);
  --live_;
  Instance& finished = instance(index, group.completed);
  for (std::uint32_t actor = std::exchange(group.waiters, kNone); actor != kNone;) {
    const std::uint32_t next = actors_[actor].next_waiter;
    end_wait(actor, group, finished, tick, powers);
    actor = next;
  }
  finished = Instance{};
  record_completion(index, tick);
  ++group.completed;
  if (instance(index, group.completed).arrivals == group.need) {
    launch(index);
  }
}

void Engine::start_flow(std::uint32_t index) {
  const Flow& flow = problem_.flows[index];
  const FlowSize& size = size_of(flow.size);
  const std::uint64_t started = size.key * powers_.start;
  if (size.volume == 0) {
    flow_done(flow.group, started * flow.multiplicity);
    return;
  }
  const std::uint32_t seat = solver_.add(index);
  if (seat == moving_.size()) {
    moving_.emplace_back();
  }
  moving_[seat] = {
      size.volume,       0, now_, started, index, flow.group, flow.weight, flow.multiplicity,
      TickQueue::Place{}};
}

void Engine::end_flow(std::uint32_t seat) {
  MovingFlow& flow = moving_[seat];
  const Int128 error = flow.left - static_cast<Int128>(flow.rate) * (now_ - flow.anchor);
  // INVARIANT: what was sent is what was asked for, to half a tick of the last rate.
  HEADWAY_CHECK(2 * (error < 0 ? -error : error) <= flow.rate,
                "flow {} ends with bytes missing or to spare", flow.flow);
  flow.flow = kNone;
  solver_.remove(seat);
  flow_done(flow.group, flow.started * flow.multiplicity);
}

/// @param started  its digest key, multiplicity and power of its start
void Engine::flow_done(std::uint32_t group, std::uint64_t started) {
  result_sum_ += started * powers_.end;
  if (--groups_[group].flows_left == 0) {
    completions_.push_back(group);
  }
}

/// Settles the volume at the old rate and moves the end. Called only when the rate really changed:
/// settling an unchanged flow would round where the folded run does not.
void Engine::change_rate(std::uint32_t seat) {
  MovingFlow& flow = moving_[seat];
  const std::int64_t rate = solver_.level(seat) * flow.weight;
  if (flow.rate > 0) {
    flow.left -= static_cast<Int128>(flow.rate) * (now_ - flow.anchor);
    queue_.cancel(flow.end);
  }
  flow.anchor = now_;
  flow.rate = rate;
  if (rate > 0) {
    flow.end =
        queue_.schedule({flow_entity(flow.flow), seat}, after(transfer_time_(flow.left, rate)));
  }
}

/// Of this tick, before it is worked off: flows that move bytes and whose event is due now end.
void Engine::record_ends() {
  for (const TickQueue::Event& event : batch_) {
    if (event.seat != kNone) {
      record_rate(moving_[event.seat].flow, 0);
    }
  }
}

void Engine::record_rate(std::uint32_t index, std::int64_t rate) {
  const double bytes_a_tick = std::ldexp(static_cast<double>(rate), -unit_.shift());
  rates_.push_back(
      {now_, index, core::BytesPerSecond(bytes_a_tick * core::Clock::step().ticks_per_second())});
}

}  // namespace headway::network

// How an engine goes on from the state of another one that was folded more coarsely.
#include <algorithm>

#include "sim/core/error.h"
#include "sim/network/flow/engine.h"

namespace headway::network {

/// All parts of a class are in its state at this tick, so each takes a copy; only what counts nodes
/// (arrivals, flows left, who waits) is counted again.
void Engine::adopt(const Engine& before, const Ancestry& from) {
  started_ = true;
  begin_tick(before.now_);
  end_ = before.end_;
  events_ = before.events_;
  skipped_events_ = before.skipped_events_;
  event_sum_ = before.event_sum_;
  result_sum_ = before.result_sum_;
  std::uint32_t instances = 0;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    groups_[g].room = before.groups_[from.group[g]].room;
    groups_[g].first_instance = instances;
    instances += groups_[g].room;
  }
  instances_.assign(instances, Instance{});
  adopt_actors(before, from.actor);
  adopt_groups(before, from.group);
  adopt_flows(before, from.flow);
  adopt_due(before, from);
  count_arrivals();
  find_open_groups();
}

void Engine::adopt_due(const Engine& before, const Ancestry& from) {
  const std::vector<core::Tick> due = before.queue_.due(before.change_entity_);
  const auto adopt = [&](std::uint32_t old_entity, TickQueue::Event event) {
    const core::Tick tick = due[old_entity];
    return tick == TickQueue::kNotDue ? TickQueue::Place{} : queue_.schedule(event, tick);
  };
  for (std::uint32_t a = 0; a < actors_.size(); ++a) {
    adopt(before.actor_entity(from.actor[a]), {actor_entity(a)});
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    adopt(before.group_entity(from.group[g]), {group_entity(g)});
  }
  const std::vector<std::uint32_t> seats = seats_of_flows();
  for (std::uint32_t f = 0; f < seats.size(); ++f) {
    const TickQueue::Place place =
        adopt(before.flow_entity(from.flow[f]), {flow_entity(f), seats[f]});
    if (seats[f] != kNone) {
      moving_[seats[f]].end = place;
    }
  }
}

/// Per flow; kNone: it does not move.
std::vector<std::uint32_t> Engine::seats_of_flows() const {
  std::vector<std::uint32_t> seats(problem_.flows.size(), kNone);
  for (std::uint32_t seat = 0; seat < moving_.size(); ++seat) {
    if (moving_[seat].flow != kNone) {
      seats[moving_[seat].flow] = seat;
    }
  }
  return seats;
}

void Engine::adopt_actors(const Engine& before, const std::vector<std::uint32_t>& from) {
  for (std::uint32_t a = 0; a < actors_.size(); ++a) {
    ActorState& state = actors_[a];
    const ActorState& old = before.actors_[from[a]];
    state.pc = old.pc;
    state.blocked = old.blocked;
    state.since = old.since;
    state.powers = old.powers;
    for (std::size_t slot = 0; slot < problem_.actors[a].groups.size(); ++slot) {
      const Slot& counts = before.slots_[old.first_slot + slot];
      slots_[state.first_slot + slot].arrived = counts.arrived;
      slots_[state.first_slot + slot].waited = counts.waited;
    }
    for (std::uint32_t i = 0; i < programs_.depth[problem_.actors[a].program]; ++i) {
      counters_[state.first_counter + i] = before.counters_[old.first_counter + i];
    }
    activity_[a] = before.activity_[from[a]];
    actor_end_[a] = before.actor_end_[from[a]];
    live_ += state.pc != state.end ? 1 : 0;
  }
}

void Engine::adopt_groups(const Engine& before, const std::vector<std::uint32_t>& from) {
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    GroupState& state = groups_[g];
    const GroupState& old = before.groups_[from[g]];
    state.completed = old.completed;
    state.launch_power = old.launch_power;
    for (std::uint64_t i = 0; i < state.room; ++i) {
      const std::uint64_t number = state.completed + i;
      instance(g, number).latest = before.instances_[before.place_of(from[g], number)].latest;
    }
  }
}

void Engine::adopt_flows(const Engine& before, const std::vector<std::uint32_t>& from) {
  const std::vector<std::uint32_t> seats = before.seats_of_flows();
  for (std::uint32_t f = 0; f < from.size(); ++f) {
    if (seats[from[f]] == kNone) {
      continue;
    }
    solver_.add(f);  // in seats that nobody has had
    MovingFlow& state = moving_.emplace_back(before.moving_[seats[from[f]]]);
    state.flow = f;
    state.group = problem_.flows[f].group;
    state.multiplicity = problem_.flows[f].multiplicity;
  }
  for (const std::uint32_t seat : solver_.solve()) {
    // INVARIANT: levels depend on the active flows alone, so the finer problem has the same.
    const MovingFlow& flow = moving_[seat];
    HEADWAY_CHECK(solver_.level(seat) * flow.weight == flow.rate,
                  "flow {} has rate {} unfolded and {} folded at tick {}", flow.flow,
                  solver_.level(seat) * flow.weight, flow.rate, now_);
  }
}

/// Who has arrived at instances that are not complete, and who waits for the first of them.
void Engine::count_arrivals() {
  for (std::uint32_t a = 0; a < actors_.size(); ++a) {
    ActorState& state = actors_[a];
    for (std::size_t i = 0; i < problem_.actors[a].groups.size(); ++i) {
      const Slot& slot = slots_[state.first_slot + i];
      for (std::uint64_t number = groups_[slot.group].completed; number < slot.arrived; ++number) {
        ++instance(slot.group, number).arrivals;
      }
    }
    if (state.blocked) {
      GroupState& group = groups_[slots_[state.first_slot + programs_.code[state.pc].slot].group];
      state.next_waiter = group.waiters;
      group.waiters = a;
    }
  }
}

void Engine::find_open_groups() {
  const std::vector<core::Tick> due = queue_.due(change_entity_);
  const std::vector<std::uint32_t> seats = seats_of_flows();
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    GroupState& group = groups_[g];
    if (instance(g, group.completed).arrivals != group.need) {
      continue;
    }
    ++live_;
    const bool all_wait = due[group_entity(g)] != TickQueue::kNotDue;
    for (std::uint32_t f = group.first_flow; f < group.first_flow + group.flows; ++f) {
      const bool left = all_wait || seats[f] != kNone || due[flow_entity(f)] != TickQueue::kNotDue;
      group.flows_left += left ? 1 : 0;
    }
  }
}

}  // namespace headway::network

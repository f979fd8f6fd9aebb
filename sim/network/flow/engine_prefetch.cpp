// What the next events of a batch will touch is fetched while those before them are worked off: a
// large run waits for memory most of the time.
#include <algorithm>
#include <array>

#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

/// How many events ahead each stage is: a stage fetches what the one before it has brought the
/// address of.
constexpr std::array<std::size_t, 6> kLooks{16, 12, 9, 6, 4, 2};

/// Instructions of an actor that goes on whose slots are fetched: it arrives and waits for two.
constexpr std::uint32_t kNextSteps = 4;

}  // namespace

/// The slots that an actor uses when it goes on.
void Engine::prefetch_slots(std::uint32_t actor) const {
  const ActorState& state = actors_[actor];
  const std::uint32_t end = std::min(state.pc + kNextSteps, state.end);
  for (std::uint32_t pc = state.pc; pc < end; ++pc) {
    const Instruction& instruction = programs_.code[pc];
    if (instruction.code == StepCode::arrive || instruction.code == StepCode::wait) {
      __builtin_prefetch(&slots_[state.first_slot + instruction.slot], 1);
    }
  }
}

/// The groups of these slots, behind the one that it waits for.
void Engine::prefetch_next_groups(std::uint32_t actor) const {
  const ActorState& state = actors_[actor];
  const std::uint32_t end = std::min(state.pc + kNextSteps, state.end);
  for (std::uint32_t pc = state.pc + 1; pc < end; ++pc) {
    const Instruction& instruction = programs_.code[pc];
    if (instruction.code == StepCode::arrive || instruction.code == StepCode::wait) {
      __builtin_prefetch(&groups_[slots_[state.first_slot + instruction.slot].group], 1);
    }
  }
}

/// Whoever waits goes on: who that is; its slots, and what is booked and kept where a wait ends;
/// the groups of these slots.
void Engine::prefetch_waiter(std::uint32_t index, std::size_t stage) const {
  const GroupState& group = groups_[index];
  const std::uint32_t waiter = group.waiters;
  if (waiter == kNone) {
    return;
  }
  if (stage == 0) {
    __builtin_prefetch(&actors_[waiter], 1);
  } else if (stage == 1) {
    prefetch_slots(waiter);
    __builtin_prefetch(&activity_[waiter][group.activity], 1);
    __builtin_prefetch(&activity_[waiter][group.waiting], 1);
    if (options_.paths) {
      __builtin_prefetch(&paths_[waiter], 1);
      __builtin_prefetch(&paths_[waiter].order, 1);
      const InstancePath& path = instance_paths_[place_of(index, group.completed)];
      __builtin_prefetch(&path.times.values.front());
      __builtin_prefetch(&path.times.values.back());
    }
  } else {
    prefetch_next_groups(waiter);
  }
}

/// The timer of a group: its flows start, or whoever waits goes on.
void Engine::prefetch_group(std::uint32_t index, std::size_t stage) const {
  const GroupState& group = groups_[index];
  if (stage == 0) {
    __builtin_prefetch(&group, 1);
  } else if (group.flows == 0) {
    if (stage >= 3) {
      prefetch_waiter(index, stage - 3);
    }
  } else {
    prefetch_start(group.first_flow, stage - 1);
  }
}

void Engine::prefetch_start(std::uint32_t flow, std::size_t stage) const {
  if (stage == 0) {
    __builtin_prefetch(&problem_.flows[flow]);
    solver_.prefetch_flow(flow);
  } else if (stage == 1) {
    solver_.prefetch_flow_loads(flow);
  } else if (stage == 2) {
    solver_.prefetch_flow_links(flow);
  }
}

/// The start or the end of a flow.
void Engine::prefetch_flow(const TickQueue::Event& event, std::size_t stage) const {
  const std::uint32_t seat = event.seat;
  if (seat == kNone) {
    prefetch_start(event.entity - first_flow_, stage);
  } else if (stage == 0) {
    __builtin_prefetch(&moving_[seat], 1);
    solver_.prefetch(seat);
  } else if (stage == 1) {
    __builtin_prefetch(&groups_[moving_[seat].group], 1);
    solver_.prefetch_loads(seat);
  } else if (stage == 2) {
    solver_.prefetch_links(seat);
    __builtin_prefetch(&instances_[groups_[moving_[seat].group].first_instance], 1);
  } else {
    if (stage == 3) {
      solver_.prefetch_members(seat);
    }
    prefetch_waiter(moving_[seat].group, stage - 3);
  }
}

/// @param index  of the event of batch_ that comes next
void Engine::prefetch(std::size_t index) const {
  for (std::size_t stage = 0; stage < kLooks.size(); ++stage) {
    if (index + kLooks[stage] >= batch_.size()) {
      continue;
    }
    const TickQueue::Event& event = batch_[index + kLooks[stage]];
    const std::uint32_t entity = event.entity;
    if (entity < first_group_) {
      if (stage == 0) {
        __builtin_prefetch(&actors_[entity], 1);
      } else if (stage == 2) {
        prefetch_slots(entity);
      }
    } else if (entity < first_flow_) {
      prefetch_group(entity - first_group_, stage);
    } else if (entity < change_entity_) {
      prefetch_flow(event, stage);
    }
  }
}

}  // namespace headway::network

// What an actor does on its own: computes, and transfers in which nobody else takes part. Nothing
// of it can touch another actor, so it is done at once, ahead of the clock, with one event at its
// end in place of one a step. Ticks, digests, bookings and trace are those of the steps one by one.
//
// Where nobody looks in between, an actor goes further: it tells groups when it will arrive, and
// stops only where it waits for an answer that is not known (engine_teams.cpp).
#include <algorithm>

#include "sim/core/error.h"
#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

// Instances of a group that are told ahead of the clock: more take more memory than they save time.
constexpr std::uint32_t kToldRoom = 4;

}  // namespace

/// A group without flows that one slot of one actor arrives at and waits for.
void Engine::find_private_slots() {
  std::vector<std::uint32_t> users(groups_.size(), 0);
  for (const Slot& slot : slots_) {
    ++users[slot.group];
  }
  for (Slot& slot : slots_) {
    const GroupState& group = groups_[slot.group];
    slot.alone = users[slot.group] == 1 && group.need == 1 && group.flows == 0;
  }
}

const TickPowers& Engine::Ahead::powers_of(core::Tick ticks) {
  Known& known = known_[static_cast<std::uint64_t>(ticks) * 0x9e3779b97f4a7c15U >> kShift];
  if (known.ticks != ticks) {
    known = {ticks, tick_powers(ticks)};
  }
  return known.powers;
}

/// What ended at the local tick has no event of its own.
void Engine::count_ahead() {
  events_ += ahead_.events;
  event_sum_ += ahead_.entities * ahead_.powers.start;
  ahead_.events = 0;
  ahead_.entities = 0;
}

/// @param tick  now or later
TickPowers Engine::powers_at(core::Tick tick) {
  if (tick == now_) {
    return powers_;
  }
  if (tick == ahead_.tick) {
    return ahead_.powers;
  }
  const TickPowers& step = ahead_.powers_of(tick - now_);
  return {powers_.start * step.start, powers_.end * step.end};
}

/// Lets the local clock go on by `ticks` > 0. @param entities  whose events would end this: the sum
/// of their scrambled numbers
void Engine::pass_ahead(core::Tick ticks, std::uint64_t entities, std::uint32_t events) {
  count_ahead();
  ahead_.tick = sum(ahead_.tick, ticks);
  const TickPowers& step = ahead_.powers_of(ticks);
  ahead_.powers.start *= step.start;
  ahead_.powers.end *= step.end;
  ahead_.entities = entities;
  ahead_.events = events;
}

void Engine::compute_ahead(std::uint32_t actor, ActorState& state, const Crew& crew) {
  const Instruction& instruction = programs_.code[state.pc];
  const core::Tick ticks =
      state.slowdown_ppm == 0 ? instruction.ticks : slowed(instruction.ticks, state.slowdown_ppm);
  if (ticks > 0) {
    const std::uint64_t start_power = ahead_.powers.start;
    pass_ahead(ticks, crew.entities, crew.actors);
    result_sum_ += crew.multiplicity * instruction.key * start_power * ahead_.powers.end;
    book(actor, instruction.activity, ticks);
    extend_path(actor, instruction, ticks);
  }
  ++state.pc;
}

/// A transfer in which nobody but the actor takes part. @returns false if other instances are still
/// on their way
bool Engine::transfer_ahead(std::uint32_t actor, ActorState& state, const Crew& crew) {
  const Instruction& arrival = programs_.code[state.pc];
  Slot& slot = slots_[state.first_slot + arrival.slot];
  if (state.pc + 1 == state.end) {
    return false;
  }
  const Instruction& wait = programs_.code[state.pc + 1];
  const GroupState& group = groups_[slot.group];
  if (wait.code != StepCode::wait || wait.slot != arrival.slot || slot.arrived != group.completed ||
      slot.waited != group.completed) {
    return false;
  }
  record_arrival(actor, state, ahead_.tick);
  ++slot.arrived;
  ++slot.waited;
  pass_transfer(actor, state, crew);
  return true;
}

/// An arrival of all who take part, and the wait for it.
void Engine::pass_transfer(std::uint32_t actor, ActorState& state, const Crew& crew) {
  const Instruction& wait = programs_.code[state.pc + 1];
  const std::uint32_t index = slots_[state.first_slot + wait.slot].group;
  GroupState& group = groups_[index];
  const std::uint64_t start_power = ahead_.powers.start;
  if (group.until_flows > 0) {
    pass_ahead(group.until_flows, scramble(group_entity(index)), 1);
    result_sum_ += crew.multiplicity * wait.key * start_power * ahead_.powers.end;
    book(actor, group.activity, group.until_flows);
    if (options_.paths) {
      paths_[actor].times[group.activity] += group.until_flows;
      paths_[actor].order = ++ends_known_;
    }
  }
  result_sum_ += group.key * start_power * ahead_.powers.end;
  end_ = std::max(end_, ahead_.tick);
  ++group.completed;
  record_completion(index, ahead_.tick);
  state.pc += 2;
}

/// An arrival that is told to others. @returns false if it has to be at its own tick: the launch
/// is an event of its own only where something lies between it and the first byte
bool Engine::arrive_ahead(std::uint32_t actor, ActorState& state) {
  Slot& slot = slots_[state.first_slot + programs_.code[state.pc].slot];
  const GroupState& group = groups_[slot.group];
  if (group.until_flows <= 0 || slot.arrived - group.completed >= std::max(group.room, kToldRoom)) {
    return false;
  }
  arrive(actor, slot, ahead_.tick);
  ++state.pc;
  return true;
}

/// Traces the instructions from `first` up to the next one as a whole.
void Engine::trace_ahead(std::uint32_t actor, std::uint32_t first, core::Tick begin) {
  if (options_.trace && ahead_.tick > begin) {
    const std::uint32_t pc = actors_[actor].pc;
    const std::uint32_t index = first - programs_.first[problem_.actors[actor].program];
    trace_.push_back({actor, index, begin, ahead_.tick, begin, actor, pc - first});
  }
}

/// Whether an actor does more on its own than one compute: only then is it worth going ahead.
bool Engine::alone_for_long(const ActorState& state) const {
  const auto alone = [&](const Instruction& instruction) {
    return instruction.code == StepCode::arrive &&
           slots_[state.first_slot + instruction.slot].alone;
  };
  const Instruction* const here = &programs_.code[state.pc];
  if (here->code != StepCode::compute) {
    return here->code != StepCode::wait && (here->code != StepCode::arrive || alone(*here));
  }
  return state.pc + 1 != state.end && (here[1].code == StepCode::compute || alone(here[1]));
}

/// Schedules where the actor goes on. The event is its own, whoever would have had it, so it is not
/// counted twice.
void Engine::stop_ahead(std::uint32_t actor, ActorState& state) {
  count_ahead();
  --events_;
  event_sum_ -= scramble(actor_entity(actor)) * ahead_.powers.start;
  state.ahead = true;
  queue_.schedule({actor_entity(actor)}, ahead_.tick);
}

/// Runs all that concerns nobody else, or that others can be told. @returns false if the actor goes
/// on later: at the end of what it did, or of what it waits for
bool Engine::run_ahead(std::uint32_t actor, ActorState& state) {
  if (!tells_ahead_ && !alone_for_long(state)) {
    return true;
  }
  ahead_.tick = state.since;
  ahead_.powers = state.powers;
  const Crew alone{scramble(actor_entity(actor)), state.multiplicity};
  bool more = true;
  std::uint32_t traced = state.pc;  // up to here, and up to this tick
  core::Tick traced_until = now_;
  while (more && state.pc != state.end) {
    const Instruction& instruction = programs_.code[state.pc];
    if (instruction.code == StepCode::compute) {
      compute_ahead(actor, state, alone);
    } else if (instruction.code == StepCode::arrive) {
      const Slot& slot = slots_[state.first_slot + instruction.slot];
      if (slot.alone && transfer_ahead(actor, state, alone)) {
        continue;
      }
      if (tells_ahead_ && slot.meeting) {
        meet(actor, state);  // it goes on when all have come
        return false;
      }
      more = tells_ahead_ && arrive_ahead(actor, state);
    } else if (instruction.code == StepCode::wait && tells_ahead_) {
      if (!begin_wait(actor, state, ahead_.tick, ahead_.powers)) {
        count_ahead();
        return false;
      }
    } else if (instruction.code == StepCode::wait ||
               (watched_ != kNone && instruction.depth == 0)) {
      more = false;  // outer loops turn at their own ticks: who is far ahead repeats nothing
    } else {
      trace_ahead(actor, traced, traced_until);
      step(actor, state);  // a loop: what follows may stand elsewhere
      traced = state.pc;
      traced_until = ahead_.tick;
    }
  }
  trace_ahead(actor, traced, traced_until);
  if (ahead_.tick == now_) {
    return true;
  }
  stop_ahead(actor, state);
  return false;
}

}  // namespace headway::network

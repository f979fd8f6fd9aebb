// What an actor does on its own: computes, and transfers in which nobody else takes part. Nothing
// of it can touch another actor, so it is done at once, ahead of the clock, with one event at its
// end in place of one a step. Ticks, digests, bookings and trace are those of the steps one by one.
#include <algorithm>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/network/flow/engine.h"

namespace headway::network {

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

/// Lets the local clock go on by `ticks` > 0. @param entity  whose event would end this
void Engine::pass_ahead(core::Tick ticks, std::uint32_t entity) {
  if (ahead_.tick > now_) {  // what ended here has no event of its own
    ++events_;
    event_sum_ += scramble(ahead_.entity) * ahead_.powers.start;
  }
  if (__builtin_add_overflow(ahead_.tick, ticks, &ahead_.tick)) {
    throw core::Infeasible(kPastTheClock);
  }
  const TickPowers& step = ahead_.powers_of(ticks);
  ahead_.powers.start *= step.start;
  ahead_.powers.end *= step.end;
  ahead_.entity = entity;
}

void Engine::compute_ahead(std::uint32_t actor, ActorState& state) {
  const Instruction& instruction = programs_.code[state.pc];
  const core::Tick ticks = slowed(instruction.ticks, state.slowdown_ppm);
  if (ticks > 0) {
    const std::uint64_t start_power = ahead_.powers.start;
    pass_ahead(ticks, actor_entity(actor));
    result_sum_ += state.multiplicity * instruction.key * start_power * ahead_.powers.end;
    book(actor, instruction.activity, ticks);
    extend_path(actor, instruction, ticks);
  }
  ++state.pc;
}

/// An arrival and the wait for it. @returns false if other instances are still on their way
bool Engine::transfer_ahead(std::uint32_t actor, ActorState& state) {
  const Instruction& arrival = programs_.code[state.pc];
  Slot& slot = slots_[state.first_slot + arrival.slot];
  if (!slot.alone || state.pc + 1 == state.end) {
    return false;
  }
  const Instruction& wait = programs_.code[state.pc + 1];
  GroupState& group = groups_[slot.group];
  if (wait.code != StepCode::wait || wait.slot != arrival.slot || slot.arrived != group.completed ||
      slot.waited != group.completed) {
    return false;
  }
  record_arrival(actor, state, ahead_.tick);
  ++slot.arrived;
  ++slot.waited;
  ++group.completed;
  ++state.pc;
  const std::uint64_t start_power = ahead_.powers.start;
  if (group.until_flows > 0) {
    pass_ahead(group.until_flows, group_entity(slot.group));
    result_sum_ += state.multiplicity * wait.key * start_power * ahead_.powers.end;
    book(actor, group.activity, group.until_flows);
    if (options_.paths) {
      paths_[actor].times[group.activity] += group.until_flows;
      paths_[actor].order = ++ends_known_;
    }
  }
  result_sum_ += group.key * start_power * ahead_.powers.end;
  end_ = std::max(end_, ahead_.tick);
  record_completion(slot.group, ahead_.tick);
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

/// Runs all that concerns nobody else. @returns false if that took time: the actor goes on at its
/// end
bool Engine::run_ahead(std::uint32_t actor, ActorState& state) {
  if (!alone_for_long(state)) {
    return true;
  }
  ahead_.tick = now_;
  ahead_.powers = powers_;
  bool more = true;
  std::uint32_t traced = state.pc;  // up to here, and up to this tick
  core::Tick traced_until = now_;
  while (more && state.pc != state.end) {
    const Instruction& instruction = programs_.code[state.pc];
    if (instruction.code == StepCode::compute) {
      compute_ahead(actor, state);
    } else if (instruction.code == StepCode::arrive) {
      more = transfer_ahead(actor, state);
    } else if (instruction.code == StepCode::wait ||
               (actor == watched_ && instruction.depth == 0)) {
      more = false;  // the watched loop turns at its own tick
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
  // The event at the end is the actor's, whoever would have had it.
  event_sum_ += (scramble(ahead_.entity) - scramble(actor_entity(actor))) * ahead_.powers.start;
  state.ahead = true;
  queue_.schedule(actor_entity(actor), ahead_.tick);
  return false;
}

}  // namespace headway::network

// What actors do: compute, arrive, wait, loop; and what their time is booked to.
#include <algorithm>
#include <limits>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

constexpr std::uint64_t kEndKind = 5;
constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

core::Tick slowed(core::Tick ticks, std::int64_t ppm) {
  if (ppm == 0) {
    return ticks;
  }
  const Int128 scaled = static_cast<Int128>(ticks) * (kMillion + ppm) + kMillion / 2;
  if (scaled / kMillion > std::numeric_limits<core::Tick>::max()) {
    throw core::Infeasible(kPastTheClock);
  }
  return static_cast<core::Tick>(scaled / kMillion);
}

void Engine::advance(std::uint32_t actor) {
  tell_progress();
  ActorState& state = actors_[actor];
  while (state.pc != state.end || state.since > now_) {
    if (may_run_ahead_ && !run_ahead(actor, state)) {
      return;
    }
    if (state.pc != state.end && !step(actor, state)) {
      return;
    }
  }
  end_actor(actor);
}

/// Runs one instruction. @returns false if the actor now computes or is blocked
bool Engine::step(std::uint32_t actor, ActorState& state) {
  const Instruction& instruction = programs_.code[state.pc];
  switch (instruction.code) {
    case StepCode::compute:
      return begin_compute(actor, state, instruction);
    case StepCode::arrive:
      record_arrival(actor, state, now_);
      arrive(actor, slots_[state.first_slot + instruction.slot], now_);
      ++state.pc;
      return true;
    case StepCode::wait:
      return begin_wait(actor, state, now_, powers_);
    case StepCode::loop:
      counters_[state.first_counter + instruction.depth] = instruction.ticks;
      state.pc = instruction.ticks > 0 ? state.pc + 1 : instruction.target;
      return true;
    case StepCode::end_loop:
      if (--counters_[state.first_counter + instruction.depth] > 0) {
        state.pc = instruction.target;
        new_iteration_ |= actor == watched_ && instruction.depth == 0;
      } else {
        ++state.pc;
      }
      return true;
  }
  return false;
}

bool Engine::begin_compute(std::uint32_t actor, ActorState& state, const Instruction& instruction) {
  const core::Tick ticks = slowed(instruction.ticks, state.slowdown_ppm);
  if (ticks == 0) {
    ++state.pc;
    return true;
  }
  state.since = now_;
  state.powers = powers_;
  queue_.schedule({actor_entity(actor)}, after(ticks));
  return false;
}

/// The event of an actor: it is done with a compute, or with all it could do on its own.
void Engine::end_busy(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  if (state.ahead) {
    state.ahead = false;
  } else {
    end_compute(actor);
  }
  state.since = now_;
  state.powers = powers_;
  woken_.push_back(actor);
}

void Engine::end_compute(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  const Instruction& instruction = programs_.code[state.pc];
  book(actor, instruction.activity, now_ - state.since);
  extend_path(actor, instruction, now_ - state.since);
  result_sum_ += state.multiplicity * instruction.key * state.powers.start * powers_.end;
  if (options_.trace) {
    const auto index = state.pc - programs_.first[problem_.actors[actor].program];
    trace_.push_back({actor, index, state.since, now_, state.since, actor, 1});
  }
  ++state.pc;
}

/// @param tick  the actor's own, with its powers. @returns false if the actor is blocked now
bool Engine::begin_wait(std::uint32_t actor,
                        ActorState& state,
                        core::Tick tick,
                        const TickPowers& powers) {
  Slot& slot = slots_[state.first_slot + programs_.code[state.pc].slot];
  GroupState& group = groups_[slot.group];
  if (slot.waited < group.completed) {
    ++slot.waited;
    ++state.pc;
    return true;
  }
  block(actor, state, group, tick, powers);
  return false;
}

/// INVARIANT: an actor passed its wait for every earlier instance, so this one is number
/// `completed`.
void Engine::block(std::uint32_t actor,
                   ActorState& state,
                   GroupState& group,
                   core::Tick tick,
                   const TickPowers& powers) {
  state.since = tick;
  state.powers = powers;
  state.blocked = true;
  state.next_waiter = group.waiters;
  group.waiters = actor;
}

/// Who began to wait at a later tick of its own did not have to.
void Engine::end_wait(std::uint32_t actor,
                      const GroupState& group,
                      const Instance& instance,
                      core::Tick tick,
                      const TickPowers& powers) {
  ActorState& state = actors_[actor];
  const Instruction& instruction = programs_.code[state.pc];
  ++slots_[state.first_slot + instruction.slot].waited;
  if (tick > state.since) {
    const core::Tick until_launch = std::max<core::Tick>(0, instance.latest - state.since);
    book(actor, group.waiting, until_launch);
    book(actor, group.activity, tick - state.since - until_launch);
    result_sum_ += state.multiplicity * instruction.key * state.powers.start * powers.end;
    if (options_.trace) {
      record_wait(actor, state, instance);
    }
    if (options_.paths) {
      paths_[actor] = {path_of(instance), ++ends_known_};
      paths_[actor].times[group.activity] += tick - instance.latest;
    }
    state.since = tick;
    state.powers = powers;
  }
  state.blocked = false;
  ++state.pc;
  woken_.push_back(actor);
}

void Engine::record_wait(std::uint32_t actor, const ActorState& state, const Instance& instance) {
  const auto index = state.pc - programs_.first[problem_.actors[actor].program];
  trace_.push_back({actor, index, state.since, now_, instance.latest, instance.last_arriver, 1});
}

/// Adds a computation to what lies behind an actor.
void Engine::extend_path(std::uint32_t actor, const Instruction& instruction, core::Tick ticks) {
  if (!options_.paths) {
    return;
  }
  core::Tick by_cpu = 0;
  if (options_.launch != nullptr && !options_.launch->empty()) {
    const std::uint32_t program = problem_.actors[actor].program;
    const auto index = &instruction - &programs_.code[programs_.first[program]];
    by_cpu = slowed((*options_.launch)[program][static_cast<std::size_t>(index)],
                    actors_[actor].slowdown_ppm);
  }
  ActorPath& path = paths_[actor];
  path.times[instruction.activity] += ticks - by_cpu;
  path.times[core::Activity::launch] += by_cpu;
  path.order = ++ends_known_;
}

/// Before the slot counts it.
void Engine::record_arrival(std::uint32_t actor, const ActorState& state, core::Tick arrived) {
  if (!options_.transfers) {
    return;
  }
  const Slot& slot = slots_[state.first_slot + programs_.code[state.pc].slot];
  const auto index = state.pc - programs_.first[problem_.actors[actor].program];
  arrivals_.push_back({{actor, index, arrived, arrived}, slot.group, slot.arrived});
}

void Engine::record_completion(std::uint32_t group, core::Tick tick) {
  if (options_.transfers) {
    completions_at_.resize(groups_.size());
    completions_at_[group].push_back(tick);
  }
}

void Engine::end_actor(std::uint32_t actor) {
  actor_end_[actor] = now_;
  end_ = std::max(end_, now_);
  --live_;
  const std::uint64_t key = scramble(kEndKind, problem_.actors[actor].program);
  result_sum_ += problem_.actors[actor].multiplicity * key * powers_.end;
}

}  // namespace headway::network

// Meetings: groups without flows at which all who arrive wait. All they need are the arrivals, so
// they end as soon as the last member has told its own, ahead of the clock; what a few ranks do
// among themselves is worked off while it is in cache.
//
// From a meeting on, all members stand at one tick. If they run one program equally fast, they do
// the same until they do something else than compute and meet each other: that is worked off once
// for all of them. Ticks, digests, bookings and paths are those of the members one by one.
#include <map>
#include <span>

#include "sim/network/flow/engine.h"

namespace headway::network {

/// A group without flows at which all who arrive wait at once, so that one instance is open at a
/// time and nobody else looks at it.
void Engine::find_meetings() {
  std::vector<std::vector<bool>> waits_at_once;  // per program and slot
  for (std::uint32_t program = 0; program < programs_.slots.size(); ++program) {
    std::vector<bool>& at_once = waits_at_once.emplace_back(programs_.slots[program], true);
    const std::span<const Instruction> code = programs_.of(program);
    const auto is = [&](std::size_t i, StepCode step, std::uint32_t slot) {
      return i < code.size() && code[i].code == step && code[i].slot == slot;
    };
    for (std::size_t i = 0; i < code.size(); ++i) {
      const std::uint32_t slot = code[i].slot;
      if ((is(i, StepCode::arrive, slot) && !is(i + 1, StepCode::wait, slot)) ||
          (is(i, StepCode::wait, slot) && (i == 0 || !is(i - 1, StepCode::arrive, slot)))) {
        at_once[slot] = false;
      }
    }
  }
  std::vector<bool> meets(groups_.size(), true);
  for (std::size_t a = 0; a < actors_.size(); ++a) {
    const std::vector<bool>& at_once = waits_at_once[problem_.actors[a].program];
    for (std::size_t i = 0; i < at_once.size(); ++i) {
      const std::uint32_t group = slots_[actors_[a].first_slot + i].group;
      meets[group] = meets[group] && at_once[i] && groups_[group].flows == 0;
    }
  }
  for (Slot& slot : slots_) {
    slot.meeting = meets[slot.group];
  }
}

/// Who meets whom, where all do so by the same slot of the same program, equally fast.
void Engine::find_teams() {
  std::vector<std::vector<std::uint32_t>> members(groups_.size());
  std::vector<std::uint32_t> slot_of(groups_.size(), 0);
  std::vector<bool> alike(groups_.size(), true);
  for (std::uint32_t a = 0; a < actors_.size(); ++a) {
    const Actor& actor = problem_.actors[a];
    for (std::uint32_t i = 0; i < programs_.slots[actor.program]; ++i) {
      const Slot& slot = slots_[actors_[a].first_slot + i];
      const GroupState& group = groups_[slot.group];
      if (!slot.meeting || group.need == 1 || group.until_flows == 0) {
        continue;
      }
      std::vector<std::uint32_t>& here = members[slot.group];
      const Actor& first = problem_.actors[here.empty() ? a : here.front()];
      slot_of[slot.group] = here.empty() ? i : slot_of[slot.group];
      alike[slot.group] = alike[slot.group] && i == slot_of[slot.group] &&
                          actor.program == first.program &&
                          actor.slowdown_ppm == first.slowdown_ppm;
      here.push_back(a);
    }
  }
  team_of_group_.assign(groups_.size(), kNone);
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (!alike[g] || members[g].empty() || members[g].size() != groups_[g].need) {
      continue;
    }
    const auto [found, is_new] =
        numbers.try_emplace(members[g], static_cast<std::uint32_t>(teams_.size()));
    team_of_group_[g] = found->second;
    if (is_new) {
      add_team(members[g]);
    }
  }
}

void Engine::add_team(const std::vector<std::uint32_t>& members) {
  Crew team{0, 0, static_cast<std::uint32_t>(members.size()),
            static_cast<std::uint32_t>(team_members_.size())};
  for (const std::uint32_t actor : members) {
    team.entities += scramble(actor_entity(actor));
    team.multiplicity += actors_[actor].multiplicity;
    team_members_.push_back(actor);
  }
  teams_.push_back(team);
}

/// Arrives at a meeting, and ends it if nobody is missing. Slots do not count what they meet: one
/// instance is open at a time.
void Engine::meet(std::uint32_t actor, ActorState& state) {
  const std::uint32_t index = slots_[state.first_slot + programs_.code[state.pc].slot].group;
  GroupState& group = groups_[index];
  const bool all = join(actor, index, group.completed, ahead_.tick);
  ++state.pc;
  block(actor, state, group, ahead_.tick, ahead_.powers);
  count_ahead();
  if (!all) {
    return;
  }
  const core::Tick latest = instance(index, group.completed).latest;
  ahead_.powers = powers_at(latest);
  ahead_.tick = latest;
  group.launch_power = ahead_.powers.start;
  if (group.until_flows > 0) {
    pass_ahead(group.until_flows, scramble(group_entity(index)), 1);
    count_ahead();
  }
  ++live_;  // as a launch does
  complete(index, ahead_.tick, ahead_.powers);
  if (team_of_group_[index] != kNone) {
    run_in_step(team_of_group_[index]);
  }
}

/// What all of a team, behind a meeting, do alike: its first member does it, the others get a
/// share.
void Engine::run_in_step(std::uint32_t number) {
  const Crew& team = teams_[number];
  const std::uint32_t lead = team_members_[team.first];
  ActorState& state = actors_[lead];
  const std::uint32_t from = state.pc;
  const core::ByActivity<core::Tick> before = activity_[lead];
  for (bool in_step = true; in_step && state.pc != state.end;) {
    const Instruction& instruction = programs_.code[state.pc];
    if (instruction.code == StepCode::compute) {
      compute_ahead(lead, state, team);
    } else if (instruction.code == StepCode::arrive) {
      const std::uint32_t group = slots_[state.first_slot + instruction.slot].group;
      in_step = team_of_group_[group] == number;
      if (in_step) {
        tell_progress();
        pass_transfer(lead, state, team);
      }
    } else if (instruction.code == StepCode::wait) {
      in_step = false;
    } else {
      step(lead, state);
    }
  }
  count_ahead();
  if (state.pc != from) {
    share_steps(team, before);
  }
}

/// @param before  what was booked to the first member before it did them
void Engine::share_steps(const Crew& team, const core::ByActivity<core::Tick>& before) {
  const std::uint32_t lead = team_members_[team.first];
  const ActorState& state = actors_[lead];
  const std::uint32_t depth = programs_.depth[problem_.actors[lead].program];
  for (std::uint32_t i = team.first; i < team.first + team.actors; ++i) {
    const std::uint32_t actor = team_members_[i];
    ActorState& member = actors_[actor];
    member.since = ahead_.tick;
    member.powers = ahead_.powers;
    if (actor == lead) {
      continue;
    }
    member.pc = state.pc;
    for (std::uint32_t loop = 0; loop < depth; ++loop) {
      counters_[member.first_counter + loop] = counters_[state.first_counter + loop];
    }
    for (std::size_t a = 0; a < core::kActivities; ++a) {
      activity_[actor].values[a] += activity_[lead].values[a] - before.values[a];
    }
    if (options_.paths) {
      paths_[actor] = paths_[lead];
    }
  }
}

}  // namespace headway::network

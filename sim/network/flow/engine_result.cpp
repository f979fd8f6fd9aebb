// How a run ends: what it found, or who is stuck.
#include <algorithm>
#include <numeric>

#include "sim/core/error.h"
#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

constexpr std::size_t kNamed = 5;  // stuck actors and groups a message names

}  // namespace

std::string Engine::describe_stuck_actor(std::uint32_t actor) const {
  const ActorState& state = actors_[actor];
  const std::uint32_t program = problem_.actors[actor].program;
  const std::uint32_t step = state.pc - programs_.first[program];
  const Slot& slot = slots_[state.first_slot + programs_.code[state.pc].slot];
  const GroupState& group = groups_[slot.group];
  const Instance& waited = instances_[place_of(slot.group, group.completed)];
  return fmt::format(
      "actor {} (program {}, step {}) waits since tick {} for instance {} of group {} '{}' ({} of "
      "{} arrived)",
      actor, program, step, state.since, group.completed, slot.group,
      problem_.names[problem_.groups[slot.group].name], waited.arrivals, group.need);
}

std::string Engine::describe_open_group(std::uint32_t index) const {
  const GroupState& group = groups_[index];
  const Instance& open = instances_[place_of(index, group.completed)];
  const char* state = open.arrivals == group.need
                          ? "was launched and never completes: a link carries nothing"
                          : "was never launched";
  return fmt::format("instance {} of group {} '{}' {} ({} of {} arrived)", group.completed, index,
                     problem_.names[problem_.groups[index].name], state, open.arrivals, group.need);
}

void Engine::require_end() const {
  std::vector<std::string> stuck;
  std::size_t count = 0;
  core::Tick last = now_;  // somebody may have come here ahead of the clock
  for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
    last = std::max(last, actors_[actor].since);
    if (actors_[actor].blocked && ++count <= kNamed) {
      stuck.push_back(describe_stuck_actor(actor));
    }
  }
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const std::uint64_t number = groups_[group].completed;
    const bool open = instances_[place_of(group, number)].arrivals > 0;
    if (open && ++count <= 2 * kNamed) {
      stuck.push_back(describe_open_group(group));
    }
  }
  std::string text;
  for (const std::string& line : stuck) {
    text += "\n  " + line;
  }
  HEADWAY_CHECK(count == 0,
                "nothing more can happen at tick {}, and {} actors or transfers never end:{}", last,
                count, text);
}

RunResult Engine::result() {
  RunResult result;
  result.end = end_;
  result.actor_end = std::move(actor_end_);
  result.actor_activity = std::move(activity_);
  for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
    result.multiplicity.push_back(problem_.actors[actor].multiplicity);
    result.class_of_actor.push_back(actor);
  }
  count_link_bytes(result);
  result.trace = std::move(trace_);
  result.paths = std::move(paths_);
  result.transfers = transfers();
  if (options_.rates) {
    result.rates = std::move(rates_);
    result.class_of_flow.resize(problem_.flows.size());
    std::iota(result.class_of_flow.begin(), result.class_of_flow.end(), 0U);
  }
  result.event_digest = scramble(event_sum_);
  result.result_digest = scramble(result_sum_);
  result.events = events_;
  result.skipped_events = skipped_events_;
  result.classes = result.actors = actors_.size();
  return result;
}

/// Instances of a group complete in the order of their numbers.
std::vector<TransferEntry> Engine::transfers() const {
  std::vector<TransferEntry> list;
  list.reserve(arrivals_.size());
  for (const RecordedArrival& arrival : arrivals_) {
    list.push_back(arrival.entry);
    list.back().completed = completions_at_[arrival.group][arrival.number];
  }
  return list;
}

void Engine::count_link_bytes(RunResult& result) const {
  result.link_bytes.assign(problem_.links.size(), 0);
  for (const Flow& flow : problem_.flows) {
    const auto instances = static_cast<double>(groups_[flow.group].completed);
    for (std::uint32_t i = flow.first_use; i < flow.first_use + flow.uses; ++i) {
      const FlowOnLink& use = problem_.uses[i];
      result.link_bytes[use.link] +=
          flow.size.si() * instances * use.coefficient / problem_.coefficient_unit;
    }
  }
}

}  // namespace headway::network

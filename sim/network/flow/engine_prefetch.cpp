// What the next events of a batch will touch is fetched while those before them are worked off: a
// large run waits for memory most of the time.
#include <array>

#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

/// How many events ahead each stage is: a stage fetches what the one before it has brought the
/// address of.
constexpr std::array<std::size_t, 5> kLooks{12, 9, 6, 4, 2};

}  // namespace

/// What an actor touches when it goes on behind its wait.
void Engine::prefetch_waiter(std::uint32_t index) const {
  const GroupState& group = groups_[index];
  const std::uint32_t waiter = group.waiters;
  if (waiter == kNone) {
    return;
  }
  __builtin_prefetch(&slots_[actors_[waiter].first_slot], 1);
  __builtin_prefetch(&activity_[waiter], 1);
  if (options_.paths) {
    __builtin_prefetch(&paths_[waiter], 1);
    __builtin_prefetch(&paths_[waiter].order, 1);
    const InstancePath& path = instance_paths_[place_of(index, group.completed)];
    __builtin_prefetch(&path.times.values.front());
    __builtin_prefetch(&path.times.values.back());
  }
}

/// The timer of a group: its flows start, or whoever waits goes on.
void Engine::prefetch_group(std::uint32_t index, std::size_t stage) const {
  const GroupState& group = groups_[index];
  if (stage == 0) {
    __builtin_prefetch(&group, 1);
  } else if (group.flows == 0) {
    if (stage == 1 && group.waiters != kNone) {
      __builtin_prefetch(&actors_[group.waiters], 1);
    } else if (stage == 4) {
      prefetch_waiter(index);
    }
  } else if (stage == 1) {
    __builtin_prefetch(&flows_[group.first_flow], 1);
    __builtin_prefetch(&volumes_[group.first_flow]);
    solver_.prefetch(group.first_flow);
  } else if (stage == 2) {
    solver_.prefetch_loads(group.first_flow);
  } else if (stage == 3) {
    solver_.prefetch_links(group.first_flow);
  } else {
    solver_.prefetch_members(group.first_flow);
  }
}

/// The start or the end of a flow.
void Engine::prefetch_flow(std::uint32_t flow, std::size_t stage) const {
  const std::uint32_t index = flows_[flow].group;
  if (stage == 0) {
    __builtin_prefetch(&flows_[flow], 1);
    solver_.prefetch(flow);
  } else if (stage == 1) {
    __builtin_prefetch(&groups_[index], 1);
    solver_.prefetch_loads(flow);
  } else if (stage == 2) {
    solver_.prefetch_links(flow);
    __builtin_prefetch(&instances_[groups_[index].first_instance], 1);
    if (groups_[index].waiters != kNone) {
      __builtin_prefetch(&actors_[groups_[index].waiters], 1);
    }
  } else if (stage == 3) {
    solver_.prefetch_members(flow);
  } else {
    prefetch_waiter(index);
  }
}

/// @param index  of the event of batch_ that comes next
void Engine::prefetch(std::size_t index) const {
  for (std::size_t stage = 0; stage < kLooks.size(); ++stage) {
    if (index + kLooks[stage] >= batch_.size()) {
      continue;
    }
    const std::uint32_t entity = batch_[index + kLooks[stage]];
    if (entity < first_group_) {
      if (stage == 0) {
        __builtin_prefetch(&actors_[entity], 1);
      } else if (stage == 1) {
        __builtin_prefetch(&slots_[actors_[entity].first_slot], 1);
      }
    } else if (entity < first_flow_) {
      prefetch_group(entity - first_group_, stage);
    } else if (entity < change_entity_) {
      prefetch_flow(entity - first_flow_, stage);
    }
  }
}

}  // namespace headway::network

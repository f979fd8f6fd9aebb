// What the next events of a batch will touch is fetched while those before them are worked off: a
// large run waits for memory most of the time.
#include "sim/network/flow/engine.h"

namespace headway::network {
namespace {

// Events ahead at which the states themselves are fetched, what these name, and what that names.
constexpr std::size_t kFarLook = 12, kNearLook = 8, kLastLook = 4, kWaiterLook = 2;

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

/// @param index  of the event of batch_ that comes next
void Engine::prefetch(std::size_t index) const {
  if (index + kFarLook < batch_.size()) {
    const std::uint32_t entity = batch_[index + kFarLook];
    if (entity < first_group_) {
      __builtin_prefetch(&actors_[entity], 1);
    } else if (entity < first_flow_) {
      __builtin_prefetch(&groups_[entity - first_group_], 1);
    } else if (entity < change_entity_) {
      __builtin_prefetch(&flows_[entity - first_flow_], 1);
      solver_.prefetch(entity - first_flow_);
    }
  }
  if (index + kNearLook < batch_.size()) {
    const std::uint32_t entity = batch_[index + kNearLook];
    if (entity < first_group_) {
      __builtin_prefetch(&slots_[actors_[entity].first_slot], 1);
    } else if (entity < first_flow_) {
      const GroupState& group = groups_[entity - first_group_];
      if (group.flows > 0) {
        __builtin_prefetch(&flows_[group.first_flow], 1);
        __builtin_prefetch(&volumes_[group.first_flow]);
        solver_.prefetch(group.first_flow);
      } else if (group.waiters != kNone) {
        __builtin_prefetch(&actors_[group.waiters], 1);
      }
    } else if (entity < change_entity_) {
      __builtin_prefetch(&groups_[flows_[entity - first_flow_].group], 1);
      solver_.prefetch_loads(entity - first_flow_);
    }
  }
  if (index + kLastLook < batch_.size()) {
    const std::uint32_t entity = batch_[index + kLastLook];
    if (entity >= first_flow_ && entity < change_entity_) {
      const std::uint32_t group = flows_[entity - first_flow_].group;
      solver_.prefetch_links(entity - first_flow_);
      __builtin_prefetch(&instances_[groups_[group].first_instance], 1);
      if (groups_[group].waiters != kNone) {
        __builtin_prefetch(&actors_[groups_[group].waiters], 1);
      }
    } else if (entity >= first_group_ && entity < first_flow_) {
      const GroupState& group = groups_[entity - first_group_];
      if (group.flows > 0) {
        solver_.prefetch_loads(group.first_flow);
      }
    }
  }
  if (index + kWaiterLook < batch_.size()) {
    const std::uint32_t entity = batch_[index + kWaiterLook];
    if (entity >= first_flow_ && entity < change_entity_) {
      prefetch_waiter(flows_[entity - first_flow_].group);
    } else if (entity >= first_group_ && entity < first_flow_) {
      const GroupState& group = groups_[entity - first_group_];
      if (group.flows > 0) {
        solver_.prefetch_links(group.first_flow);
      } else {
        prefetch_waiter(entity - first_group_);
      }
    }
  }
}

}  // namespace headway::network

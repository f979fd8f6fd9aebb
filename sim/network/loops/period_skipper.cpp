#include "sim/network/loops/period_skipper.h"

#include <algorithm>
#include <limits>

#include "sim/network/flow/digest.h"

namespace headway::network {

void PeriodSkipper::at_iteration() {
  ++iterations_;
  if (has_reference_ && engine_.now_ > reference_.now) {
    period_ = engine_.now_ - reference_.now;
    const bool same = repeats();
    if (same && !paths_repeat()) {
      remember();  // the next period is to follow this one
      return;
    }
    const std::int64_t periods = same ? periods_left() : 0;
    if (periods > 0) {
      jump(periods);
      has_reference_ = false;
    }
  }
  if (iterations_ >= next_reference_) {
    next_reference_ = 2 * iterations_;
    remember();
  }
}

void PeriodSkipper::remember() {
  const Engine& e = engine_;
  reference_ = {e.now_,         e.actors_,          e.slots_,
                e.counters_,    e.groups_,          e.instances_,
                e.moving_,      e.seats_of_flows(), e.queue_.due(e.change_entity_),
                e.activity_,    current_paths(),    e.live_,
                e.next_change_, e.events_,          e.event_sum_,
                e.result_sum_};
  has_reference_ = true;
}

std::vector<core::ByActivity<core::Tick>> PeriodSkipper::current_paths() const {
  std::vector<core::ByActivity<core::Tick>> paths;
  if (!engine_.options_.paths) {
    return paths;
  }
  for (const ActorPath& path : engine_.paths_) {
    paths.push_back(path.times);
  }
  for (std::uint32_t g = 0; g < engine_.groups_.size(); ++g) {
    const Engine::GroupState& group = engine_.groups_[g];
    for (std::uint64_t i = 0; i < group.room; ++i) {
      const Engine::Instance& instance = engine_.instance(g, group.completed + i);
      if (instance.arrivals > 0) {
        paths.push_back(engine_.path_of(instance));
      }
    }
  }
  return paths;
}

bool PeriodSkipper::paths_repeat() {
  auto growth = current_paths();
  for (std::size_t p = 0; p < growth.size(); ++p) {
    for (std::size_t i = 0; i < core::kActivities; ++i) {
      growth[p].values[i] -= reference_.paths[p].values[i];
    }
  }
  const bool follows = grown_until_ == reference_.now && growth == growth_;
  growth_ = std::move(growth);
  grown_until_ = engine_.now_;
  return follows || growth_.empty();
}

bool PeriodSkipper::repeats() const {
  return engine_.live_ == reference_.live && engine_.next_change_ == reference_.next_change &&
         engine_.instances_.size() == reference_.instances.size() && counters_repeat() &&
         actors_repeat() && due_repeats() && slots_repeat() && groups_repeat() && flows_repeat();
}

bool PeriodSkipper::actors_repeat() const {
  for (std::size_t a = 0; a < engine_.actors_.size(); ++a) {
    const Engine::ActorState& now = engine_.actors_[a];
    const Engine::ActorState& before = reference_.actors[a];
    if (now.pc != before.pc || now.blocked != before.blocked || now.ahead != before.ahead ||
        (now.pc != now.end && !steady(before.since, now.since))) {
      return false;
    }
  }
  return true;
}

/// Counters of outermost loops may have fallen; inner ones are part of the state.
bool PeriodSkipper::counters_repeat() const {
  for (std::size_t a = 0; a < engine_.actors_.size(); ++a) {
    const std::uint32_t first = engine_.actors_[a].first_counter;
    const std::uint32_t depth = engine_.programs_.depth[engine_.problem_.actors[a].program];
    for (std::uint32_t i = 1; i < depth; ++i) {
      if (engine_.counters_[first + i] != reference_.counters[first + i]) {
        return false;
      }
    }
    if (depth > 0 && engine_.counters_[first] > reference_.counters[first]) {
      return false;
    }
  }
  return true;
}

/// Counts either keep their distance to the group's completed instances or stand still: a slot that
/// only waits never arrives, and one that stands still while its group goes on is not used in this
/// loop.
bool PeriodSkipper::slots_repeat() const {
  for (std::size_t s = 0; s < engine_.slots_.size(); ++s) {
    const Engine::Slot& now = engine_.slots_[s];
    const Engine::Slot& before = reference_.slots[s];
    const std::uint64_t growth =
        engine_.groups_[now.group].completed - reference_.groups[now.group].completed;
    const std::uint64_t arrived = now.arrived - before.arrived;
    const std::uint64_t waited = now.waited - before.waited;
    if ((arrived != growth && arrived != 0) || (waited != growth && waited != 0)) {
      return false;
    }
  }
  return true;
}

bool PeriodSkipper::groups_repeat() const {
  const std::uint64_t shift = tick_powers(period_).start;
  for (std::uint32_t g = 0; g < engine_.groups_.size(); ++g) {
    const Engine::GroupState& now = engine_.groups_[g];
    const Engine::GroupState& before = reference_.groups[g];
    if (now.flows_left != before.flows_left || !instances_repeat(g)) {
      return false;
    }
    const bool in_flight = engine_.instance(g, now.completed).arrivals == now.need;
    const bool launch_steady =
        now.launch_power == before.launch_power * shift || now.launch_power == before.launch_power;
    if (in_flight && !launch_steady) {
      return false;
    }
  }
  return true;
}

bool PeriodSkipper::instances_repeat(std::uint32_t group) const {
  const std::uint64_t room = engine_.groups_[group].room;  // nothing grew
  for (std::uint64_t i = 0; i < room; ++i) {
    const Engine::Instance& now = engine_.instance(group, engine_.groups_[group].completed + i);
    const Engine::Instance& before =
        reference_.instances[reference_.groups[group].first_instance +
                             ((reference_.groups[group].completed + i) & (room - 1))];
    if (now.arrivals != before.arrivals ||
        (now.arrivals > 0 && !steady(before.latest, now.latest))) {
      return false;
    }
  }
  return true;
}

const MovingFlow* PeriodSkipper::moved_before(const MovingFlow& now) const {
  const std::uint32_t seat = reference_.seats[now.flow];
  return seat == Engine::kNone ? nullptr : &reference_.moving[seat];
}

/// As many move, and each as it did.
bool PeriodSkipper::flows_repeat() const {
  const std::uint64_t shift = tick_powers(period_).start;
  const auto count = [](const LargeVector<MovingFlow>& moving) {
    return std::count_if(moving.begin(), moving.end(),
                         [](const auto& flow) { return flow.flow != Engine::kNone; });
  };
  if (count(engine_.moving_) != count(reference_.moving)) {
    return false;
  }
  return std::all_of(engine_.moving_.begin(), engine_.moving_.end(), [&](const auto& now) {
    if (now.flow == Engine::kNone) {
      return true;
    }
    const MovingFlow* const before = moved_before(now);
    return before != nullptr && now.rate == before->rate && now.left == before->left &&
           (now.started == before->started * shift || now.started == before->started) &&
           (now.rate == 0 || moved(before->anchor, now.anchor));
  });
}

bool PeriodSkipper::due_repeats() const {
  const std::vector<core::Tick> due = engine_.queue_.due(engine_.change_entity_);
  return std::equal(
      due.begin(), due.end(), reference_.due.begin(), [this](core::Tick now, core::Tick before) {
        return now == TickQueue::kNotDue ? before == now
                                         : before != TickQueue::kNotDue && moved(before, now);
      });
}

/// How often the period can be repeated before a loop ends or a link changes.
std::int64_t PeriodSkipper::periods_left() const {
  std::int64_t periods =
      std::numeric_limits<core::Tick>::max() / period_ - engine_.now_ / period_ - 1;
  for (std::size_t a = 0; a < engine_.actors_.size(); ++a) {
    const std::uint32_t first = engine_.actors_[a].first_counter;
    if (engine_.programs_.depth[engine_.problem_.actors[a].program] == 0) {
      continue;
    }
    const std::int64_t now = engine_.counters_[first];
    const std::int64_t fell = reference_.counters[first] - now;
    if (fell > 0) {
      periods = std::min(periods, (now - 1) / fell);
    }
  }
  if (engine_.change_due_ != Engine::kNever) {
    periods = std::min(periods, (engine_.change_due_ - engine_.now_ - 1) / period_);
  }
  return periods;
}

void PeriodSkipper::jump(std::int64_t periods) {
  jump_sums(periods);
  jump_actors(periods);
  jump_groups(periods);
  jump_flows(periods);
  jump_paths(periods);
  const core::Tick shift = periods * period_;
  TickQueue& queue = engine_.queue_;
  const core::Tick change = engine_.change_due_;
  if (change != Engine::kNever) {
    queue.cancel(engine_.change_place_);
  }
  queue.postpone_all(shift);
  if (change != Engine::kNever) {
    engine_.schedule_change(change);
  }
  engine_.begin_tick(engine_.now_ + shift);
}

void PeriodSkipper::jump_sums(std::int64_t periods) {
  const TickPowers period = tick_powers(period_);
  const auto repeat = [periods](std::uint64_t& sum, std::uint64_t before, std::uint64_t factor) {
    sum += (sum - before) * factor * geometric_sum(factor, periods);
  };
  repeat(engine_.event_sum_, reference_.event_sum, period.start);
  repeat(engine_.result_sum_, reference_.result_sum, period.start * period.end);
  engine_.skipped_events_ +=
      (engine_.events_ - reference_.events) * static_cast<std::uint64_t>(periods);
  for (std::size_t a = 0; a < engine_.activity_.size(); ++a) {
    for (std::size_t i = 0; i < core::kActivities; ++i) {
      core::Tick& now = engine_.activity_[a].values[i];
      now += (now - reference_.activity[a].values[i]) * periods;
    }
  }
}

/// After the groups, whose open instances then stand where they stay.
void PeriodSkipper::jump_paths(std::int64_t periods) {
  std::size_t next = 0;
  const auto grow = [&](core::ByActivity<core::Tick>& path) {
    const auto& growth = growth_[next++];
    for (std::size_t i = 0; i < core::kActivities; ++i) {
      path.values[i] += growth.values[i] * periods;
    }
  };
  for (ActorPath& path : engine_.paths_) {
    grow(path.times);
  }
  for (std::uint32_t g = 0; g < engine_.groups_.size() && next < growth_.size(); ++g) {
    const Engine::GroupState& group = engine_.groups_[g];
    for (std::uint64_t i = 0; i < group.room; ++i) {
      const Engine::Instance& instance = engine_.instance(g, group.completed + i);
      if (instance.arrivals > 0) {
        grow(engine_.path_of(instance));
      }
    }
  }
}

void PeriodSkipper::jump_actors(std::int64_t periods) {
  const core::Tick shift = periods * period_;
  const TickPowers powers = tick_powers(shift);
  for (std::size_t a = 0; a < engine_.actors_.size(); ++a) {
    Engine::ActorState& now = engine_.actors_[a];
    if (moved(reference_.actors[a].since, now.since)) {
      now.since += shift;
      now.powers.start *= powers.start;
      now.powers.end *= powers.end;
    }
    if (engine_.programs_.depth[engine_.problem_.actors[a].program] > 0) {
      std::int64_t& counter = engine_.counters_[now.first_counter];
      counter -= (reference_.counters[now.first_counter] - counter) * periods;
    }
  }
  for (std::size_t s = 0; s < engine_.slots_.size(); ++s) {
    Engine::Slot& now = engine_.slots_[s];
    now.arrived +=
        (now.arrived - reference_.slots[s].arrived) * static_cast<std::uint64_t>(periods);
    now.waited += (now.waited - reference_.slots[s].waited) * static_cast<std::uint64_t>(periods);
  }
}

void PeriodSkipper::jump_groups(std::int64_t periods) {
  const core::Tick shift = periods * period_;
  const std::uint64_t power = tick_powers(shift).start;
  const std::uint64_t one = tick_powers(period_).start;
  std::vector<Engine::Instance> open;
  std::vector<core::ByActivity<core::Tick>> paths;  // behind them
  for (std::uint32_t g = 0; g < engine_.groups_.size(); ++g) {
    Engine::GroupState& now = engine_.groups_[g];
    const Engine::GroupState& before = reference_.groups[g];
    now.launch_power *= now.launch_power == before.launch_power * one ? power : 1;
    const std::uint64_t room = now.room;
    open.resize(room);
    paths.resize(engine_.options_.paths ? room : 0);
    for (std::uint64_t i = 0; i < room; ++i) {
      open[i] = engine_.instance(g, now.completed + i);
      if (engine_.options_.paths) {
        paths[i] = engine_.path_of(engine_.instance(g, now.completed + i));
      }
      const Engine::Instance& then =
          reference_.instances[before.first_instance + ((before.completed + i) & (room - 1))];
      open[i].latest += moved(then.latest, open[i].latest) ? shift : 0;
    }
    now.completed += (now.completed - before.completed) * static_cast<std::uint64_t>(periods);
    for (std::uint64_t i = 0; i < room; ++i) {
      engine_.instance(g, now.completed + i) = open[i];
      if (engine_.options_.paths) {
        engine_.path_of(engine_.instance(g, now.completed + i)) = paths[i];
      }
    }
  }
}

void PeriodSkipper::jump_flows(std::int64_t periods) {
  const core::Tick shift = periods * period_;
  const std::uint64_t power = tick_powers(shift).start;
  const std::uint64_t one = tick_powers(period_).start;
  for (MovingFlow& now : engine_.moving_) {
    if (now.flow != Engine::kNone) {
      const MovingFlow& before = *moved_before(now);
      now.anchor += moved(before.anchor, now.anchor) ? shift : 0;
      now.started *= now.started == before.started * one ? power : 1;
    }
  }
}

}  // namespace headway::network

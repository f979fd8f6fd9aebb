#include "sim/network/flow/engine.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/network/loops/period_skipper.h"

namespace headway::network {
namespace {

constexpr std::uint64_t kGroupKind = 3;
constexpr std::uint32_t kTicksUntold = 1U << 13;   ///< some 0.03 s apart
constexpr std::size_t kAdvancesUntold = 1U << 13;  ///< likewise

CompiledPrograms checked(const Problem& problem, CompiledPrograms programs) {
  check_problem(problem, programs);
  return programs;
}

std::uint64_t group_key(const TransferGroup& group) {
  const auto kind = (std::uint64_t{group.name} << 8) | static_cast<std::uint64_t>(group.activity);
  return scramble(scramble(kGroupKind, kind), static_cast<std::uint64_t>(group.delay)) *
         group.multiplicity;
}

std::uint64_t flow_key(core::Bytes size) {
  return scramble(std::bit_cast<std::uint64_t>(size.si()));
}

}  // namespace

Engine::Engine(const Problem& problem, const RunOptions& options, std::optional<RateUnit> unit)
    : Engine(problem, options, compile_programs(problem), unit) {}

Engine::Engine(const Problem& problem,
               const RunOptions& options,
               CompiledPrograms programs,
               std::optional<RateUnit> unit)
    : problem_(problem),
      options_(options),
      programs_(checked(problem, std::move(programs))),
      unit_(unit ? *unit : rate_unit(problem)),
      solver_(fair_share_tables(problem, unit_)),
      first_group_(static_cast<std::uint32_t>(problem.actors.size())),
      first_flow_(static_cast<std::uint32_t>(problem.actors.size() + problem.groups.size())),
      change_entity_(static_cast<std::uint32_t>(first_flow_ + problem.flows.size())),
      flow_size_{core::Bytes(0), 0, flow_key(core::Bytes(0))} {
  moving_.reserve(problem.flows.size());  // addresses; pages come when they are used
  set_up_actors();
  set_up_groups();
  set_up_changes();
  choose_watched();
  if (some_without_flows_) {
    find_private_slots();
  }
}

void Engine::set_up_actors() {
  actors_.resize(problem_.actors.size());
  actor_end_.resize(actors_.size());
  activity_.resize(actors_.size());
  paths_.resize(options_.paths ? actors_.size() : 0);
  std::size_t slots = 0;
  for (const Actor& actor : problem_.actors) {
    slots += actor.groups.size();
  }
  slots_.reserve(slots);
  for (std::size_t a = 0; a < actors_.size(); ++a) {
    const Actor& actor = problem_.actors[a];
    ActorState& state = actors_[a];
    state.pc = programs_.first[actor.program];
    state.end = programs_.first[actor.program + 1];
    state.first_slot = static_cast<std::uint32_t>(slots_.size());
    state.first_counter = static_cast<std::uint32_t>(counters_.size());
    state.slowdown_ppm = static_cast<std::int32_t>(actor.slowdown_ppm);
    state.multiplicity = actor.multiplicity;
    for (const std::uint32_t group : actor.groups) {
      slots_.push_back({group, false, false, 0, 0});
    }
    counters_.resize(counters_.size() + programs_.depth[actor.program], 0);
  }
}

void Engine::set_up_groups() {
  groups_.resize(problem_.groups.size());
  instances_.resize(groups_.size());
  instance_paths_.resize(options_.paths ? instances_.size() : 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const TransferGroup& group = problem_.groups[g];
    GroupState& state = groups_[g];
    state.first_instance = static_cast<std::uint32_t>(g);
    state.need = group.need;
    state.first_flow = group.first_flow;
    state.flows = group.flows;
    state.activity = group.activity;
    state.waiting = group.between_stages() ? core::Activity::pipeline_bubble : group.activity;
    state.key = group_key(group);
    state.until_flows = group.delay;
    some_without_flows_ = some_without_flows_ || group.flows == 0;
    if (group.flows > 0) {
      const Flow* flows = problem_.flows.data() + group.first_flow;
      const bool equal = std::all_of(flows, flows + group.flows,
                                     [&](const Flow& f) { return f.latency == flows->latency; });
      state.until_flows = equal ? group.delay + flows->latency : kMixedLatency;
    }
  }
}

void Engine::set_up_changes() {
  changes_ = problem_.link_changes;
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  if (!changes_.empty()) {
    schedule_change(changes_.front().at);
  }
}

void Engine::schedule_change(core::Tick tick) {
  change_due_ = tick;
  change_place_ = queue_.schedule({change_entity_}, tick);
}

/// The first actor with the longest outermost loop shows best whether the run repeats.
void Engine::choose_watched() {
  constexpr std::int64_t kWorthwhile = 4;
  if (options_.trace || options_.transfers || options_.rates || !options_.skip_repeats) {
    return;
  }
  std::vector<std::int64_t> longest(programs_.depth.size(), 0);
  for (std::size_t p = 0; p < longest.size(); ++p) {
    for (const Instruction& instruction : programs_.of(static_cast<std::uint32_t>(p))) {
      const bool outermost = instruction.code == StepCode::loop && instruction.depth == 0;
      longest[p] = std::max(longest[p], outermost ? instruction.ticks : 0);
    }
  }
  std::int64_t best = kWorthwhile - 1;
  for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
    const std::int64_t count = longest[problem_.actors[actor].program];
    watched_ = count > best ? actor : watched_;
    best = std::max(best, count);
  }
}

const FlowSize& Engine::size_of(core::Bytes size) {
  if (flow_size_.size != size) {
    flow_size_ = {size, unit_.volume(size), flow_key(size)};
  }
  return flow_size_;
}

void Engine::begin_tick(core::Tick tick) {
  const TickPowers step = tick_powers(tick - now_);  // short steps need fewer factors
  powers_.start *= step.start;
  powers_.end *= step.end;
  now_ = tick;
}

void Engine::start() {
  started_ = true;
  begin_tick(0);
  live_ = actors_.size();
  for (std::uint32_t actor = 0; actor < actors_.size(); ++actor) {
    woken_.push_back(actor);
  }
  settle();
  solve();
}

RunResult Engine::run() {
  run_until(kNever);
  require_end();
  return result();
}

bool Engine::run_until(core::Tick stop) {
  PeriodSkipper skipper(*this);
  stop_ = stop;
  if (stop_ != kNever && changes_.empty()) {
    schedule_change(stop_);
  }
  may_run_ahead_ = stop_ == kNever && next_change_ == changes_.size();
  tells_ahead_ = may_run_ahead_ && watched_ == kNone && !options_.trace && !options_.transfers;
  if (tells_ahead_ && some_without_flows_) {
    find_meetings();
    find_teams();
  }
  if (options_.progress) {
    options_.progress(share_run());
  }
  if (!started_) {
    start();
  }
  for (std::uint32_t ticks = 1; live_ > 0 && next_tick(); ++ticks) {
    if (ticks % kTicksUntold == 0 && options_.progress) {
      options_.progress(share_run());
    }
    if (new_iteration_) {
      new_iteration_ = false;
      skipper.at_iteration();
    }
  }
  return live_ == 0;
}

/// Now and then, where much is done between two ticks; looking at all actors takes little of that.
void Engine::tell_progress() {
  if (options_.progress && ++untold_ >= std::max(kAdvancesUntold, 16 * actors_.size())) {
    untold_ = 0;
    options_.progress(share_run());
  }
}

/// The mean over all actors of how far they are in their programs.
double Engine::share_run() const {
  double sum = 0;
  for (std::size_t actor = 0; actor < actors_.size(); ++actor) {
    const std::uint32_t first = programs_.first[problem_.actors[actor].program];
    const std::uint32_t length = actors_[actor].end - first;
    sum += length == 0 ? 1 : static_cast<double>(actors_[actor].pc - first) / length;
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, actors_.size()));
}

/// Puts back what is due at the tick to pause before.
void Engine::pause(core::Tick tick) {
  for (const TickQueue::Event& event : batch_) {
    if (event.entity != change_entity_) {
      queue_.schedule(event, tick);
    }
  }
}

bool Engine::next_tick() {
  const core::Tick tick = queue_.pop(batch_);
  if (batch_.empty()) {
    return false;
  }
  if (tick == stop_) {
    pause(tick);
    return false;
  }
  if (tick != now_) {
    begin_tick(tick);
  }
  if (options_.rates) {
    record_ends();
  }
  std::uint64_t entities = 0;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    prefetch(i);
    entities += scramble(batch_[i].entity);
    apply(batch_[i]);
    settle();  // at once, while what it touches is in cache
  }
  events_ += batch_.size();
  event_sum_ += entities * powers_.start;
  solve();
  return true;
}

void Engine::apply(const TickQueue::Event& event) {
  if (event.entity < first_group_) {
    end_busy(event.entity);
  } else if (event.entity < first_flow_) {
    timer(event.entity - first_group_);
  } else if (event.entity == change_entity_) {
    apply_changes();
  } else if (event.seat == kNone) {
    start_flow(event.entity - first_flow_);
  } else {
    end_flow(event.seat);
  }
}

void Engine::apply_changes() {
  change_due_ = kNever;
  for (; next_change_ < changes_.size() && changes_[next_change_].at == now_; ++next_change_) {
    const LinkChange& change = changes_[next_change_];
    solver_.set_capacity(change.link, unit_.rate(change.capacity * problem_.coefficient_unit));
  }
  if (next_change_ < changes_.size()) {
    schedule_change(changes_[next_change_].at);
  } else if (stop_ != kNever) {
    schedule_change(stop_);
  }
}

/// Completes what is due and runs woken actors, until nothing more happens at this tick.
void Engine::settle() {
  while (true) {
    if (!completions_.empty()) {
      const std::uint32_t group = completions_.back();
      completions_.pop_back();
      complete(group, now_, powers_);
    } else if (!woken_.empty()) {
      const std::uint32_t actor = woken_.back();
      woken_.pop_back();
      advance(actor);
    } else {
      return;
    }
  }
}

void Engine::solve() {
  const auto changed = solver_.solve();
  for (const std::uint32_t seat : changed) {
    change_rate(seat);
  }
  if (options_.rates) {
    for (const std::uint32_t seat : changed) {
      record_rate(moving_[seat].flow, moving_[seat].rate);
    }
  }
  HEADWAY_CHECK(!check_solves_ || solver_.agrees_with_full_solve(),
                "incremental and full rates differ at tick {}", now_);
}

core::Tick Engine::sum(core::Tick tick, core::Tick delay) {
  if (__builtin_add_overflow(tick, delay, &tick)) {
    throw core::Infeasible(kPastTheClock);
  }
  return tick;
}

}  // namespace headway::network

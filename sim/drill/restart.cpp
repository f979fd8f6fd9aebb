// From the name of a part to a running job: who leaves, which save is read, and where a restart
// that has not helped comes to grief. Also the elastic job, which does not stop.
#include <algorithm>
#include <fmt/format.h>

#include "sim/drill/process.h"

namespace headway::drill {

using core::Context;
using core::Seconds;
using core::Tick;

namespace {

constexpr std::size_t kStart = 2, kCommunicators = 3, kLoad = 4, kStages = 6;

std::string drained(std::int64_t nodes) {
  if (nodes == 0) {
    return "GPU swapped";
  }
  return nodes == 1 ? std::string("node drained, spare in")
                    : fmt::format("{} nodes drained, spares in", nodes);
}

}  // namespace

void DrillProcess::cure(const Context& c) {
  active_ = false;
  bad_since_.reset();
  trace_.cured = c.now();
}

bool DrillProcess::swaps_gpu(FaultKind blamed) const {
  const bool gpu = blamed == FaultKind::gpu_dead || blamed == FaultKind::hbm_error ||
                   blamed == FaultKind::gpu_slow;
  return gpu && setup_.recovery.eviction == failures::Eviction::gpu;
}

std::int64_t DrillProcess::nodes_out(const Response& response) const {
  if (response.suspects.empty() || swaps_gpu(response.blamed)) {
    return 0;
  }
  if (response.right) {
    return in_.effect.nodes_lost;
  }
  switch (response.blamed) {
    case FaultKind::leaf_down:
      return setup_.nodes_per_leaf;
    case FaultKind::rack_power_loss:
      return setup_.nodes_per_rack;
    default:
      return facts_of(response.blamed).of_one_node ? 1 : 0;
  }
}

/// Neighbours fill whole units.
std::int64_t DrillProcess::nodes_evicted(const Response& response) const {
  const std::int64_t out = nodes_out(response);
  return std::min(nodes_to_leave(out), std::max(setup_.nodes, out));
}

/// The bad ones come back after their repair, the others after a test.
void DrillProcess::send_away(Context& c, const Response& response, std::int64_t evicted) {
  const std::int64_t bad = response.right ? in_.effect.nodes_lost : 0;
  const auto back = [&](std::int64_t nodes, Seconds after) {
    if (nodes > 0) {
      c.schedule(drill_ticks(after), {.kind = static_cast<std::uint32_t>(Notice::spares_back),
                                      .a = static_cast<std::uint64_t>(nodes)});
    }
  };
  back(bad, in_.effect.repair);
  back(evicted - bad, setup_.recovery.retest);
}

/// Of the nodes sent away, as many come back as spares are missing: the healthy ones after their
/// test, the bad ones after their repair, whichever is sooner first.
bool DrillProcess::waits_for_test(std::int64_t needed, std::int64_t bad) const {
  const std::int64_t healthy = needed - bad;
  const std::int64_t missing = needed - spares_;
  return setup_.recovery.retest <= in_.effect.repair ? missing <= healthy : missing > bad;
}

void DrillProcess::stop(Context& c) {
  enter(c, Mode::down, Account::restart);
  final_save_ = false;
  abandon_saves();
  dead_ = true;
  const Response response = trace_.responses.back();
  go_back(c, response);
  const Cure cured_by = facts_of(response.blamed).cure;
  if (is_mended_elsewhere(cured_by) && !response.suspects.empty()) {
    const bool way = cured_by == Cure::mend_way;
    phase_ = way ? Account::cut_off : Account::wait;
    note(
        c, Moment::recovery,
        way ? "waiting for the way between the sites" : "waiting for the operators of the storage");
    return wait_for_mending(c);
  }
  if (response.right && !(in_.effect.stale_restart && !stale_loaded_)) {
    cure(c);
  }
  const std::int64_t needed = nodes_evicted(response);
  drained_ = needed;
  replacing_ = needed > 0 || (swaps_gpu(response.blamed) && !response.suspects.empty());
  const std::int64_t had = std::max<std::int64_t>(0, spares_);
  const auto& standby = setup_.recovery.standby;
  warm_ = standby && needed > 0 && needed <= std::min<std::int64_t>(had, standby->nodes);
  in_place_ = in_place_ || warm_;
  const bool tested = waits_for_test(needed, response.right ? in_.effect.nodes_lost : 0);
  // Below zero: nodes that come back are taken at once.
  spares_ -= needed;
  if (needed > 0) {
    send_away(c, response, needed);
  }
  if (needed <= had) {
    return begin_stages(c);
  }
  phase_ = Account::wait;
  note(c, Moment::recovery,
       fmt::format("{} node{} needed, {} spare: waiting for the {}", needed,
                   needed == 1 ? " is" : "s are", had, tested ? "test of healthy ones" : "repair"));
  c.schedule(drill_ticks(tested ? setup_.recovery.retest : in_.effect.repair),
             {.kind = static_cast<std::uint32_t>(Notice::mended), .a = ++mending_});
}

DrillProcess::Restore DrillProcess::target_of(Context& c, const Response& response) {
  Restore stored{kept_.back().work, setup_.recovery.load, "the checkpoint is loaded"};
  const bool state_blamed = facts_of(response.blamed).cure == Cure::roll_back ||
                            response.blamed == FaultKind::silent_corruption;
  if (in_.effect.stale_restart && !stale_loaded_) {
    right_target_ = stored.work;
    stored.work -= *in_.fault->behind * interval_ * setup_.saves.storage_every;
    return stored;
  }
  if (stale_loaded_ && response.right) {
    stored.work = std::max(right_target_, kept_.back().work);
    return stored;
  }
  if (state_blamed && bad_since_) {
    const auto good =
        std::find_if(kept_.rbegin(), kept_.rend(), [](const Saved& s) { return !s.bad; });
    stored.work = good != kept_.rend() ? good->work : archived_;
    note(c, Moment::recovery,
         good != kept_.rend()
             ? "the last checkpoint from before the fault is found"
             : "every checkpoint kept is from after the fault: back to the archive");
    return stored;
  }
  const bool struck = in_.effect.blow == Blow::exit || in_.effect.blow == Blow::silence;
  const std::int64_t hit =
      struck && !swaps_gpu(in_.fault->kind) ? in_.effect.nodes_lost : std::int64_t{0};
  const std::int64_t out = std::max(hit, nodes_out(response));
  return restore(out == 0 ? Reach::process : (out == 1 ? Reach::node : Reach::domain));
}

void DrillProcess::go_back(Context& c, const Response& response) {
  from_ = target_of(c, response);
  const bool struck = in_.effect.blow == Blow::exit || in_.effect.blow == Blow::silence;
  const bool lost = struck && in_.effect.nodes_lost > 0 && !swaps_gpu(in_.fault->kind);
  in_place_ = setup_.recovery.in_process_start && !lost && nodes_out(response) == 0;
  throw_away(from_.work);
  restored_ = true;
}

/// Work after the target is done again; saves after it are of no use.
void DrillProcess::throw_away(Tick target) {
  const Tick thrown = work_ - target;
  trace_[Account::useful] -= thrown;
  trace_[Account::lost] += thrown;
  work_ = last_save_ = target;
  kept_.erase(
      std::remove_if(kept_.begin(), kept_.end(), [&](const Saved& s) { return s.work > target; }),
      kept_.end());
  if (kept_.empty()) {
    kept_.push_back({target, false});
  }
  for (auto& level : near_) {
    if (level.newest && *level.newest > target) {
      level.newest.reset();
    }
  }
}

void DrillProcess::begin_stages(Context& c) {
  stage_ = 0;
  next_stage(c);
}

DrillProcess::RestartPart DrillProcess::part(std::size_t stage) const {
  const auto& r = setup_.recovery;
  const bool refills = replacing_ && drained_ > 0;
  switch (stage) {
    case 0:
      return {Account::restart,
              !replacing_ ? Seconds(0)
              : warm_     ? r.standby->takeover
                          : r.replacement,
              drained(drained_)};
    case 1:
      return {Account::load, refills ? r.refill : Seconds(0), "the spare fills its data cache"};
    case kStart:
      return in_place_
                 ? RestartPart{Account::restart, r.in_process_start.value_or(r.container_start),
                               "the processes start again in place"}
                 : RestartPart{Account::restart, r.container_start, "containers start"};
    case kCommunicators:
      return {Account::restart, r.communicators, "communicators start"};
    case kLoad:
      return {Account::load, from_.load, from_.from};
    default:
      return {Account::restart, r.warm_up, "first steps, slow"};
  }
}

/// The restart comes to grief at the end of this stage.
bool DrillProcess::breaks_at(std::size_t stage) const {
  return active_ && ((stage == kStart && in_.effect.breaks == Breaks::start) ||
                     (stage == kCommunicators && in_.effect.breaks == Breaks::communicators));
}

void DrillProcess::next_stage(Context& c) {
  while (stage_ < kStages && drill_ticks(part(stage_).time) == 0 && !breaks_at(stage_)) {
    ++stage_;
  }
  if (stage_ == kStages) {
    return resume(c);
  }
  RestartPart next = part(stage_);
  if (breaks_at(kCommunicators) && stage_ == kCommunicators) {
    const auto& transport = setup_[Monitor::transport];
    const auto& watchdog = setup_[Monitor::watchdog];
    next.time +=
        transport.on ? transport.time : (watchdog.on ? watchdog.time : Seconds(kInitTimeout));
  }
  enter(c, Mode::down, next.account);
  note(c, Moment::recovery, next.text);
  c.schedule(drill_ticks(next.time), {.kind = static_cast<std::uint32_t>(Notice::stage)});
}

void DrillProcess::end_stage(Context& c) {
  if (breaks_at(stage_)) {
    return fail_restart(c, stage_ == kStart ? Symptom::start_failed : Symptom::init_failed);
  }
  const bool slow_load = active_ && stage_ == kLoad && in_.effect.storage_share < 1;
  if (slow_load && from_.load > setup_.recovery.load) {
    emit(c, Symptom::load_slow);
  }
  ++stage_;
  next_stage(c);
}

/// What a restart would have cured is not there.
void DrillProcess::fail_restart(Context& c, Symptom symptom) {
  rule_out(trace_.responses.back().blamed, true);
  ++attempt_;
  shown_.clear();
  responding_ = replacing_ = false;
  enter(c, Mode::stuck);
  emit(c, symptom);
  emit(c, Symptom::process_exit);
  show_at_once(c);
}

void DrillProcess::resume(Context& c) {
  const Response& response = trace_.responses.back();
  if (response.suspects.empty()) {
    stale_loaded_ = true;
    evidence_ = {};  // an everyday restart is a closed case
  } else if (!response.right) {
    rule_out(response.blamed, true);
  }
  ++attempt_;
  shown_.clear();
  responding_ = replacing_ = tolerated_ = false;
  slow_ = 1;
  run(c);
  if (stale_loaded_ && active_) {
    note(c, Moment::running, "the job runs, from an old checkpoint");
    emit(c, Symptom::step_went_back);
    emit(c, Symptom::loss_jump);
  } else if (active_) {
    note(c, Moment::running, "the job runs");
    strike(c);
  } else {
    note(c, Moment::running, "the job runs again, the fault is gone");
    trace_.running_again = c.now();
  }
}

/// Whole units of eviction that hold so many bad nodes.
std::int64_t DrillProcess::nodes_to_leave(std::int64_t bad) const {
  const std::int64_t unit = std::max<std::int64_t>(1, setup_.evicted);
  return (bad + unit - 1) / unit * unit;
}

std::int64_t DrillProcess::replicas_hit() const {
  const std::int64_t nodes = nodes_to_leave(in_.effect.nodes_lost);
  return std::min(setup_.replicas, (nodes * setup_.replicas + setup_.nodes - 1) / setup_.nodes);
}

/// As in the campaign: a part that takes nodes with it has stopped the job, and enough replicas are
/// left without them.
bool DrillProcess::can_go_on() const {
  const auto& elastic = setup_.recovery.elastic;
  if (!elastic || alive() || !active_ || in_.effect.nodes_lost == 0 || in_.effect.corrupts ||
      swaps_gpu(in_.fault->kind)) {
    return false;
  }
  return replicas_hit() + elastic->fewest_replicas <= setup_.replicas;
}

/// A GPU that is exchanged leaves its node where it is.
std::int64_t DrillProcess::nodes_to_move() const {
  return swaps_gpu(in_.fault->kind) ? 0 : nodes_to_leave(in_.effect.nodes_lost);
}

/// As in the campaign: spares are ready for the nodes that stopped the job, or a GPU is exchanged.
bool DrillProcess::can_move() const {
  return setup_.recovery.migration && !alive() && active_ && !in_.effect.corrupts &&
         in_.effect.nodes_lost > 0 && nodes_to_move() <= spares_;
}

void DrillProcess::move(Context& c) {
  const std::int64_t nodes = nodes_to_move();
  note(c, Moment::recovery, "a spare takes its place, the others stay where they are");
  cure(c);
  enter(c, Mode::down, Account::restart);
  throw_away(work_ - (work_ % std::max<Tick>(1, drill_ticks(setup_.step))));
  restored_ = true;  // the spare has it from another replica
  responding_ = false;
  ++attempt_;
  shown_.clear();
  spares_ -= nodes;
  trace_.running_again = c.now() + drill_ticks(setup_.recovery.migration->stall);
  c.schedule(drill_ticks(setup_.recovery.migration->stall),
             {.kind = static_cast<std::uint32_t>(Notice::reformed)});
}

void DrillProcess::go_on(Context& c) {
  const std::int64_t hit = replicas_hit();
  note(c, Moment::recovery,
       fmt::format("{} of {} replicas leave, the others go on", hit, setup_.replicas));
  cure(c);
  enter(c, Mode::down, Account::restart);
  throw_away(work_ - (work_ % std::max<Tick>(1, drill_ticks(setup_.step))));
  restored_ = true;
  responding_ = false;
  ++attempt_;
  shown_.clear();
  slow_ = static_cast<double>(setup_.replicas) / static_cast<double>(setup_.replicas - hit);
  const auto& r = setup_.recovery;
  c.schedule(drill_ticks(r.elastic->stall), {.kind = static_cast<std::uint32_t>(Notice::reformed)});
  const std::int64_t needed = nodes_to_leave(in_.effect.nodes_lost);
  const Seconds back =
      waits_for_test(needed, in_.effect.nodes_lost) ? setup_.recovery.retest : in_.effect.repair;
  const Seconds wait = needed > spares_ ? back : Seconds(0);
  spares_ -= std::min(needed, spares_);
  c.schedule(drill_ticks(wait + r.diagnosis + r.replacement + r.container_start + r.communicators +
                         r.peer_load.value_or(r.load) + r.warm_up),
             {.kind = static_cast<std::uint32_t>(Notice::prepared)});
}

void DrillProcess::join(Context& c) {
  join_due_ = false;
  enter(c, Mode::down, Account::restart);
  restored_ = true;  // all replicas but the new one hold it
  note(c, Moment::recovery, "the missing replicas join");
  c.schedule(drill_ticks(setup_.recovery.elastic->rejoin),
             {.kind = static_cast<std::uint32_t>(Notice::joined)});
}

void DrillProcess::on_joined(Context& c) {
  slow_ = 1;
  run(c);
  note(c, Moment::running, "all replicas run again, the fault is gone");
  trace_.running_again = c.now();
}

}  // namespace headway::drill

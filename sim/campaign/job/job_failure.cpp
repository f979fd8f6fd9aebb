// How a job fails and comes back: detection, blame, eviction, spares, the save it goes back to.
#include <algorithm>
#include <utility>

#include "sim/campaign/job/job_process.h"
#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;
using failures::Effect;

/// The slots a fault empties: nodes side by side in the machine.
std::vector<std::uint64_t> JobProcess::broken_slots(const failures::Strike& strike,
                                                    std::uint64_t slot) const {
  return ticks_.places.slots_from(slot, static_cast<std::uint64_t>(hazard_of(strike).nodes_lost));
}

/// What it leaves readable; a copy on a peer survives if no pair of a node and its peer is hit.
Reach JobProcess::reach_of(const failures::Strike& strike, std::uint64_t slot) const {
  const auto slots = broken_slots(strike, slot);
  if (slots.empty()) {
    return Reach::process;
  }
  return ticks_.places.peers_survive(slots) ? Reach::node : Reach::domain;
}

void JobProcess::on_strike(core::Context& context) {
  strike_ = next_strike_;
  replayed_ = next_replayed_;
  const std::uint64_t victim = sampler_.victim(strike_, nodes());
  // Lemons are known by their slot, all others are struck where they stand.
  slot_ = hazard_of(strike_).lemons ? victim : ticks_.places.slot_at(victim);
  if (replayed_) {
    ++replays_;
  } else {
    sampler_.take(strike_);
  }
  if (hits_a_gap()) {
    return replan(context);
  }
  if (move_in_time(context)) {
    return;
  }
  const auto& hazard = hazard_of(strike_);
  if (const auto latent = ticks_.latent[strike_.hazard]) {
    corrupt(context, *latent);
  } else if (failures::is_slow(hazard.effect) || hazard.effect == Effect::false_alarm) {
    slow_down(context);
  } else if (hazard.effect == Effect::cut_site) {
    cut(context);
  } else if (hazard.effect == Effect::preemption) {
    preempt(context);
  } else {
    blames_ = 0;
    fail(context, {strike_, slot_, replayed_, 0});
  }
}

void JobProcess::take(const Fault& fault) {
  strike_ = fault.strike;
  slot_ = fault.slot;
  replayed_ = fault.replayed;
}

/// The job stops, and nobody knows yet.
void JobProcess::fail(core::Context& context, const Fault& fault) {
  const Tick now = context.now();
  settle(now);
  take(fault);
  relapse_.reset();
  ++result_.interruptions[strike_.hazard];  // the stop that follows a wrong blame is one more
  if (blames_ == 0) {
    log_open(strike_, slot_, now);
    count_blast(strike_, slot_);
    handled_ = log_ != nullptr ? log_->number() : kNoIncident;
  } else if (log_ != nullptr) {
    // The same fault: its part was not replaced.
    handled_ = fault.incident;
    log_->resume(handled_);
    log_->current().resumed.reset();
  }
  moves_ = can_move();
  go_back(strike_, reach_of(strike_, slot_), moves_ || can_go_on());
  const auto detection = detection_of(strike_, blames_);
  HEADWAY_CHECK(detection.has_value(), "nothing detects hazard '{}'", hazard_of(strike_).name);
  if (log_ != nullptr) {
    log_->current().detector = detection->detector;
  }
  log_stage(Stage::detect, now);
  enter(context, Account::detect, kClock.to_ticks(detection->after), Notice::alarm);
}

void JobProcess::count_blast(const failures::Strike& strike, std::uint64_t slot) {
  const auto slots = broken_slots(strike, slot);
  if (!slots.empty()) {
    ++result_.node_failures;
    result_.replicas_hit += static_cast<std::int64_t>(ticks_.places.replicas_hit(slots));
  }
}

/// A save begins that one node writes so slowly that the others' watchdog ends the job.
void JobProcess::hang_in_save(core::Context& context) {
  const SlowPart part = *slow_.slow_drive_part();
  const Tick now = context.now();
  settle(now);
  take({part.strike, part.slot, part.replayed, part.incident});
  blames_ = part.suspicions;
  slow_.find(part.number)->suspicions += 1;
  stuck_on_ = part.number;
  ++result_.interruptions[strike_.hazard];
  count_blast(strike_, slot_);
  go_back(strike_, Reach::process);
  const auto detection = detection_of(strike_, blames_, true);
  if (log_ != nullptr) {
    handled_ = part.incident;
    log_->resume(handled_);
    log_->current().detector = detection->detector;
  }
  log_stage(Stage::detect, now);
  enter(context, Account::detect, kClock.to_ticks(detection->after), Notice::alarm);
}

/// Back to the newest save that is left, or to the step under way where peers hold the state.
void JobProcess::go_back(const failures::Strike& strike, Reach reach, bool elastic) {
  const bool in_process = reach == Reach::process;
  const Tick start = in_process ? ticks_.in_process_start : ticks_.start;
  Tick lost = 0;
  if (ticks_.peer_load || elastic) {
    set_restart(start, ticks_.peer_load.value_or(0));
    lost = roll_back(position_ / ticks_.step * ticks_.step);
  } else {
    const RestorePoint point = history_.restore(reach);
    std::int64_t bad = 0;
    while (model_.unreadable > 0 && bad < 1000 &&
           sampler_.draw(strike, Draw::unreadable, static_cast<std::uint64_t>(bad)) <
               model_.unreadable) {
      ++bad;
    }
    const Tick to = history_.earlier(point, bad, ticks_.spacing);
    if (bad > 0) {
      history_.complete(std::min(history_.stored(), to));
    }
    result_.loads += point.level + 1 == ticks_.saves.count ? bad + 1 : 0;
    // Each bad save is read before it is known to be bad.
    set_restart(start, ticks_.load[point.level] * (bad + 1));
    lost = roll_back(to);
  }
  if (log_ != nullptr && log_->has_current()) {
    log_->current().lost_work += lost;
  }
}

void JobProcess::set_restart(Tick start, Tick load) {
  restart_ = {start, ticks_.communicators, load, ticks_.warm_up};
}

std::optional<Detection> JobProcess::detection_of(const failures::Strike& strike,
                                                  std::uint64_t attempt,
                                                  bool hangs) const {
  if (hangs) {
    failures::Hazard hang = hazard_of(strike);
    hang.effect = Effect::hang;
    return first_detection(model_.recovery, hang,
                           {sampler_.draw(strike, Draw::check_phase, attempt),
                            sampler_.draw(strike, Draw::check_found, attempt), 0.5});
  }
  if (!model_.recovery.detectors) {
    return first_detection(model_.recovery, hazard_of(strike), {});
  }
  return first_detection(model_.recovery, hazard_of(strike),
                         {sampler_.draw(strike, Draw::check_phase, attempt),
                          sampler_.draw(strike, Draw::check_found, attempt),
                          sampler_.draw(strike, Draw::window_found, attempt)});
}

/// A silent failure: the job runs on, and what it saves from now on is bad.
void JobProcess::corrupt(core::Context& context, Tick latent) {
  const Tick now = context.now();
  if (!corruption_) {  // else the earlier one will send the job back further
    advance_to(now);
    history_.note(saves(), cursor_, base_);
    corruption_ = Corruption{{strike_, slot_, replayed_, 0}, history_.stored()};
    log_open(strike_, slot_, now);
    log_stage(Stage::unnoticed, now);
    if (log_ != nullptr) {
      corruption_->fault.incident = log_->number();
    }
    context.schedule(latent, message(Notice::corruption, strike_.hazard));
  }
  replan(context);
}

/// It is noticed: back to the last good save. If the job is down anyway, it restarts from there.
void JobProcess::on_corruption(core::Context& context) {
  const Corruption corruption = *corruption_;
  corruption_.reset();
  const bool was_running = running_;
  if (was_running) {
    settle(context.now());
  }
  const Tick lost = roll_back(history_.forget_after(corruption.good, ticks_.spacing));
  ++result_.interruptions[corruption.fault.strike.hazard];
  if (log_ != nullptr) {
    Incident& incident = log_->at(corruption.fault.incident);
    incident.lost_work += lost;
    incident.detector = Detector::validation;
    if (!was_running) {
      incident.noticed = context.now();
      log_->end(corruption.fault.incident, context.now());
    }
  }
  const Tick load = ticks_.load[saves().count - 1];
  if (!was_running) {
    if (lost > 0 && restart_.load != load) {  // what it was to go on with is worthless
      set_restart(ticks_.start, load);
      ++result_.loads;
    }
    return;
  }
  take(corruption.fault);
  blames_ = 0;
  relapse_.reset();
  set_restart(ticks_.start, load);
  ++result_.loads;
  if (log_ != nullptr) {
    log_->resume(corruption.fault.incident);
    handled_ = corruption.fault.incident;
  }
  log_stage(Stage::detect, context.now());
  const auto detection = detection_of(strike_, 0);
  enter(context, Account::detect, kClock.to_ticks(detection->after), Notice::alarm);
}

void JobProcess::on_alarm(core::Context& context) {
  if (log_ != nullptr) {
    log_->current().noticed = context.now();
  }
  if (cut_ && cut_->state == Cut::State::ends_job) {
    if (leave_site(context)) {
      return;
    }
  } else if (moves_) {
    return move(context);
  }
  if (can_go_on()) {
    return go_on_elastically(context);
  }
  log_stage(Stage::diagnose, context.now());
  enter(context, Account::diagnose, ticks_.diagnosis, Notice::diagnosed);
}

void JobProcess::on_diagnosed(core::Context& context) {
  const bool can_be_wrong = hazard_of(strike_).nodes_lost > 0 && model_.recovery.wrong_blame > 0;
  const bool wrong =
      can_be_wrong && sampler_.draw(strike_, Draw::blame, blames_) < model_.recovery.wrong_blame;
  if (log_ != nullptr) {
    log_->leave(context.now());
    log_->current().wrong_blames += wrong ? 1 : 0;
    if (!wrong) {
      log_->current().blamed = context.now();
    }
  }
  const auto ordered = [this](const Eviction& order) { return order.slow_part == stuck_on_; };
  if (!stuck_on_ || std::none_of(orders_.begin(), orders_.end(), ordered)) {
    orders_.push_back(
        eviction_of(strike_, slot_, replayed_, wrong ? std::optional(blames_) : std::nullopt));
    if (stuck_on_ && !wrong) {
      orders_.back().slow_part = stuck_on_;
    }
  }
  if (wrong && !stuck_on_) {
    // A drive that is still slow keeps the next save, too; other faults show at the restart.
    ++blames_;
    relapse_ = Fault{strike_, slot_, replayed_, handled_};
  }
  stuck_on_.reset();
  evict(context);
}

/// The nodes that leave the job for this fault: its unit of eviction, or another one.
/// @param wrong_turn  the how many-th wrong blame of it this is, from 0; nothing: the right one
JobProcess::Eviction JobProcess::eviction_of(const failures::Strike& strike,
                                             std::uint64_t slot,
                                             bool replayed,
                                             std::optional<std::uint64_t> wrong_turn) const {
  const auto& hazard = hazard_of(strike);
  const auto& places = ticks_.places;
  Eviction order;
  order.strike = strike;
  order.replayed = replayed;
  order.incident = log_ != nullptr && log_->has_current() ? log_->number() : 0;
  const std::vector<std::uint64_t> blamed = broken_slots(strike, slot);
  if (blamed.empty()) {
    return order;
  }
  const auto unit = static_cast<std::uint64_t>(std::max<std::int64_t>(1, hazard.evicted));
  const auto leaving = [&](const std::vector<std::uint64_t>& slots) {
    return model_.recovery.evicts_replicas() ? places.groups_of(slots)
                                             : places.units_of(slots, unit);
  };
  order.slots = leaving(blamed);
  if (wrong_turn) {
    const auto other = sampler_.innocent(strike, *wrong_turn, order.slots, nodes());
    order.slots = leaving(places.units_of({other}, static_cast<std::uint64_t>(hazard.nodes_lost)));
  } else if (hazard.effect != Effect::false_alarm) {
    order.broken = blamed;
  }
  return order;
}

/// Takes out what has been blamed, and puts spares in.
void JobProcess::evict(core::Context& context) {
  bool replaces = false;
  std::vector<Eviction> orders = std::move(orders_);
  orders_.clear();
  drain_until_ = core::kEndOfTime;
  for (auto& order : orders) {
    std::erase_if(order.slots, [this](std::uint64_t slot) { return gaps_.holds(slot); });
    replaces = replaces || !order.slots.empty() || hazard_of(order.strike).swapped;
    take_out(context, order);
    if (order.slow_part) {
      forget_slow(*order.slow_part, context.now());
    }
    missing_.insert(missing_.end(), order.slots.begin(), order.slots.end());
    if (!order.slots.empty()) {
      const bool moves = model_.recovery.moves > 0 &&
                         sampler_.draw(order.strike, Draw::island, blames_) < model_.recovery.moves;
      staging_due_ = std::max(staging_due_, ticks_.refill + (moves ? ticks_.restaging : 0));
    }
  }
  if (!replaces) {
    return begin_attempt(context);
  }
  all_warm_ = !missing_.empty();
  fill_slots(context);
}

/// New nodes read their part of the data set before the job goes on.
void JobProcess::on_replaced(core::Context& context) {
  if (const Tick due = std::exchange(staging_due_, 0); due > 0) {
    log_stage(Stage::load, context.now());
    return enter(context, Account::load, due, Notice::staged);
  }
  begin_attempt(context);
}

void JobProcess::log_open(const failures::Strike& strike, std::uint64_t slot, Tick now) {
  if (log_ != nullptr) {
    const auto& hazard = hazard_of(strike);
    log_->open({.hazard = strike.hazard,
                .first_node = slot,
                .nodes_lost = hazard.nodes_lost,
                .struck = now,
                .false_alarm = hazard.effect == Effect::false_alarm});
  }
}

void JobProcess::log_stage(Stage stage, Tick now) {
  if (log_ != nullptr && log_->has_current()) {
    log_->enter(stage, now);
  }
}

/// The saves of the next `wall` ticks of the attempt, from where its cursor is.
void JobProcess::log_saves(Tick wall) {
  if (log_ == nullptr) {
    return;
  }
  for (const SaveMoment& save : saves_within(saves(), pace_, goal_, wall, cursor_)) {
    log_->add(SaveRecord{run_start_ + save.begin, run_start_ + save.end, save.level});
  }
}

/// The save that ends an attempt goes to storage, and is durable now.
void JobProcess::log_last_save(Tick now) {
  if (log_ != nullptr) {
    const Tick end = now - saves().storage().persist;
    log_->add(SaveRecord{end - saves().last_stall(cursor_.segments + 1), end, saves().count - 1});
  }
}

/// The restart of the attempt that has just been settled belongs to the incident before it.
void JobProcess::log_restart(Tick elapsed) {
  if (handled_ == kNoIncident || log_->at(handled_).resumed) {
    return;
  }
  const std::size_t current = log_->number();
  log_->resume(handled_);
  Tick begin = attempt_start_;
  Tick left = elapsed;
  for (const auto& [stage, length] :
       {std::pair{Stage::start, restart_.start},
        std::pair{Stage::communicators, restart_.communicators},
        std::pair{Stage::load, restart_.load}, std::pair{Stage::warm_up, restart_.warm_up}}) {
    const Tick spent = std::min(left, length);
    log_->add(stage, begin, begin + spent);
    begin += spent;
    left -= spent;
  }
  if (elapsed == restart_.sum() && !relapse_) {
    log_->current().resumed = begin;
  }
  log_->resume(current);
}

}  // namespace headway::campaign

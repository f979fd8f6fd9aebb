// The job and the fault: clock, books, steps and saves.
#include "sim/campaign/drill_process.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"

namespace headway::campaign {

using core::Context;
using core::Seconds;
using core::Tick;

namespace {

/// People notice a step slower than this; monitors one slower than `kLate`.
constexpr double kSlow = 1.05;
constexpr double kLate = 1.01;
/// A log is silent when this many steps are missing.
constexpr double kSilentSteps = 3;
/// Beside the last `keep` saves one a day is archived.
constexpr double kArchiveDays = 1;

}  // namespace

DrillProcess::DrillProcess(const DrillInput& input)
    : in_(input),
      setup_(*input.setup),
      interval_(drill_ticks(setup_.saves.interval)),
      work_(std::min(drill_ticks(setup_.since_save), std::max<Tick>(interval_ - 1, 0))),
      spares_(setup_.spares) {
  for (int k = setup_.saves.keep - 1; k >= 0; --k) {
    kept_.push_back({-k * interval_, false});
  }
  archived_ = -drill_ticks(Seconds(kArchiveDays * 86400 / 2));
}

void DrillProcess::start(Context& c) {
  run(c);
  if (in_.fault) {
    strike(c);
  }
}

void DrillProcess::handle(Context& c, const core::Event& e) {
  if (over_) {
    return;
  }
  switch (static_cast<Notice>(e.kind)) {
    case Notice::save_due:
      return current(e) ? begin_save(c) : void();
    case Notice::save_end:
      return current(e) ? end_save(c) : void();
    case Notice::written:
      return e.b == attempt_ ? keep(static_cast<Tick>(e.a)) : void();
    case Notice::save_late:
      return save_still_open(e) ? on_save_late(c) : void();
    case Notice::save_very_late:
      return save_still_open(e) ? emit(c, Symptom::save_slow) : void();
    case Notice::watchdog:
      return current(e) ? on_watchdog(c) : void();
    case Notice::transport:
      return current(e) ? on_transport(c) : void();
    case Notice::silent:
      return current(e) && !dead_ ? emit(c, Symptom::no_step) : void();
    case Notice::heartbeat:
      return current(e) ? alarm(c, Monitor::heartbeat, Symptom::no_step) : void();
    case Notice::slow_step:
      return e.b == attempt_ && active_ ? on_slow_step(c) : void();
    case Notice::loss:
      return e.b == attempt_ && active_ ? emit(c, loss_symptom()) : void();
    case Notice::seen:
      return on_seen(c, e);
    case Notice::healed:
      return heal(c);
    case Notice::diagnosed:
      return on_diagnosed(c);
    case Notice::mended:
      return on_mended(c);
    case Notice::stage:
      return next_stage(c);
  }
}

DrillTrace DrillProcess::finish(Tick horizon) {
  advance(horizon);
  return std::move(trace_);
}

void DrillProcess::advance(Tick now) {
  const Tick elapsed = now - mark_;
  mark_ = now;
  if (mode_ == Mode::running) {
    const Tick done = slow_ > 1 ? std::llround(static_cast<double>(elapsed) / slow_) : elapsed;
    work_ += done;
    trace_[Account::useful] += done;
    trace_[Account::degraded] += elapsed - done;
  } else {
    trace_[mode_ == Mode::saving  ? Account::checkpoint
           : mode_ == Mode::stuck ? Account::detect
                                  : phase_] += elapsed;
  }
}

void DrillProcess::enter(Context& c, Mode mode, Account phase) {
  advance(c.now());
  mode_ = mode;
  phase_ = phase;
  ++generation_;
}

bool DrillProcess::save_still_open(const core::Event& e) const {
  return e.a == save_number_ && save_open_;
}

void DrillProcess::later(Context& c, Tick delay, Notice what, std::uint64_t a) {
  const bool of_attempt = what == Notice::slow_step || what == Notice::loss ||
                          what == Notice::written || what == Notice::seen;
  if (delay < core::kEndOfTime - c.now()) {
    c.schedule(delay, {.kind = static_cast<std::uint32_t>(what),
                       .a = a,
                       .b = of_attempt ? attempt_ : generation_});
  }
}

void DrillProcess::note(const Context& c, Moment moment, std::string text) {
  trace_.timeline.push_back({c.now(), moment, {}, {}, {}, std::move(text)});
}

void DrillProcess::strike(Context& c) {
  const auto facts = facts_of(in_.fault->kind);
  note(c, Moment::fault,
       attempt_ == 0 ? fmt::format("{}: {}", core::to_word(in_.fault->kind), facts.part)
                     : std::string("the fault is still there"));
  active_ = true;
  const Effect& effect = in_.effect;
  for (const Symptom symptom : effect.at_once) {
    emit(c, symptom);
  }
  if (effect.lasts && attempt_ == 0) {
    heals_at_ = c.now() + drill_ticks(*effect.lasts);
    later(c, drill_ticks(*effect.lasts), Notice::healed);
  }
  if (effect.corrupts && attempt_ == 0) {
    bad_since_ = work_;
  }
  if (effect.corrupts && setup_[Monitor::replay].on &&
      in_.fault->kind == FaultKind::silent_corruption) {
    emit(c, Symptom::replay_differs);
  }
  if (effect.loss_after) {
    later(c, drill_ticks(*effect.loss_after), Notice::loss);
  }
  blow(c);
}

void DrillProcess::blow(Context& c) {
  switch (in_.effect.blow) {
    case Blow::none:
      if (in_.effect.slowdown > 1) {
        enter(c, mode_, phase_);
        slow_ = in_.effect.slowdown;
        run(c);
        later(c, drill_ticks(setup_.step * slow_), Notice::slow_step);
      }
      return;
    case Blow::exit:
      emit(c, Symptom::process_exit);
      return stick(c);
    case Blow::silence:
      stick(c);
      if (setup_[Monitor::transport].on) {
        later(c, drill_ticks(setup_[Monitor::transport].time), Notice::transport);
      }
      return;
    case Blow::hang:
      return stick(c);
  }
}

void DrillProcess::heal(Context& c) {
  if (!active_) {
    return;
  }
  advance(c.now());
  active_ = false;
  slow_ = 1;
  trace_.cured = c.now();
  note(c, Moment::healed, "the part recovers by itself");
  const bool alive = mode_ == Mode::stuck && !dead_ && in_.effect.blow == Blow::silence;
  if (mode_ == Mode::running || alive) {
    run(c);
    trace_.running_again = c.now();
  }
}

Symptom DrillProcess::loss_symptom() const {
  return in_.fault->kind == FaultKind::loss_spike ? Symptom::loss_jump : Symptom::loss_drift;
}

void DrillProcess::on_slow_step(Context& c) {
  if (slow_ >= kLate && in_.effect.when_slow) {
    emit(c, *in_.effect.when_slow);
  }
  if (slow_ >= kSlow) {
    emit(c, Symptom::step_slow);
  }
}

void DrillProcess::run(Context& c) {
  enter(c, Mode::running);
  dead_ = false;
  if (interval_ > 0) {
    const double left = static_cast<double>(std::max<Tick>(0, last_save_ + interval_ - work_));
    later(c, std::llround(left * slow_), Notice::save_due);
  }
}

void DrillProcess::stick(Context& c) {
  enter(c, Mode::stuck);
  arm_watchers(c, 0);
}

void DrillProcess::arm_watchers(Context& c, Tick wait_begins_in) {
  if (setup_[Monitor::watchdog].on) {
    later(c, wait_begins_in + drill_ticks(setup_[Monitor::watchdog].time), Notice::watchdog);
  }
  if (setup_[Monitor::heartbeat].on) {
    later(c, wait_begins_in + drill_ticks(setup_[Monitor::heartbeat].time), Notice::heartbeat);
  }
  later(c, wait_begins_in + drill_ticks(setup_.step * kSilentSteps), Notice::silent);
}

void DrillProcess::on_transport(Context& c) {
  dead_ = true;
  emit(c, Symptom::collective_error);
  emit(c, Symptom::process_exit);
}

void DrillProcess::on_watchdog(Context& c) {
  if (dead_) {
    return;
  }
  if (mode_ == Mode::saving) {
    save_open_ = false;
    enter(c, Mode::stuck);
  }
  dead_ = true;
  emit(c, Symptom::collective_timeout);
  emit(c, Symptom::missing_rank);
  emit(c, Symptom::process_exit);
}

Tick DrillProcess::write_time(Tick now) const {
  const auto& saves = setup_.saves;
  const Tick healthy = drill_ticks(saves.write);
  if (!active_ || (!in_.effect.drive && in_.effect.storage_share >= 1)) {
    return healthy;
  }
  if (in_.effect.storage_share < 1) {
    const Seconds client = saves.node_bytes / saves.node_rate;
    const Seconds usual = std::max(client, saves.node_bytes / saves.server_share);
    const Seconds slow =
        std::max(client, saves.node_bytes / (saves.server_share * in_.effect.storage_share));
    return drill_ticks(saves.write * (slow / usual));
  }
  const double rate = in_.effect.drive->si();
  const double until_healed = heals_at_ ? core::Clock::campaign().to_seconds(*heals_at_ - now).si()
                                        : std::numeric_limits<double>::infinity();
  const double bytes = saves.node_bytes.si();
  if (rate * until_healed >= bytes || (rate > 0 && !heals_at_)) {
    return std::max(healthy, drill_ticks(Seconds(bytes / rate)));
  }
  if (!heals_at_) {
    return core::kEndOfTime;
  }
  const double left = 1 - rate * until_healed / bytes;
  return std::max(healthy, drill_ticks(Seconds(until_healed) + saves.write * left));
}

void DrillProcess::begin_save(Context& c) {
  advance(c.now());
  if (save_open_) {  // an asynchronous one that is not durable yet: this one is left out
    last_save_ = work_;
    return run(c);
  }
  if (active_ && in_.effect.storage_full) {
    emit(c, Symptom::no_space);
    emit(c, Symptom::save_failed);
    emit(c, Symptom::process_exit);
    stick(c);
    dead_ = true;
    return;
  }
  last_save_ = work_;
  save_open_ = true;
  ++save_number_;
  const Tick healthy = drill_ticks(setup_.saves.write);
  const Tick time = write_time(c.now());
  const Tick stall = drill_ticks(setup_.saves.snapshot);
  const Tick durable = time == core::kEndOfTime ? time : stall + time;
  if (time > healthy + healthy / 50) {
    later(c, stall + healthy, Notice::save_late, save_number_);
    // The log tells how long a save took when it is over.
    later(c, setup_[Monitor::save_monitor].on ? stall + 2 * healthy : durable,
          Notice::save_very_late, save_number_);
  }
  enter(c, Mode::saving);
  if (!setup_.saves.synchronous) {
    later(c, stall, Notice::save_end);
    later(c, durable, Notice::written, static_cast<std::uint64_t>(work_));
    return;
  }
  later(c, time, Notice::save_end);
  if (in_.effect.drive && time > healthy) {
    arm_watchers(c, healthy);
  }
}

void DrillProcess::end_save(Context& c) {
  advance(c.now());
  if (setup_.saves.synchronous) {
    keep(work_);
  }
  return final_save_ ? stop(c) : run(c);
}

void DrillProcess::keep(Tick work) {
  save_open_ = false;
  kept_.push_back({work, bad_since_ && work > *bad_since_});
  while (static_cast<int>(kept_.size()) > setup_.saves.keep) {
    kept_.pop_front();
  }
}

void DrillProcess::on_save_late(Context& c) {
  emit(c, in_.effect.drive ? Symptom::writer_late : Symptom::writers_slow);
}

}  // namespace headway::campaign

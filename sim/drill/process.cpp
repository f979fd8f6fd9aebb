// The job and the fault: clock, books, steps.
#include "sim/drill/process.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/error.h"

namespace headway::drill {

using core::Context;
using core::Tick;

DrillProcess::DrillProcess(const DrillInput& input)
    : in_(input),
      setup_(*input.setup),
      interval_(drill_ticks(setup_.saves.interval)),
      work_(drill_ticks(setup_.since_save)),
      spares_(std::max<std::int64_t>(
          0, setup_.spares - (in_.fault ? places_behind(setup_, *in_.fault) : 0))) {
  if (interval_ > 0) {
    work_ = std::min(work_, interval_ - 1);
  }
  fill_history();
}

void DrillProcess::start(Context& c) {
  if (in_.probe == Probe::restart || (in_.probe == Probe::watch && in_.effect.stale_restart)) {
    return start_probe(c);
  }
  run(c);
  const Tick written = drill_ticks(setup_.saves.write);
  if (!setup_.saves.synchronous && interval_ > 0 && work_ < written && kept_.back().work == 0) {
    // The last save before the fault is still on its way.
    kept_.push_front({kept_.front().work - interval_ * setup_.saves.storage_every, false});
    kept_.pop_back();
    save_open_ = true;
    c.schedule(written - work_,
               {.kind = static_cast<std::uint32_t>(Notice::written), .a = 0, .b = save_number_});
  }
  if (in_.fault) {
    strike(c);
  }
}

/// What the fault shows after a restart that has not helped.
void DrillProcess::start_probe(Context& c) {
  active_ = true;
  dead_ = true;
  Response response;
  if (!in_.effect.stale_restart) {
    response.suspects = {{in_.fault->kind, 1}};
  }
  trace_.responses.push_back(response);
  from_ = restore(Reach::domain);
  return in_.effect.stale_restart ? resume(c) : begin_stages(c);
}

void DrillProcess::handle(Context& c, const core::Event& e) {
  switch (static_cast<Notice>(e.kind)) {
    case Notice::seen:
      return on_seen(c, e);
    case Notice::respond:
      return respond(c, static_cast<Monitor>(e.a));
    case Notice::diagnosed:
      return on_diagnosed(c);
    case Notice::mended:
      return on_mended(c, e);
    case Notice::stage:
      return end_stage(c);
    case Notice::spares_back:
      spares_ += static_cast<std::int64_t>(e.a);
      return;
    case Notice::reformed:
      return run(c);
    case Notice::prepared:
      join_due_ = true;
      return mode_ == Mode::running ? join(c) : void();
    case Notice::joined:
      return on_joined(c);
    default:
      return handle_job(c, e);
  }
}

void DrillProcess::handle_job(Context& c, const core::Event& e) {
  switch (static_cast<Notice>(e.kind)) {
    case Notice::save_due:
      return current(e) ? begin_save(c) : void();
    case Notice::save_end:
      return current(e) ? end_save(c) : void();
    case Notice::written:
      return save_open_ && e.b == save_number_ ? keep(c.now(), static_cast<Tick>(e.a)) : void();
    case Notice::near_written:
      if (auto& level = near_[e.a]; level.pending && static_cast<Tick>(e.b) == *level.pending) {
        level.newest = level.pending;
        level.pending.reset();
      }
      return;
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
    case Notice::healed:
      return heal(c);
    default:
      HEADWAY_CHECK(false, "notice {} has no handler", e.kind);
  }
}

DrillTrace DrillProcess::finish(Tick horizon) {
  advance(horizon);
  trace_.at_risk = work_ - safe_work(horizon);
  trace_.owed = owed(horizon);
  trace_[Account::useful] -= trace_.at_risk;
  trace_[Account::lost] += trace_.at_risk;
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

void DrillProcess::later(Context& c, Tick delay, Notice what, std::uint64_t a) {
  const bool of_attempt = what == Notice::slow_step || what == Notice::loss || what == Notice::seen;
  if (delay < core::kEndOfTime - c.now()) {
    c.schedule(delay, {.kind = static_cast<std::uint32_t>(what),
                       .a = a,
                       .b = of_attempt ? attempt_ : generation_});
  }
}

void DrillProcess::note(const Context& c, Moment moment, std::string text) {
  trace_.timeline.push_back({c.now(), moment, {}, {}, {}, std::move(text)});
}

void DrillProcess::show_at_once(Context& c) {
  const auto facts = facts_of(in_.fault->kind);
  note(c, Moment::fault,
       attempt_ == 0 ? fmt::format("{}: {}", core::to_word(in_.fault->kind), facts.part)
                     : std::string("the fault is still there"));
  active_ = true;
  for (const Symptom symptom : in_.effect.at_once) {
    emit(c, symptom);
  }
}

void DrillProcess::strike(Context& c) {
  show_at_once(c);
  const Effect& effect = in_.effect;
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
  if (in_.effect.blow != Blow::none) {
    abandon_saves();
  }
  switch (in_.effect.blow) {
    case Blow::none:
      if (in_.effect.slowdown > 1) {
        enter(c, mode_, phase_);
        slow_ = in_.effect.slowdown;
        run(c);
        later(c, drill_ticks(setup_.step * slow_), Notice::slow_step);
        if (slow_ > kSilentSteps) {
          later(c, drill_ticks(setup_.step * kSilentSteps), Notice::silent);
        }
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
  if (mode_ == Mode::down && phase_ == Account::cut_off) {  // nothing is left to wait for
    ++mending_;
    return begin_stages(c);
  }
  const bool goes_on = mode_ == Mode::stuck && !dead_ && in_.effect.blow == Blow::silence;
  if (mode_ == Mode::running || goes_on) {
    run(c);
    trace_.running_again = c.now();
  }
}

Symptom DrillProcess::loss_symptom() const {
  return in_.fault->kind == FaultKind::loss_spike ? Symptom::loss_jump : Symptom::loss_drift;
}

void DrillProcess::on_slow_step(Context& c) {
  if (slow_ >= kSlowForMonitors && in_.effect.when_slow) {
    emit(c, *in_.effect.when_slow);
  }
  if (slow_ >= kSlowForPeople) {
    emit(c, Symptom::step_slow);
  }
}

void DrillProcess::run(Context& c) {
  enter(c, Mode::running);
  dead_ = false;
  restored_ = false;
  silent_ = false;
  ++silences_;
  shown_.erase(Symptom::no_step);
  if (interval_ > 0) {
    const double left = static_cast<double>(std::max<Tick>(0, last_save_ + interval_ - work_));
    later(c, std::llround(std::min(left * slow_, 1e17)), Notice::save_due);
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
    abandon_saves();
    enter(c, Mode::stuck);
  }
  dead_ = true;
  emit(c, Symptom::collective_timeout);
  emit(c, Symptom::missing_rank);
  emit(c, Symptom::process_exit);
}

}  // namespace headway::drill

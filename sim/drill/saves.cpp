// The saves of a drilled job: the rhythm of their levels, what a fault does to them, what a restart
// finds.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "sim/drill/process.h"

namespace headway::drill {

using core::Context;
using core::Seconds;
using core::Tick;

/// The save before the fault stands in the middle of the rhythm of the storage.
void DrillProcess::fill_history() {
  const auto& saves = setup_.saves;
  segment_ = saves.storage_every / 2;
  const Tick stored = -(segment_ % saves.storage_every) * interval_;
  for (int k = saves.keep - 1; k >= 0; --k) {
    kept_.push_back({stored - k * interval_ * saves.storage_every, false});
  }
  for (const auto& level : saves.near) {
    near_.push_back({-(segment_ % level.every) * interval_, {}});
  }
  archived_ = std::min(kept_.front().work, -drill_ticks(saves.archive / 2));
}

Tick DrillProcess::drive_time(Tick healthy, Tick now) const {
  const double rate = in_.effect.drive->si();
  const double until_healed = heals_at_ ? core::Clock::campaign().to_seconds(*heals_at_ - now).si()
                                        : std::numeric_limits<double>::infinity();
  const double bytes = setup_.saves.node_bytes.si();
  if (rate * until_healed >= bytes || (rate > 0 && !heals_at_)) {
    const double seconds = std::min(bytes / rate, 1e11);
    return std::max(healthy, drill_ticks(Seconds(seconds)));
  }
  if (!heals_at_) {
    return core::kEndOfTime;
  }
  const double left = 1 - rate * until_healed / bytes;
  const Seconds usual = core::Clock::campaign().to_seconds(healthy);
  return std::max(healthy, drill_ticks(Seconds(until_healed) + usual * left));
}

/// Time that a transfer of all nodes takes while the storage is slow / usual time.
double DrillProcess::storage_slowness() const {
  const auto& saves = setup_.saves;
  const Seconds client = saves.node_bytes / saves.node_rate;
  const Seconds usual = std::max(client, saves.node_bytes / saves.server_share);
  return std::max(client, saves.node_bytes / (saves.server_share * in_.effect.storage_share)) /
         usual;
}

Tick DrillProcess::write_time(Tick now) const {
  const auto& saves = setup_.saves;
  const Tick healthy = drill_ticks(saves.write);
  if (active_ && in_.effect.storage_share < 1) {
    return drill_ticks(saves.write * storage_slowness());
  }
  return active_ && in_.effect.drive && saves.via_drives ? drive_time(healthy, now) : healthy;
}

void DrillProcess::begin_save(Context& c) {
  advance(c.now());
  last_save_ = work_;
  ++segment_;
  const Tick stall = save_near(c);
  if (segment_ % setup_.saves.storage_every == 0) {
    return save_to_storage(c, stall);
  }
  if (stall == 0) {
    return run(c);
  }
  storing_ = false;
  save_ends_ = c.now() + stall;
  enter(c, Mode::saving);
  later(c, stall, Notice::save_end);
}

Tick DrillProcess::save_near(Context& c) {
  const auto& levels = setup_.saves.near;
  Tick stall = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (segment_ % levels[l].every != 0) {
      continue;
    }
    if (near_[l].pending) {
      emit(c, Symptom::save_skipped);  // the storage has its own
      continue;
    }
    stall += drill_ticks(levels[l].stall);
    const Tick healthy = drill_ticks(levels[l].persist);
    const bool bad_drive = active_ && in_.effect.drive && levels[l].name == "nvme";
    const Tick time = bad_drive ? drive_time(healthy, c.now()) : healthy;
    near_[l].pending = work_;
    if (time < core::kEndOfTime - c.now() - stall) {
      c.schedule(stall + time, {.kind = static_cast<std::uint32_t>(Notice::near_written),
                                .a = l,
                                .b = static_cast<std::uint64_t>(work_)});
    }
  }
  return stall;
}

void DrillProcess::save_to_storage(Context& c, Tick stall) {
  if (active_ && in_.effect.storage_full) {
    return fail_save(c);
  }
  storing_ = !save_open_;
  if (save_open_) {
    leave_out(c);
    if (stall == 0) {
      return run(c);
    }
    save_ends_ = c.now() + stall;
    enter(c, Mode::saving);
    return later(c, stall, Notice::save_end);
  }
  save_open_ = true;
  ++save_number_;
  const bool waits = setup_.saves.synchronous;
  const Tick healthy = drill_ticks(setup_.saves.write);
  const Tick time = write_time(c.now());
  stall += drill_ticks(setup_.saves.snapshot);
  const Tick durable = time == core::kEndOfTime ? time : stall + time;
  if (static_cast<double>(time) > kLateSave * static_cast<double>(healthy)) {
    later(c, stall + healthy, Notice::save_late, save_number_);
    // The log tells how long a save took when it is over.
    later(c, setup_[Monitor::save_monitor].on ? stall + 2 * healthy : durable,
          Notice::save_very_late, save_number_);
  }
  const bool ends = durable < core::kEndOfTime - c.now();
  save_ends_ = !waits ? c.now() + stall : (ends ? c.now() + durable : core::kEndOfTime);
  enter(c, Mode::saving);
  later(c, waits ? durable : stall, Notice::save_end);
  if (!waits && ends) {
    c.schedule(durable, {.kind = static_cast<std::uint32_t>(Notice::written),
                         .a = static_cast<std::uint64_t>(work_),
                         .b = save_number_});
  }
  if (waits && in_.effect.drive && time > healthy) {
    arm_watchers(c, stall + healthy);
  }
}

void DrillProcess::fail_save(Context& c) {
  trace_.last_durable = trace_.last_durable.value_or(durable_at_);
  emit(c, Symptom::no_space);
  emit(c, Symptom::save_failed);
  emit(c, Symptom::process_exit);
  abandon_saves();
  stick(c);
  dead_ = true;
}

/// An asynchronous save is due and the one before is not durable yet.
void DrillProcess::leave_out(Context& c) {
  if (!trace_.last_durable) {
    trace_.last_durable = durable_at_;
    note(c, Moment::save,
         "saves have stopped becoming durable: what is done from now on is at risk");
  }
  emit(c, Symptom::save_skipped);
}

void DrillProcess::end_save(Context& c) {
  advance(c.now());
  if (storing_ && (setup_.saves.synchronous || final_save_)) {
    keep(c.now(), work_);
  }
  if (final_save_) {
    return stop(c);
  }
  return join_due_ ? join(c) : run(c);
}

void DrillProcess::keep(Tick now, Tick work) {
  save_open_ = false;
  durable_at_ = now;
  trace_.last_durable.reset();
  saves_since_stale_ += stale_loaded_ ? 1 : 0;
  kept_.push_back({work, bad_since_ && work > *bad_since_});
  while (static_cast<int>(kept_.size()) > setup_.saves.keep) {
    kept_.pop_front();
  }
}

/// What was being written is torn.
void DrillProcess::abandon_saves() {
  save_open_ = false;
  for (auto& level : near_) {
    level.pending.reset();
  }
}

bool DrillProcess::save_still_open(const core::Event& e) const {
  return e.a == save_number_ && save_open_;
}

void DrillProcess::on_save_late(Context& c) {
  emit(c, in_.effect.drive ? Symptom::writer_late : Symptom::writers_slow);
}

DrillProcess::Restore DrillProcess::restore(Reach reach) const {
  const auto& r = setup_.recovery;
  if (r.peer_load) {
    const Tick step = std::max<Tick>(1, drill_ticks(setup_.step));
    return {work_ - (work_ % step + step) % step, *r.peer_load, "the state is copied from peers"};
  }
  const bool slow = active_ && in_.effect.storage_share < 1;
  Restore best{kept_.back().work, slow ? r.load * storage_slowness() : r.load,
               "the checkpoint is loaded"};
  for (std::size_t l = near_.size(); l-- > 0;) {
    const auto& level = setup_.saves.near[l];
    if (level.survives >= reach && near_[l].newest && *near_[l].newest >= best.work) {
      best = {*near_[l].newest, level.load,
              fmt::format("the copy of the {} level is loaded", level.name)};
    }
  }
  return best;
}

/// One more save, asked for at the end of the drill, would become durable.
bool DrillProcess::would_close(Tick now) const {
  if (!alive() || (active_ && in_.effect.storage_full)) {
    return false;
  }
  const Tick healthy = drill_ticks(setup_.saves.write);
  const Tick time = write_time(now);
  if (setup_.saves.synchronous) {
    const auto& watchdog = setup_[Monitor::watchdog];
    return time < core::kEndOfTime &&
           (!watchdog.on || time - healthy <= drill_ticks(watchdog.time));
  }
  return time <= std::max(healthy, interval_ * setup_.saves.storage_every);
}

/// Work that counts when the drill ends: what is not durable then, and could not be made so, is of
/// no use; nor are bad numbers.
Tick DrillProcess::safe_work(Tick now) const {
  Tick safe = work_;
  if (!restored_ && !would_close(now)) {
    safe = std::min(work_, alive() ? kept_.back().work : restore(Reach::node).work);
  }
  if (active_ && in_.effect.corrupts && bad_since_) {
    safe = std::min(safe, *bad_since_);
  }
  return safe;
}

/// So that the phase of the rhythm at the end of the drill does not count.
Tick DrillProcess::owed(Tick now) const {
  if (mode_ == Mode::saving) {
    return save_ends_ < core::kEndOfTime ? std::max<Tick>(0, save_ends_ - now) : 0;
  }
  if (interval_ == 0 || mode_ != Mode::running) {
    return 0;
  }
  const auto& saves = setup_.saves;
  Seconds stall = (saves.synchronous ? saves.snapshot + saves.write : saves.snapshot) /
                  static_cast<double>(saves.storage_every);
  for (const auto& level : saves.near) {
    stall += level.stall / static_cast<double>(level.every);
  }
  const double share = static_cast<double>(work_ - last_save_) / static_cast<double>(interval_);
  return drill_ticks(stall * share);
}

}  // namespace headway::drill

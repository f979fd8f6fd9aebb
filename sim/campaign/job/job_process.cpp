#include "sim/campaign/job/job_process.h"

#include <algorithm>
#include <cmath>

#include "sim/core/durations.h"
#include "sim/core/engine/event.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

JobProcess::JobProcess(const JobModel& model,
                       const JobTicks& ticks,
                       StepTimes& times,
                       std::uint32_t trial,
                       IncidentLog* log)
    : model_(model),
      ticks_(ticks),
      log_(log),
      sampler_(model.hazards, model.seed, trial, kClock),
      slow_(model, ticks.places, times),
      spares_(
          model.recovery.spare_choice, static_cast<std::size_t>(racks_of(model)), ticks.standbys),
      shop_(model.recovery.repair_crews),
      history_(model, ticks.archive),
      gaps_(model, ticks.places),
      next_maintenance_(ticks.maintenance_every) {
  result_.interruptions.assign(model.hazards.size(), 0);
  const auto* lemons = sampler_.lemons();
  const auto initial = [&](std::int64_t spare) {
    return lemons != nullptr ? lemons->initial_spare(static_cast<std::uint64_t>(spare))
                             : failures::Node{};
  };
  const std::int64_t per_rack = model.recovery.rack_spares;
  const std::int64_t in_racks = racks_of(model) * per_rack;
  for (std::int64_t spare = 0; spare < in_racks; ++spare) {
    const auto rack = static_cast<std::size_t>(spare / per_rack);
    spares_.add(initial(spare), spares_.address_of(rack));
  }
  for (std::int64_t spare = in_racks; spare < model.spare_nodes; ++spare) {
    spares_.add(initial(spare), Spares::kAnywhere);
  }
  const bool lemons_leave = lemons != nullptr && lemons->model().evict_after > 0;
  const auto& score = model.recovery.retire_score;
  if (lemons_leave || model.recovery.retire_after > 0 || score ||
      model.recovery.spare_choice == failures::SpareChoice::fewest_failures) {
    counts_ = FailureCounts(
        nodes(), score ? std::optional(failures::RetireScore(*score, kClock)) : std::nullopt);
  }
}

core::Message JobProcess::message(Notice notice, std::uint64_t a, std::uint64_t b) {
  // The deadline comes last in its tick: what ends then still counts.
  const auto priority = notice == Notice::deadline ? core::kLastPriority : core::kNormalPriority;
  return {static_cast<std::uint32_t>(notice), priority, a, b};
}

void JobProcess::start(core::Context& context) {
  if (ticks_.wall > 0) {
    context.schedule(ticks_.wall, message(Notice::deadline));
  }
  if (ticks_.staging > 0) {
    return enter(context, Account::load, ticks_.staging, Notice::staged);
  }
  begin_attempt(context);
}

void JobProcess::handle(core::Context& context, const core::Event& event) {
  if (done_ || handle_running(context, event)) {
    return;  // repairs may end after the run
  }
  switch (static_cast<Notice>(event.kind)) {
    case Notice::alarm:
      return on_alarm(context);
    case Notice::corruption:
      return on_corruption(context);
    case Notice::diagnosed:
      return on_diagnosed(context);
    case Notice::replaced:
      return on_replaced(context);
    case Notice::maintained:
    case Notice::staged:
      return begin_attempt(context);
    case Notice::reformed:
      if (handled_ != kNoIncident) {
        log_->end(handled_, context.now());
        handled_ = kNoIncident;
      }
      return begin_attempt(context);
    case Notice::repaired:
      return on_repaired(context, event.a, event.b);
    case Notice::deadline:
      return finish(context);
    default:
      return handle_slow(context, event);
  }
}

/// Events of the attempt under way.
/// @returns whether it was one of them, perhaps of an earlier plan
bool JobProcess::handle_running(core::Context& context, const core::Event& event) {
  const auto notice = static_cast<Notice>(event.kind);
  if (notice != Notice::strike && notice != Notice::attempt_end && notice != Notice::repace &&
      notice != Notice::relapse && notice != Notice::stuck && notice != Notice::felt) {
    return false;
  }
  if (!running_ || event.b != plans_) {
    return true;  // another event ended the attempt, or changed its plan
  }
  if (notice == Notice::strike) {
    on_strike(context);
  } else if (notice == Notice::attempt_end) {
    on_attempt_end(context);
  } else if (notice == Notice::stuck) {
    hang_in_save(context);
  } else if (notice == Notice::felt) {
    on_felt(context);
  } else if (notice == Notice::relapse) {
    const Fault again = *relapse_;
    relapse_.reset();
    fail(context, again);
  } else {
    replan(context);
  }
  return true;
}

void JobProcess::handle_slow(core::Context& context, const core::Event& event) {
  switch (static_cast<Notice>(event.kind)) {
    case Notice::suspected:
      return on_suspected(context, event.a);
    case Notice::located:
      return on_located(context, event.a);
    case Notice::reconnected:
      return on_reconnected(context);
    case Notice::healed:
      return on_healed(context, event.a);
    case Notice::mended:
      return on_mended(context, event.a, event.b);
    case Notice::joined:
      return on_joined(context);
    default:
      HEADWAY_CHECK(false, "notice {} has no handler", event.kind);
  }
}

void JobProcess::begin_attempt(core::Context& context) {
  const Tick now = context.now();
  close_phase(now);
  const bool hopeless = ticks_.wall == 0 && exposed_ / model_.patience > ticks_.work;
  static const Tick century = core::Clock::campaign().to_ticks(core::Seconds(core::kCentury));
  const bool too_long = ticks_.wall == 0 && now > century;
  if (hopeless || too_long || now > kLastTick) {
    gave_up_ = hopeless ? GaveUp::no_headway : GaveUp::too_long;
    done_ = true;
    return;
  }
  if (!orders_.empty()) {
    return evict(context);
  }
  if (ticks_.maintenance_every > 0 && next_maintenance_ <= now) {
    return begin_maintenance(context);
  }
  if (waits_for_way(context)) {
    return;
  }
  running_ = true;
  attempt_start_ = now;
  run_start_ = now + restart_.sum();
  advanced_ = run_start_;
  base_ = position_;
  cursor_ = {};
  if (!model_.near.empty()) {
    // Each so many saves of the run, not of the attempt, go to storage.
    cursor_.first = position_ / ticks_.saves.interval;
    cursor_.segments = cursor_.first;
  }
  goal_ = {};
  reachable_ = false;
  drain_ = false;
  if (handled_ != kNoIncident) {
    log_->end_stage(handled_, now);
  }
  watch_misjudged(context);
  replan(context);
}

void JobProcess::begin_maintenance(core::Context& context) {
  while (next_maintenance_ <= context.now()) {
    next_maintenance_ += ticks_.maintenance_every;
  }
  set_restart(ticks_.start, ticks_.load[saves().count - 1]);
  ++result_.loads;
  handled_ = kNoIncident;
  enter(context, Account::maintenance, ticks_.maintenance_lasts, Notice::maintained);
}

const SaveTicks& JobProcess::saves() const {
  const auto drive = slow_.slow_drive();
  return drive ? ticks_.slow_drives[*drive] : ticks_.saves;
}

Pace JobProcess::pace(Tick now) {
  double slowness = slow_.slowness(now, gaps_.stages()) * gaps_.longer() * model_.starved;
  if (absent_ > 0) {
    const auto replicas = static_cast<double>(model_.replicas);
    slowness *= replicas / (replicas - static_cast<double>(absent_));
  }
  return {slowness + ticks_.tax};
}

/// Something has changed: a new goal, a new end, the next event.
void JobProcess::replan(core::Context& context) {
  const Tick now = context.now();
  advance_to(now);
  pace_ = pace(std::max(now, run_start_));
  const bool closing = reachable_ && cursor_.work(saves()) >= goal_.work && cursor_.time > 0;
  if (!closing) {
    set_goal(now);
  }
  schedule_next(context);
}

void JobProcess::set_goal(Tick now) {
  const Tick begin = std::max(now, run_start_);
  const Tick work_left = ticks_.wall > 0 ? core::kEndOfTime : ticks_.work - base_;
  Tick limit = ticks_.wall > 0 ? ticks_.wall : core::kEndOfTime;
  if (ticks_.maintenance_every > 0) {
    limit = std::min(limit, next_maintenance_);
  }
  limit = std::min(limit, drain_until_);
  reachable_ = true;
  if (drain_) {
    goal_ = {std::min(goal_now(saves(), cursor_, ticks_.grain()).work, work_left)};
    end_ = begin + time_to(saves(), cursor_, pace_, goal_);
    if (end_ <= limit) {
      return;
    }
  }
  if (work_left < core::kEndOfTime) {
    goal_ = {work_left};
    end_ = begin + time_to(saves(), cursor_, pace_, goal_);
    if (end_ <= limit) {
      return;
    }
  }
  goal_ = goal_within(saves(), cursor_, pace_, work_left, limit - begin, ticks_.grain());
  reachable_ = goal_.work < core::kEndOfTime;
  end_ = std::max(now, limit);
}

/// Time on the clock of failures: it runs with the job and with its restarts.
Tick JobProcess::exposed(Tick now) const { return exposed_ + (now - attempt_start_); }

/// Whatever comes first: a failure, the end, another time of day.
void JobProcess::schedule_next(core::Context& context) {
  const Tick now = context.now();
  ++plans_;
  const failures::Strike drawn = sampler_.next();
  const Tick until_drawn =
      drawn.exposed == core::kEndOfTime ? core::kEndOfTime : drawn.exposed - exposed(now);
  const Tick until_recorded = next_recorded(now);
  const Tick until_strike = std::min(until_drawn, until_recorded);
  const Tick until_relapse = relapse_ ? run_start_ - now : core::kEndOfTime;
  const Tick until_hang = until_stuck(now);
  const Tick until_cut = until_felt(now);
  const Tick change = slow_.next_change(now);
  const Tick until_change = change == core::kEndOfTime ? change : change - now;
  const Tick until_end = std::max<Tick>(0, end_ - now);
  const Tick until_other = std::min({until_end, until_relapse, until_hang, until_cut});
  if (until_strike < until_other && until_strike <= until_change) {
    next_replayed_ = until_recorded <= until_drawn;
    next_strike_ = next_replayed_ ? recorded_strike() : drawn;
    context.schedule(until_strike, message(Notice::strike, next_strike_.hazard, plans_));
  } else if (until_cut <= std::min({until_end, until_relapse, until_hang, until_change})) {
    context.schedule(until_cut, message(Notice::felt, 0, plans_));
  } else if (until_hang < std::min(until_end, until_relapse) && until_hang <= until_change) {
    context.schedule(until_hang, message(Notice::stuck, 0, plans_));
  } else if (until_relapse <= std::min(until_end, until_change)) {
    context.schedule(std::max<Tick>(0, until_relapse), message(Notice::relapse, 0, plans_));
  } else if (until_end <= until_change) {
    context.schedule(until_end,
                     message(Notice::attempt_end, static_cast<std::uint64_t>(position_), plans_));
  } else {
    context.schedule(until_change, message(Notice::repace, 0, plans_));
  }
}

/// Ticks until a save to storage begins that a slow drive keeps past the watchdog.
Tick JobProcess::until_stuck(Tick now) const {
  const auto drive = slow_.slow_drive();
  if (!drive || !ticks_.hangs_saves[*drive]) {
    return core::kEndOfTime;
  }
  return std::max<Tick>(0, run_start_ - now) +
         time_to_storage_save(ticks_.slow_drives[*drive], cursor_, pace_, goal_);
}

/// Ticks until the next failure of the record; one that came while the job was
/// down strikes at once.
Tick JobProcess::next_recorded(Tick now) const {
  return replays_ < ticks_.recorded.size() ? std::max<Tick>(0, ticks_.recorded[replays_].wall - now)
                                           : core::kEndOfTime;
}

failures::Strike JobProcess::recorded_strike() const {
  return {
      .exposed = core::kEndOfTime, .hazard = ticks_.recorded[replays_].hazard, .event = replays_};
}

/// Lets the cursor catch up, at the pace of the last plan.
void JobProcess::advance_to(Tick now) {
  if (now <= advanced_) {
    return;
  }
  const Tick stepped = cursor_.stepping;
  const Tick worked = cursor_.work(saves());
  log_saves(now - advanced_);
  advance(saves(), pace_, goal_, now - advanced_, cursor_);
  advanced_ = now;
  const SlowPart* slowest = slow_.slowest();
  if (log_ != nullptr && slowest != nullptr) {
    log_->at(slowest->incident).slow_time +=
        (cursor_.stepping - stepped) - (cursor_.work(saves()) - worked);
  }
}

void JobProcess::on_attempt_end(core::Context& context) {
  const Tick now = context.now();
  settle(now);
  if (reachable_) {
    history_.complete(position_);
    log_last_save(now);
    ++result_.saves;
  }
  const bool over = ticks_.wall > 0 ? now >= ticks_.wall : position_ == ticks_.work;
  if (over) {
    return finish(context);
  }
  if (drain_ || now >= drain_until_) {
    return stop_for_orders(context);
  }
  roll_back(history_.restore(Reach::domain).work);
  begin_maintenance(context);
}

/// Ends the running attempt and books what it brought; all its work counts as useful so far.
void JobProcess::settle(Tick now) {
  advance_to(now);
  const Tick elapsed = std::min(now - attempt_start_, restart_.sum());
  const Tick before_load = std::min(elapsed, restart_.start + restart_.communicators);
  const Tick load = std::min(elapsed - before_load, restart_.load);
  result_[Account::restart] += elapsed - load;
  result_[Account::load] += load;
  const Tick work = cursor_.work(saves());
  result_[Account::useful] += work;
  const Tick longer = cursor_.stepping - work;
  const Tick tax = std::min<Tick>(longer, std::llround(ticks_.tax * static_cast<double>(work)));
  // The healthy step waits for its data; what slows a step makes that wait longer, too.
  const Tick input =
      std::min<Tick>(longer - tax, std::llround((model_.starved - 1) * static_cast<double>(work)));
  result_[Account::protection] += tax;
  result_[Account::input] += input;
  result_[Account::degraded] += longer - tax - input;
  result_[Account::checkpoint] += cursor_.checkpoint;
  history_.note(saves(), cursor_, base_);
  const std::int64_t every = saves().storage().every;
  result_.saves += cursor_.segments / every - cursor_.first / every;
  position_ = base_ + work;
  exposed_ = exposed(now);
  log_restart(elapsed);
  running_ = false;
  phase_start_ = now;
}

/// Work after `to` is thrown away.
/// @returns how much
Tick JobProcess::roll_back(Tick to) {
  const Tick lost = std::max<Tick>(0, position_ - to);
  result_[Account::useful] -= lost;
  result_[Account::lost] += lost;
  position_ -= lost;
  return lost;
}

void JobProcess::enter(core::Context& context, Account account, Tick length, Notice end) {
  close_phase(context.now());
  phase_ = account;
  context.schedule(length, message(end));
}

/// Books the time since the last phase began, unless it was an attempt, which `settle` books.
void JobProcess::close_phase(Tick now) {
  if (!running_) {
    result_[phase_] += now - phase_start_;
  }
  phase_start_ = now;
}

void JobProcess::finish(core::Context& context) {
  if (running_) {
    settle(context.now());
  }
  // What is not in storage when the run ends is of no use.
  roll_back(history_.stored());
  close_phase(context.now());
  result_.wall = context.now();
  done_ = true;
}

}  // namespace headway::campaign

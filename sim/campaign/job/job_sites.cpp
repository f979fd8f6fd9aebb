// A site whose way to the others is gone: the job stands at the next exchange, and ends if nobody
// mends the way in time.
#include <algorithm>

#include "sim/campaign/job/job_process.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;

/// From now on, for as long as is drawn; a second one lengthens the first.
void JobProcess::cut(core::Context& context) {
  const Tick now = context.now();
  advance_to(now);
  log_open(strike_, slot_, now);
  log_stage(Stage::unnoticed, now);
  const double lasts =
      core::exponential_from(sampler_.draw(strike_, Draw::lasts), hazard_of(strike_).lasts->si());
  const Tick until = now + kClock.to_ticks(core::Seconds(lasts));
  const std::size_t incident = log_ != nullptr ? log_->number() : 0;
  if (cut_) {
    log_end(incident, now);
    cut_->until = std::max(cut_->until, until);
  } else {
    const Tick every = ticks_.exchange_every;
    const Tick done = base_ + cursor_.work(saves());
    const Tick due = every > 0 ? (done / every + 1) * every + ticks_.exchange_beside : done;
    cut_ = Cut{{strike_, slot_, replayed_, incident}, until, due, Cut::State::unfelt};
  }
  context.schedule(until - now, message(Notice::reconnected));
  replan(context);
}

/// Ticks until the job waits for an exchange that a cut way does not let pass.
Tick JobProcess::until_felt(Tick now) const {
  if (!cut_) {
    return core::kEndOfTime;
  }
  return std::max<Tick>(0, run_start_ - now) +
         time_to_work(saves(), cursor_, pace_, std::max<Tick>(0, cut_->due - base_));
}

/// All stand; a watchdog counts.
void JobProcess::on_felt(core::Context& context) {
  const Tick now = context.now();
  settle(now);
  take(cut_->fault);
  moves_ = false;
  blames_ = 0;
  ++result_.interruptions[strike_.hazard];
  handled_ = log_ != nullptr ? cut_->fault.incident : kNoIncident;
  if (log_ != nullptr) {
    log_->resume(handled_);
  }
  log_stage(Stage::detect, now);
  phase_ = Account::cut_off;
  cut_->state = Cut::State::stands;
  const auto detection = detection_of(strike_, 0);
  const Tick alarm = kClock.to_ticks(detection->after);
  if (now + alarm < cut_->until) {
    if (log_ != nullptr) {
      log_->current().detector = detection->detector;
    }
    cut_->state = Cut::State::ends_job;
    context.schedule(alarm, message(Notice::alarm));
  }
}

/// The watchdog has ended the job.
/// @returns whether the others go on without the site
bool JobProcess::leave_site(core::Context& context) {
  const auto& elastic = model_.recovery.elastic;
  const auto site = static_cast<std::uint64_t>(model_.replicas / model_.sites);
  const bool others_go_on =
      elastic && absent_ + site + static_cast<std::uint64_t>(elastic->fewest_replicas) <=
                     static_cast<std::uint64_t>(model_.replicas);
  go_back(strike_, Reach::process, others_go_on);
  if (!others_go_on) {
    return false;
  }
  absent_ += site;
  restart_ = {};
  log_stage(Stage::communicators, context.now());
  context.schedule(cut_->until - context.now(), message(Notice::mended, site));
  cut_.reset();
  enter(context, Account::restart, ticks_.elastic_stall, Notice::reformed);
  return true;
}

/// A job that would start again waits for the way first.
/// @returns whether it does
bool JobProcess::waits_for_way(core::Context& context) {
  if (!cut_ || (ticks_.exchange_every > 0 && cut_->state == Cut::State::unfelt)) {
    return false;
  }
  cut_->state = Cut::State::awaited;
  phase_ = Account::cut_off;
  log_stage(Stage::wait, context.now());
  return true;
}

void JobProcess::on_reconnected(core::Context& context) {
  const Tick now = context.now();
  if (!cut_ || now < cut_->until) {
    return;
  }
  const Cut over = *cut_;
  cut_.reset();
  if (over.state == Cut::State::unfelt) {
    log_end(over.fault.incident, now);
    if (running_) {
      replan(context);
    }
    return;
  }
  if (over.state == Cut::State::stands) {
    restart_ = {};  // nobody has noticed: all go on where they stood
    log_end(over.fault.incident, now);
    handled_ = kNoIncident;
    return begin_attempt(context);
  }
  if (over.state == Cut::State::awaited) {
    begin_attempt(context);
  }
}

void JobProcess::log_end(std::size_t incident, Tick now) {
  if (log_ != nullptr) {
    log_->end(incident, now);
  }
}

}  // namespace headway::campaign

// A spare takes the place of what broke, or is about to, while all others stay where they are.
#include "sim/campaign/job/job_process.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;

/// Whether there is somewhere to move to, and nothing else to be done first.
bool JobProcess::can_move() const {
  const auto& hazard = hazard_of(strike_);
  const bool false_alarm = hazard.effect == failures::Effect::false_alarm;
  if (!model_.recovery.migration || !(moves_away(hazard) || false_alarm) || !orders_.empty()) {
    return false;
  }
  const Eviction order = eviction_of(strike_, slot_, replayed_);
  return spares_suffice(order.slots);
}

/// A fault that was foreseen: the node is left at the end of a step, and no work is lost. One that
/// was foreseen in vain does nothing else.
/// @returns whether the strike is dealt with
bool JobProcess::move_in_time(core::Context& context) {
  const auto& hazard = hazard_of(strike_);
  if (!(hazard.foreseen > 0 && sampler_.draw(strike_, Draw::foreseen) < hazard.foreseen)) {
    return false;
  }
  const bool in_vain = hazard.effect == failures::Effect::false_alarm;
  if (context.now() < run_start_ || !can_move()) {
    if (in_vain) {
      replan(context);
    }
    return in_vain;
  }
  const Tick now = context.now();
  settle(now);
  blames_ = 0;
  relapse_.reset();
  ++result_.interruptions[strike_.hazard];
  log_open(strike_, slot_, now);
  handled_ = log_ != nullptr ? log_->number() : kNoIncident;
  if (log_ != nullptr) {
    log_->current().detector = Detector::notice;
    log_->current().noticed = now;
  }
  if (!in_vain) {
    count_blast(strike_, slot_);
  }
  move(context);
  return true;
}

/// The others wait for the spare's state and for communicators with it in place.
void JobProcess::move(core::Context& context) {
  moves_ = false;
  const Eviction order = eviction_of(strike_, slot_, replayed_);
  take_out(context, order);
  for (const std::uint64_t slot : order.slots) {
    put_in(context, pool_for(slot).take(context.now()), slot);
  }
  restart_ = {};
  if (log_ != nullptr) {
    log_->current().blamed = context.now();
  }
  log_stage(Stage::communicators, context.now());
  enter(context, Account::restart, ticks_.migration_stall, Notice::reformed);
  join_when_ready(context);
}

}  // namespace headway::campaign

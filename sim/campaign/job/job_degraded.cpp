// A job that runs on: with a slow part, with capacity about to be taken back, with a replica fewer.
#include <algorithm>
#include <map>

#include "sim/campaign/job/job_process.h"

namespace headway::campaign {

using core::Tick;
using failures::Draw;
using failures::Effect;

/// A part is slow from now on, or a monitor says so.
void JobProcess::slow_down(core::Context& context) {
  const Tick now = context.now();
  advance_to(now);
  const auto& hazard = hazard_of(strike_);
  log_open(strike_, slot_, now);
  log_stage(Stage::unnoticed, now);
  SlowPart& part = slow_.add(strike_, slot_);
  part.replayed = replayed_;
  if (log_ != nullptr) {
    part.incident = log_->number();
    log_->current().slowness = part.slowness;
  }
  if (hazard.lasts) {
    const double life =
        core::exponential_from(sampler_.draw(strike_, Draw::lasts), hazard.lasts->si());
    context.schedule(kClock.to_ticks(core::Seconds(life)), message(Notice::healed, part.number));
  }
  if (hazard.effect == Effect::false_alarm) {
    context.schedule(0, message(Notice::suspected, part.number));
  } else if (model_.recovery.slow_part != failures::SlowPart::keep &&
             !failures::is_of_a_way(hazard.effect)) {  // nobody replaces the way of a site
    const auto detection = detection_of(strike_, 0);
    if (detection) {
      context.schedule(kClock.to_ticks(detection->after), message(Notice::suspected, part.number));
      if (log_ != nullptr) {
        log_->current().detector = detection->detector;
      }
    }
  }
  replan(context);
}

/// A detector fires; the job runs on while people or programs look for the part.
void JobProcess::on_suspected(core::Context& context, std::uint64_t number) {
  SlowPart* part = slow_.find(number);
  if (part == nullptr) {
    return;
  }
  ++part->suspicions;
  if (log_ != nullptr) {
    Incident& incident = log_->at(part->incident);
    incident.noticed = incident.noticed.value_or(context.now());
    if (incident.false_alarm) {
      incident.detector = Detector::straggler_monitor;
    }
  }
  context.schedule(ticks_.diagnosis, message(Notice::located, number));
}

void JobProcess::on_located(core::Context& context, std::uint64_t number) {
  SlowPart* part = slow_.find(number);
  if (part == nullptr) {
    return;
  }
  const auto& hazard = hazard_of(part->strike);
  const bool wrong =
      hazard.nodes_lost > 0 && hazard.effect != Effect::false_alarm &&
      sampler_.draw(part->strike, Draw::blame, part->suspicions) < model_.recovery.wrong_blame;
  Eviction order =
      eviction_of(part->strike, part->slot, part->replayed,
                  wrong ? std::optional<std::uint64_t>(part->suspicions) : std::nullopt);
  order.incident = part->incident;
  part->misjudged = wrong;
  if (!wrong) {
    order.slow_part = number;
    part->blamed = true;
  }
  if (log_ != nullptr) {
    Incident& incident = log_->at(part->incident);
    incident.wrong_blames += wrong ? 1 : 0;
    if (!wrong) {
      incident.blamed = context.now();
    }
  }
  if (stuck_on_ == number) {
    return;  // the job is down because of it, and who looks for it then decides
  }
  orders_.push_back(order);
  if (!running_) {
    return;  // it goes before the job starts again
  }
  const bool save = model_.recovery.slow_part == failures::SlowPart::save_first;
  if (save && context.now() > run_start_) {
    drain_ = true;
    return replan(context);
  }
  settle(context.now());
  stop_for_orders(context);
}

/// Detectors start anew with the job for parts that are slow all the same.
void JobProcess::watch_misjudged(core::Context& context) {
  for (const auto& part : slow_.take_misjudged()) {
    const auto detection = detection_of(part.strike, part.suspicions);
    context.schedule(restart_.sum() + kClock.to_ticks(detection->after),
                     message(Notice::suspected, part.number));
  }
}

void JobProcess::on_healed(core::Context& context, std::uint64_t number) {
  if (slow_.find(number) == nullptr) {
    return;
  }
  if (running_) {
    advance_to(context.now());
  }
  forget_slow(number, context.now());
  if (running_) {
    replan(context);
  }
}

void JobProcess::forget_slow(std::uint64_t number, Tick now) {
  const SlowPart* part = slow_.find(number);
  if (part == nullptr) {
    return;
  }
  // One that was blamed ends with the restart without it.
  if (log_ != nullptr && !part->blamed) {
    log_->end(part->incident, now);
  }
  slow_.remove(number);
}

/// The job has stopped on purpose; what is blamed leaves it.
void JobProcess::stop_for_orders(core::Context& context) {
  relapse_.reset();
  const Eviction first = orders_.front();
  for (const auto& order : orders_) {
    ++result_.interruptions[order.strike.hazard];
    if (log_ != nullptr) {
      log_->end_stage(order.incident, context.now());
    }
  }
  if (log_ != nullptr) {
    log_->resume(first.incident);
    handled_ = first.incident;
  }
  go_back(first.strike, first.slots.empty() ? Reach::process : Reach::node);
  begin_attempt(context);
}

/// Capacity is taken back after its notice; the job saves in time if it can.
void JobProcess::preempt(core::Context& context) {
  const Tick now = context.now();
  log_open(strike_, slot_, now);
  if (log_ != nullptr) {
    log_->current().detector = Detector::notice;
    log_->current().noticed = now;
    log_->current().blamed = now;
  }
  log_stage(Stage::unnoticed, now);
  orders_.push_back(eviction_of(strike_, slot_, replayed_));
  drain_until_ = std::min(drain_until_, now + kClock.to_ticks(hazard_of(strike_).notice));
  replan(context);
}

/// Whether the job is elastic and enough replicas are left without those that the fault hit.
bool JobProcess::can_go_on() const {
  const auto& elastic = model_.recovery.elastic;
  const auto& hazard = hazard_of(strike_);
  if (!elastic || hazard.latent || !orders_.empty()) {
    return false;
  }
  if (gaps_.used()) {
    return can_go_on_unequally();
  }
  if (hazard.nodes_lost == 0) {
    return false;
  }
  const std::uint64_t hit =
      ticks_.places.replicas_hit(eviction_of(strike_, slot_, replayed_).slots);
  return absent_ + hit + static_cast<std::uint64_t>(elastic->fewest_replicas) <=
         static_cast<std::uint64_t>(model_.replicas);
}

/// The replica that lost a node leaves, the others go on.
void JobProcess::go_on_elastically(core::Context& context) {
  if (gaps_.used()) {
    return go_on_unequally(context);
  }
  const Eviction order = eviction_of(strike_, slot_, replayed_);
  const auto& places = ticks_.places;
  take_out(context, order);
  std::map<std::uint64_t, Absence> absences;  // by replica
  for (const std::uint64_t slot : order.slots) {
    absences[places.replica_of(slot)].slots.push_back(slot);
  }
  for (auto& entry : absences) {
    entry.second.replicas = places.replicas_per_node();
    absent_ += entry.second.replicas;
    awaiting_.push_back(std::move(entry.second));
  }
  restart_ = {};
  if (log_ != nullptr) {
    log_->current().blamed = context.now();
  }
  log_stage(Stage::communicators, context.now());
  enter(context, Account::restart, ticks_.elastic_stall, Notice::reformed);
  join_when_ready(context);
}

/// Spares for absent replicas; those that have all they need prepare themselves beside the job.
void JobProcess::join_when_ready(core::Context& context) {
  SparePool& spares = spares_.anywhere();
  while (!awaiting_.empty() && missing_.empty() && !moves_ &&
         spares.ready() >= awaiting_.front().slots.size()) {
    const Absence absence = awaiting_.front();
    for (const std::uint64_t slot : absence.slots) {
      put_in(context, spares.take(context.now()), slot);
    }
    awaiting_.erase(awaiting_.begin());
    context.schedule(ticks_.replacement + preparation(),
                     message(Notice::mended, absence.replicas, absence.part));
  }
}

/// What is to join gets ready beside the job.
Tick JobProcess::preparation() const {
  const Tick load = ticks_.peer_load.value_or(ticks_.load[saves().count - 1]);
  return ticks_.diagnosis + ticks_.start + ticks_.communicators + load + ticks_.warm_up;
}

/// An absent replica is ready: all stand while it joins, at once if the job is down anyway.
void JobProcess::on_mended(core::Context& context, std::uint64_t replicas, std::uint64_t part) {
  if (part > 0 && !gaps_.has(part)) {
    return;  // a GPU whose node has left meanwhile
  }
  if (!running_ || context.now() < run_start_) {
    absent_ -= replicas;
    gaps_.close(part);
    if (running_) {
      replan(context);
    }
    return;
  }
  settle(context.now());
  restart_ = {};
  joining_ += replicas;
  joining_parts_.push_back(part);
  enter(context, Account::restart, ticks_.elastic_rejoin, Notice::joined);
}

void JobProcess::on_joined(core::Context& context) {
  absent_ -= joining_;
  joining_ = 0;
  for (const std::uint64_t part : joining_parts_) {
    gaps_.close(part);
  }
  joining_parts_.clear();
  begin_attempt(context);
}

}  // namespace headway::campaign

// Who sees what, and what is done about it.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/campaign/drill_process.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Context;
using core::Seconds;
using core::Tick;

void DrillProcess::emit(Context& c, Symptom symptom) {
  if (shown_.count(symptom) != 0) {
    return;  // once an attempt
  }
  shown_.insert(symptom);
  const SymptomFacts facts = facts_of(symptom);
  auto& first = trace_.happened[static_cast<std::size_t>(symptom)];
  first = first.value_or(c.now());
  if (facts.seen_by != Monitor::flight_recorder || setup_[Monitor::flight_recorder].on) {
    trace_.timeline.push_back(
        {c.now(), Moment::symptom, facts.layer, symptom, {}, std::string(facts.text)});
  }
  const bool logged = facts.seen_by == Monitor::people || facts.seen_by == Monitor::process_exit;
  if (logged) {
    mark_visible(c.now(), symptom);
  } else if (setup_[facts.seen_by].on) {
    look(c, symptom, facts.seen_by, half_period(facts.seen_by));
  }
  if (facts.seen_by == Monitor::process_exit && setup_[Monitor::process_exit].on) {
    look(c, symptom, Monitor::process_exit, setup_[Monitor::process_exit].time);
  }
  const bool people_can =
      logged || facts.layer == StackLayer::loss || facts.layer == StackLayer::job;
  if (people_can && symptom != Symptom::replay_differs && setup_[Monitor::people].on) {
    look(c, symptom, Monitor::people, half_period(Monitor::people));
  }
}

void DrillProcess::look(Context& c, Symptom symptom, Monitor monitor, Seconds in) {
  later(c, drill_ticks(in), Notice::seen,
        static_cast<std::uint64_t>(symptom) << 8U | static_cast<std::uint64_t>(monitor));
}

void DrillProcess::mark_visible(Tick now, Symptom symptom) {
  auto& first = trace_.visible[static_cast<std::size_t>(symptom)];
  first = first.value_or(now);
  auto& evidence = evidence_[static_cast<std::size_t>(symptom)];
  evidence = evidence.value_or(now);
}

void DrillProcess::on_seen(Context& c, const core::Event& e) {
  if (e.b != attempt_ || (!active_ && mode_ == Mode::running)) {
    return;
  }
  const auto symptom = static_cast<Symptom>(e.a >> 8U);
  const auto monitor = static_cast<Monitor>(e.a & 0xffU);
  mark_visible(c.now(), symptom);
  if (monitor != Monitor::flight_recorder) {
    alarm(c, monitor, symptom);
  }
}

void DrillProcess::alarm(Context& c, Monitor monitor, Symptom symptom) {
  if (responding_) {
    return;
  }
  trace_.timeline.push_back(
      {c.now(), Moment::alarm, {}, symptom, monitor, std::string(facts_of(symptom).text)});
  responding_ = true;
  if (!in_.suspicion) {
    over_ = true;  // only the way to the alarm was asked for
    return;
  }
  respond(c, monitor);
}

bool DrillProcess::localised() const {
  for (const auto& [symptom, word] : enum_words(Symptom{})) {
    if (facts_of(symptom).names_node && evidence_[static_cast<std::size_t>(symptom)]) {
      return true;
    }
  }
  return false;
}

bool DrillProcess::cures(FaultKind blamed) const {
  const FaultKind fault = in_.fault->kind;
  const FaultFacts is = facts_of(fault);
  const FaultFacts said = facts_of(blamed);
  const bool same_part = is.part == said.part;
  const bool node_goes = is.of_one_node && said.of_one_node && localised();
  const bool rolled_back = fault == FaultKind::loss_spike && blamed == FaultKind::silent_corruption;
  return is.cure == Cure::restart || same_part || node_goes || rolled_back ||
         (is.cure == Cure::mend_storage && said.cure == Cure::mend_storage);
}

void DrillProcess::respond(Context& c, Monitor monitor) {
  Response response;
  response.at = c.now();
  response.alarm = monitor;
  response.blamed = in_.fault->kind;
  response.right = true;
  if (in_.effect.stale_restart && !stale_loaded_) {
    note(c, Moment::blame, "nothing unusual: an everyday restart");
  } else {
    response.suspects = in_.suspicion(evidence_, c.now(), ruled_out_);
    if (response.suspects.empty()) {  // everything else was tried
      response.suspects = {{in_.fault->kind, 1}};
    }
    response.blamed = response.suspects.front().kind;
    response.right = cures(response.blamed);
    note(c, Moment::blame,
         fmt::format("blamed: {} ({:.0f} %){}", facts_of(response.blamed).part,
                     100 * response.suspects.front().probability,
                     response.right ? "" : ", wrongly"));
  }
  trace_.responses.push_back(response);
  const bool runs = mode_ == Mode::running || mode_ == Mode::saving;
  if (!runs) {
    enter(c, Mode::down, Account::diagnose);
  }
  c.schedule(drill_ticks(setup_.recovery.diagnosis),
             {.kind = static_cast<std::uint32_t>(Notice::diagnosed), .b = generation_});
}

void DrillProcess::on_diagnosed(Context& c) {
  const Response& response = trace_.responses.back();
  const Cure cure = facts_of(response.blamed).cure;
  const bool alive = mode_ == Mode::running || (mode_ == Mode::saving && !dead_);
  if (cure == Cure::mend_storage && alive) {
    note(c, Moment::recovery, "the operators of the storage are called; the job runs on");
    return wait_for_mending(c);
  }
  if (!alive) {
    return stop(c);
  }
  const Tick time = write_time(c.now());
  const bool worth = !in_.effect.corrupts && !stale_loaded_ && !save_open_ &&
                     mode_ == Mode::running && !(active_ && in_.effect.storage_full) &&
                     interval_ > 0 && time < drill_ticks(setup_[Monitor::watchdog].time);
  if (!worth) {
    return stop(c);
  }
  note(c, Moment::save, "one more save, then the job stops");
  last_save_ = work_;
  final_save_ = true;
  enter(c, Mode::saving);
  if (!setup_.saves.synchronous) {
    keep(work_);
  }
  later(c, drill_ticks(setup_.saves.snapshot) + time, Notice::save_end);
}

/// A wrong blame sends people to mend something else, which takes as long as that usually does.
Seconds DrillProcess::repair_time(const Response& response) const {
  if (response.right) {
    return in_.effect.repair;
  }
  Fault blamed;
  blamed.kind = response.blamed;
  return with_defaults(blamed, setup_).repair.value_or(setup_.recovery.repair);
}

void DrillProcess::wait_for_mending(Context& c) {
  c.schedule(drill_ticks(repair_time(trace_.responses.back())),
             {.kind = static_cast<std::uint32_t>(Notice::mended)});
}

void DrillProcess::on_mended(Context& c) {
  if (trace_.responses.back().right) {
    advance(c.now());
    active_ = false;
    trace_.cured = c.now();
    note(c, Moment::recovery, "mended");
  }
  if (mode_ == Mode::down) {
    return begin_stages(c);
  }
  responding_ = false;
  if (trace_.cured) {
    trace_.running_again = c.now();
    return;
  }
  ruled_out_.insert(trace_.responses.back().blamed);
  shown_.clear();  // what still shows is noticed again
}

void DrillProcess::stop(Context& c) {
  enter(c, Mode::down, Account::restart);
  final_save_ = false;
  save_open_ = false;
  dead_ = true;
  const Response& response = trace_.responses.back();
  go_back(c, response);
  if (facts_of(response.blamed).cure == Cure::mend_storage) {
    phase_ = Account::wait;
    note(c, Moment::recovery, "waiting for the operators of the storage");
    return wait_for_mending(c);
  }
  const std::int64_t needed = nodes_needed(response);
  if (needed > spares_) {
    phase_ = Account::wait;
    const Seconds repair = repair_time(response);
    note(c, Moment::recovery,
         fmt::format("{} nodes are needed, {} spare: waiting for the repair", needed, spares_));
    c.schedule(drill_ticks(repair), {.kind = static_cast<std::uint32_t>(Notice::mended)});
    if (response.right) {
      active_ = false;
      trace_.cured = c.now();
    }
    return;
  }
  spares_ -= needed;
  replacing_ = needed > 0;
  if (response.right && !(in_.effect.stale_restart && !stale_loaded_)) {
    active_ = false;
    trace_.cured = c.now();
  }
  begin_stages(c);
}

std::int64_t DrillProcess::nodes_needed(const Response& response) const {
  if (response.suspects.empty()) {
    return 0;
  }
  if (response.right) {
    return in_.effect.nodes_lost;
  }
  return facts_of(response.blamed).of_one_node ? 1 : 0;
}

void DrillProcess::go_back(Context& c, const Response& response) {
  const bool state_blamed = facts_of(response.blamed).cure == Cure::roll_back ||
                            response.blamed == FaultKind::silent_corruption;
  Tick target = kept_.back().work;
  if (in_.effect.stale_restart && !stale_loaded_) {
    right_target_ = target;
    target -= *in_.fault->behind * interval_;
  } else if (stale_loaded_ && response.right) {
    target = std::max(right_target_, kept_.back().work);
  } else if (state_blamed && bad_since_) {
    const auto good =
        std::find_if(kept_.rbegin(), kept_.rend(), [](const Saved& s) { return !s.bad; });
    target = good != kept_.rend() ? good->work : archived_;
    note(c, Moment::recovery,
         good != kept_.rend()
             ? "the last checkpoint from before the fault is found"
             : "every checkpoint kept is from after the fault: back to the archive");
  }
  const Tick thrown_away = work_ - target;
  trace_[Account::useful] -= thrown_away;
  trace_[Account::lost] += thrown_away;
  work_ = last_save_ = target;
  kept_.erase(
      std::remove_if(kept_.begin(), kept_.end(), [&](const Saved& s) { return s.work > target; }),
      kept_.end());
  if (kept_.empty()) {
    kept_.push_back({target, false});
  }
}

void DrillProcess::begin_stages(Context& c) {
  stage_ = 0;
  next_stage(c);
}

void DrillProcess::next_stage(Context& c) {
  struct Part {
    Account account;
    Seconds time;
    const char* text;
  };
  const auto& r = setup_.recovery;
  const std::array<Part, 5> parts{
      Part{Account::restart, replacing_ ? r.replacement : Seconds(0), "node drained, spare in"},
      Part{Account::load, replacing_ ? r.refill : Seconds(0), "the spare fills its data cache"},
      Part{Account::restart, r.start, "containers and communicators start"},
      Part{Account::load, r.load, "the checkpoint is loaded"},
      Part{Account::restart, r.warm_up, "first steps, slow"}};
  while (stage_ < parts.size() && drill_ticks(parts[stage_].time) == 0) {
    ++stage_;
  }
  if (stage_ == parts.size()) {
    return resume(c);
  }
  const Part& part = parts[stage_++];
  enter(c, Mode::down, part.account);
  note(c, Moment::recovery, part.text);
  c.schedule(drill_ticks(part.time), {.kind = static_cast<std::uint32_t>(Notice::stage)});
}

void DrillProcess::resume(Context& c) {
  if (trace_.responses.back().suspects.empty()) {
    stale_loaded_ = true;
    evidence_ = {};  // an everyday restart is a closed case
  } else if (!trace_.responses.back().right) {
    ruled_out_.insert(trace_.responses.back().blamed);
  }
  ++attempt_;
  shown_.clear();
  responding_ = false;
  replacing_ = false;
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

}  // namespace headway::campaign

// Who sees what, whom it is blamed on, and what is decided.
#include <algorithm>
#include <fmt/format.h>

#include "sim/core/engine/event.h"
#include "sim/drill/process.h"

namespace headway::drill {

using core::Context;
using core::Seconds;
using core::Tick;

void DrillProcess::emit(Context& c, Symptom symptom) {
  if (symptom == Symptom::no_step) {
    silent_ = true;
  }
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
        silences_ << 16U | static_cast<std::uint64_t>(symptom) << 8U |
            static_cast<std::uint64_t>(monitor));
}

void DrillProcess::mark_visible(Tick now, Symptom symptom) {
  auto& first = trace_.visible[static_cast<std::size_t>(symptom)];
  first = first.value_or(now);
  auto& evidence = evidence_[static_cast<std::size_t>(symptom)];
  evidence = evidence.value_or(now);
}

/// Whoever looks now still finds it so. What stands in the log stays there.
bool DrillProcess::holds(Symptom symptom) const {
  if (!active_ && alive()) {
    return false;
  }
  switch (symptom) {
    case Symptom::no_step:
      return silent_;
    case Symptom::step_slow:
    case Symptom::rank_late:
      return active_ && (slow_ > 1 || !alive());
    default:
      return active_ || !alive();
  }
}

void DrillProcess::on_seen(Context& c, const core::Event& e) {
  const auto symptom = static_cast<Symptom>((e.a >> 8U) & 0xffU);
  const auto monitor = static_cast<Monitor>(e.a & 0xffU);
  const bool of_earlier_silence = symptom == Symptom::no_step && e.a >> 16U != silences_;
  if (e.b != attempt_ || of_earlier_silence || !holds(symptom)) {
    return;
  }
  mark_visible(c.now(), symptom);
  if (monitor != Monitor::flight_recorder) {
    alarm(c, monitor, symptom);
  }
}

/// What still shows is looked at anew.
void DrillProcess::notice_again(Context& c) {
  const std::set<Symptom> shown = std::move(shown_);
  shown_.clear();
  for (const Symptom symptom : shown) {
    if (holds(symptom)) {
      emit(c, symptom);
    }
  }
}

void DrillProcess::alarm(Context& c, Monitor monitor, Symptom symptom) {
  const bool news = waiting_ && !died_waiting_ && !alive();
  if (in_.probe != Probe::none) {
    dead_ = dead_ || monitor == Monitor::process_exit;  // the launcher ends the other processes
    return;
  }
  if ((responding_ && !news) || (tolerated_ && alive())) {
    return;
  }
  trace_.timeline.push_back(
      {c.now(), Moment::alarm, {}, symptom, monitor, std::string(facts_of(symptom).text)});
  responding_ = true;
  died_waiting_ = news;
  // Everything that is seen in this tick is known to who responds.
  c.schedule(0, {.kind = static_cast<std::uint32_t>(Notice::respond),
                 .priority = core::kLastPriority,
                 .a = static_cast<std::uint64_t>(monitor)});
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
         (is_mended_elsewhere(is.cure) && is.cure == said.cure);
}

std::vector<Suspect> DrillProcess::suspects(Tick now) const {
  auto list = in_.suspicion({evidence_, now, ruled_out_, attempt_ > 0 && !stale_loaded_});
  return list.empty() ? std::vector<Suspect>{{in_.fault->kind, 1}} : list;  // all else was tried
}

void DrillProcess::blame(Context& c, Response& response) const {
  response.suspects = suspects(c.now());
  response.blamed = response.suspects.front().kind;
  response.right = cures(response.blamed);
}

void DrillProcess::respond(Context& c, Monitor monitor) {
  if (can_move()) {
    return move(c);
  }
  if (can_go_on()) {
    return go_on(c);
  }
  Response response;
  response.at = c.now();
  response.alarm = monitor;
  response.blamed = in_.fault->kind;
  response.right = true;
  if (in_.effect.stale_restart && !stale_loaded_) {
    note(c, Moment::blame, "nothing unusual: an everyday restart");
  } else {
    blame(c, response);
    if (died_waiting_ && response.blamed == trace_.responses.back().blamed) {
      note(c, Moment::recovery, "the job has died; it starts again when that is mended");
      return enter(c, Mode::down, Account::wait);
    }
    note(c, Moment::blame,
         fmt::format("blamed: {} ({:.0f} %){}", facts_of(response.blamed).part,
                     100 * response.suspects.front().probability,
                     response.right ? "" : ", wrongly"));
  }
  trace_.responses.push_back(response);
  waiting_ = died_waiting_ = false;
  ++mending_;  // nobody waits for the hands that were called before
  if (!alive()) {
    enter(c, Mode::down, Account::diagnose);
  }
  c.schedule(drill_ticks(setup_.recovery.diagnosis),
             {.kind = static_cast<std::uint32_t>(Notice::diagnosed)});
}

namespace {

bool only_slow(FaultKind kind) {
  return kind == FaultKind::gpu_slow || kind == FaultKind::link_half_rate ||
         kind == FaultKind::optic_flapping || kind == FaultKind::nvme_slow;
}

}  // namespace

/// Why a running job is left alone; null if it is not.
const char* DrillProcess::reason_to_wait(const Response& response) const {
  const bool gone = stale_loaded_ && response.right && saves_since_stale_ >= setup_.saves.keep;
  if (!active_) {
    return "nothing is wrong any more: nothing is done";
  }
  if (gone) {
    return "newer saves have pushed the right checkpoint out: the job goes on from the old one";
  }
  const bool kept = setup_.recovery.slow_part == failures::SlowPart::keep;
  return kept && only_slow(response.blamed) ? "a slow part is kept: nothing is done" : nullptr;
}

void DrillProcess::on_diagnosed(Context& c) {
  const Response& response = trace_.responses.back();
  if (!alive()) {
    return stop(c);
  }
  if (const char* reason = reason_to_wait(response)) {
    note(c, Moment::recovery, reason);
    responding_ = false;
    if (stale_loaded_) {
      cure(c);
      trace_.running_again = c.now();
    }
    tolerated_ = active_;
    return;
  }
  if (const Cure by = facts_of(response.blamed).cure; is_mended_elsewhere(by)) {
    note(c, Moment::recovery,
         fmt::format("the {} called; the job runs on",
                     by == Cure::mend_way ? "carrier is" : "operators of the storage are"));
    waiting_ = true;
    return wait_for_mending(c);
  }
  return worth_saving(c.now()) ? save_once_more(c) : stop(c);
}

bool DrillProcess::worth_saving(Tick now) const {
  return setup_.recovery.slow_part != failures::SlowPart::stop_at_once && !in_.effect.corrupts &&
         !stale_loaded_ && !save_open_ && mode_ == Mode::running && interval_ > 0 &&
         would_close(now);
}

void DrillProcess::save_once_more(Context& c) {
  note(c, Moment::save, "one more save, then the job stops");
  const Tick time = drill_ticks(setup_.saves.snapshot) + write_time(c.now());
  final_save_ = storing_ = true;
  save_ends_ = c.now() + time;
  enter(c, Mode::saving);
  last_save_ = work_;
  later(c, time, Notice::save_end);
}

void DrillProcess::wait_for_mending(Context& c) {
  Seconds repair = in_.effect.repair;
  const Response& response = trace_.responses.back();
  if (!response.right) {
    // Other people mend something else, which takes as long as that usually does.
    Fault blamed;
    blamed.kind = response.blamed;
    repair = with_defaults(blamed, setup_).repair.value_or(setup_.recovery.repair);
  }
  c.schedule(drill_ticks(repair),
             {.kind = static_cast<std::uint32_t>(Notice::mended), .a = ++mending_});
}

void DrillProcess::on_mended(Context& c, const core::Event& e) {
  if (e.a != mending_) {
    return;
  }
  const Response& response = trace_.responses.back();
  if (response.right) {
    advance(c.now());
    cure(c);
    note(c, Moment::recovery, "mended");
  }
  if (mode_ == Mode::down && restored_) {
    return begin_stages(c);
  }
  waiting_ = died_waiting_ = false;
  if (response.right && !alive()) {  // it has died meanwhile
    enter(c, Mode::down, Account::restart);
    go_back(c, response);
    return begin_stages(c);
  }
  responding_ = false;
  if (response.right) {
    trace_.running_again = c.now();
    if (slow_ > 1) {  // steps are as long as before
      slow_ = 1;
      run(c);
    }
    return;
  }
  rule_out(response.blamed, false);
  notice_again(c);
}

/// After a restart what any restart cures is not it either.
void DrillProcess::rule_out(FaultKind blamed, bool restarted) {
  ruled_out_.insert(blamed);
  for (const auto& [kind, word] : enum_words(FaultKind{})) {
    if (restarted && facts_of(kind).cure == Cure::restart) {
      ruled_out_.insert(kind);
    }
  }
}

}  // namespace headway::drill

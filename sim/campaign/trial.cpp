#include "sim/campaign/trial.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <vector>

#include "sim/core/engine/engine.h"
#include "sim/core/error.h"

namespace headway::campaign {

using core::Tick;

namespace {

constexpr core::Clock kClock = core::Clock::campaign();
/// A run of known work is given up when it has been up for so many times its work.
constexpr Tick kHopeless = 1000;

/// What the job's process tells itself.
enum class Notice : std::uint32_t {
  strike,       ///< a failure; a: hazard, b: attempt
  attempt_end,  ///< nothing struck; a: durable work, b: attempt
  alarm,        ///< the failure is noticed
  corruption,   ///< a silent failure is noticed
  diagnosed,    ///< the bad part is known
  replaced,     ///< a spare has taken the lost node's place
  repaired,     ///< a lost node is a spare again; a: which
  maintained,   ///< planned work is over
  deadline,     ///< the wall clock is up
};

/// The job as one process of the engine. Between a start and the next failure nothing is stepped.
class Job : public core::Process {
 public:
  Job(const JobModel& model, const JobTicks& ticks, std::uint32_t trial, IncidentLog* log)
      : model_(model),
        ticks_(ticks),
        log_(log),
        sampler_(model.hazards, model.seed, trial, kClock),
        next_maintenance_(ticks.maintenance_every) {
    result_.interruptions.assign(model.hazards.size(), 0);
    for (std::int64_t spare = 0; spare < model.spare_nodes; ++spare) {
      const auto* lemons = sampler_.lemons();
      spares_.push_back(lemons != nullptr ? lemons->initial_spare(static_cast<std::uint64_t>(spare))
                                          : failures::Node{});
    }
  }

  void start(core::Context& context) override {
    if (ticks_.wall > 0) {
      context.schedule(ticks_.wall, message(Notice::deadline));
    }
    begin_attempt(context, 0);
  }

  void handle(core::Context& context, const core::Event& event) override {
    if (done_) {
      return;  // repairs may end after the run
    }
    const bool stale = !running_ || event.b != attempts_;  // another event ended the attempt
    switch (static_cast<Notice>(event.kind)) {
      case Notice::strike:
        return stale ? void() : on_strike(context);
      case Notice::attempt_end:
        return stale ? void() : on_attempt_end(context);
      case Notice::alarm:
        return on_alarm(context);
      case Notice::corruption:
        return on_corruption(context);
      case Notice::diagnosed:
        return on_diagnosed(context);
      case Notice::replaced:
      case Notice::maintained:
        return begin_attempt(context, ticks_.restart());
      case Notice::repaired:
        return on_repaired(context, {static_cast<std::uint32_t>(event.a)});
      case Notice::deadline:
        return finish(context);
    }
  }

  /// The run was given up: it made no headway.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  TrialResult take_result() { return std::move(result_); }

 private:
  static core::Message message(Notice notice, std::uint64_t a = 0, std::uint64_t b = 0) {
    // The deadline comes last in its tick: what ends then still counts.
    const auto priority = notice == Notice::deadline ? core::kLastPriority : core::kNormalPriority;
    return {static_cast<std::uint32_t>(notice), priority, a, b};
  }

  void begin_attempt(core::Context& context, Tick restart) {
    const Tick now = context.now();
    close_phase(now);
    if (ticks_.wall == 0 && exposed_ / kHopeless > ticks_.work) {
      gave_up_ = true;
      done_ = true;
      return;
    }
    if (ticks_.maintenance_every > 0 && next_maintenance_ <= now) {
      return begin_maintenance(context);
    }
    running_ = true;
    ++attempts_;
    if (log_ != nullptr && log_->has_current()) {
      log_->leave(now);
      restarting_ = log_->number();
    }
    const Tick until_wall = ticks_.wall > 0 ? ticks_.wall - now : core::kEndOfTime;
    const Tick until_work =
        ticks_.maintenance_every > 0 ? next_maintenance_ - now : core::kEndOfTime;
    attempt_ =
        plan_attempt(ticks_, restart, ticks_.wall > 0 ? core::kEndOfTime : ticks_.work - durable_,
                     std::min(until_wall, until_work));
    schedule_next(context);
  }

  /// Whatever comes first in the running attempt: a failure or its end.
  void schedule_next(core::Context& context) {
    const Tick elapsed = context.now() - phase_start_;
    const failures::Strike drawn = sampler_.next();
    const Tick until_drawn =
        drawn.exposed == core::kEndOfTime ? core::kEndOfTime : drawn.exposed - exposed_ - elapsed;
    const Tick until_recorded = next_recorded(context.now());
    const Tick until_strike = std::min(until_drawn, until_recorded);
    if (until_strike < attempt_.length - elapsed) {
      replayed_ = until_recorded <= until_drawn;
      strike_ = replayed_ ? recorded_strike() : drawn;
      context.schedule(until_strike, message(Notice::strike, strike_.hazard, attempts_));
    } else {
      context.schedule(
          attempt_.length - elapsed,
          message(Notice::attempt_end, static_cast<std::uint64_t>(durable_), attempts_));
    }
  }

  void on_attempt_end(core::Context& context) {
    settle(context.now());
    const bool over = ticks_.wall > 0 ? context.now() >= ticks_.wall : durable_ == ticks_.work;
    return over ? finish(context) : begin_maintenance(context);
  }

  void begin_maintenance(core::Context& context) {
    while (next_maintenance_ <= context.now()) {
      next_maintenance_ += ticks_.maintenance_every;
    }
    enter(context, Account::maintenance, ticks_.maintenance_lasts, Notice::maintained);
  }

  /// Ticks until the next failure of the record; one that came while the job was down strikes at
  /// once.
  [[nodiscard]] Tick next_recorded(Tick now) const {
    return replays_ < ticks_.recorded.size()
               ? std::max<Tick>(0, ticks_.recorded[replays_].wall - now)
               : core::kEndOfTime;
  }

  [[nodiscard]] failures::Strike recorded_strike() const {
    return {
        .exposed = core::kEndOfTime, .hazard = ticks_.recorded[replays_].hazard, .event = replays_};
  }

  void on_strike(core::Context& context) {
    first_slot_ = sampler_.victim(strike_, nodes());
    if (replayed_) {
      ++replays_;
    } else {
      sampler_.take(strike_);
    }
    if (const auto latent = ticks_.latent[strike_.hazard]) {
      corrupt(context, *latent);
      return schedule_next(context);
    }
    const Tick lost = settle(context.now());
    open_incident(context.now(), lost);
    ++result_.interruptions[strike_.hazard];
    log_stage(Stage::detect, context.now());
    enter(context, Account::detect, ticks_.detection[strike_.hazard], Notice::alarm);
  }

  void log_stage(Stage stage, Tick now) {
    if (log_ != nullptr) {
      log_->enter(stage, now);
    }
  }

  void open_incident(Tick now, Tick lost) {
    if (log_ != nullptr) {
      log_->open({.hazard = strike_.hazard,
                  .first_node = first_slot_,
                  .nodes_lost = model_.hazards[strike_.hazard].nodes_lost,
                  .struck = now,
                  .lost_work = lost});
    }
  }

  /// A silent failure: the job runs on, and what it saves from now on is bad.
  void corrupt(core::Context& context, Tick latent) {
    if (corruption_) {
      return;  // the earlier one will send the job back further
    }
    const Progress p = progress_at(ticks_, attempt_, context.now() - phase_start_);
    corruption_ = Corruption{strike_, first_slot_, replayed_, durable_ + p.durable, 0};
    if (log_ != nullptr) {
      open_incident(context.now(), 0);
      corruption_->incident = log_->number();
      log_->enter(Stage::unnoticed, context.now());
    }
    context.schedule(latent, message(Notice::corruption, strike_.hazard));
  }

  /// It is noticed: back to the last good save. If the job is down anyway, it restarts from there.
  void on_corruption(core::Context& context) {
    const Corruption corruption = *corruption_;
    corruption_.reset();
    const bool was_running = running_;
    const Tick lost = was_running ? settle(context.now()) : 0;
    const Tick bad = std::max<Tick>(0, durable_ - corruption.good);
    durable_ -= bad;
    result_[Account::useful] -= bad;
    result_[Account::lost] += bad;
    if (log_ != nullptr) {
      Incident& incident = log_->at(corruption.incident);
      incident.lost_work += lost + bad;
      incident.detector = Detector::validation;
      if (was_running) {
        log_->resume(corruption.incident);
      }
    }
    ++result_.interruptions[corruption.strike.hazard];
    if (was_running) {
      strike_ = corruption.strike;
      first_slot_ = corruption.first_slot;
      replayed_ = corruption.replayed;
      log_stage(Stage::detect, context.now());
      enter(context, Account::detect, ticks_.detection[strike_.hazard], Notice::alarm);
    }
  }

  void on_alarm(core::Context& context) {
    if (log_ != nullptr) {
      log_->enter(Stage::diagnose, context.now());
      log_->current().noticed = context.now();
    }
    enter(context, Account::diagnose, ticks_.diagnosis, Notice::diagnosed);
  }

  void on_diagnosed(core::Context& context) {
    if (log_ != nullptr) {
      log_->current().blamed = context.now();
      log_->leave(context.now());
    }
    const auto lost = static_cast<std::uint64_t>(model_.hazards[strike_.hazard].nodes_lost);
    if (lost == 0) {
      return begin_attempt(context, ticks_.restart());
    }
    const std::uint64_t end = std::min(first_slot_ + lost, nodes());
    for (std::uint64_t slot = first_slot_; slot < end; ++slot) {
      missing_.push_back(slot);
      const failures::Node node =
          sampler_.lemons() != nullptr ? sampler_.lemons()->remove(slot) : failures::Node{};
      context.schedule(repair_time(slot - first_slot_), message(Notice::repaired, node.lemon));
    }
    fill_slots(context);
  }

  [[nodiscard]] Tick repair_time(std::uint64_t node) const {
    if (replayed_ && ticks_.recorded[strike_.event].repair) {
      return *ticks_.recorded[strike_.event].repair;
    }
    return sampler_.repair(strike_, node, model_.recovery.repair);
  }

  void on_repaired(core::Context& context, failures::Node node) {
    spares_.push_back(node);
    if (!missing_.empty()) {
      fill_slots(context);
    }
  }

  /// Puts spares into the empty slots; waits for repairs where they do not suffice.
  void fill_slots(core::Context& context) {
    while (!missing_.empty() && !spares_.empty()) {
      if (sampler_.lemons() != nullptr) {
        sampler_.lemons()->insert(spares_.front(), missing_.back(), exposed_);
      }
      spares_.pop_front();
      missing_.pop_back();
    }
    log_stage(missing_.empty() ? Stage::replace : Stage::wait, context.now());
    if (missing_.empty()) {
      enter(context, Account::restart, ticks_.replacement, Notice::replaced);
    } else {
      enter_without_end(context, Account::wait);
    }
  }

  [[nodiscard]] std::uint64_t nodes() const {
    return static_cast<std::uint64_t>((model_.gpus + model_.gpus_per_node - 1) /
                                      model_.gpus_per_node);
  }

  void enter(core::Context& context, Account account, Tick length, Notice end) {
    enter_without_end(context, account);
    context.schedule(length, message(end));
  }

  void enter_without_end(core::Context& context, Account account) {
    close_phase(context.now());
    phase_ = account;
  }

  /// Books the time since the last phase began, unless it was an attempt, which `settle` books.
  void close_phase(Tick now) {
    if (!running_) {
      result_[phase_] += now - phase_start_;
    }
    phase_start_ = now;
  }

  /// Ends the running attempt and books what it brought.
  /// @returns work thrown away
  Tick settle(Tick now) {
    const Tick elapsed = now - phase_start_;
    const Progress p = progress_at(ticks_, attempt_, elapsed);
    durable_ += p.durable;
    exposed_ += elapsed;
    result_[Account::restart] += p.start + p.warm_up;
    result_[Account::load] += p.load;
    result_[Account::useful] += p.durable;
    result_[Account::lost] += p.work - p.durable;
    result_[Account::checkpoint] += p.checkpoint;
    log_restart(p);
    running_ = false;
    phase_start_ = now;
    return p.work - p.durable;
  }

  /// The restart of the attempt that has just been settled belongs to the incident before it.
  void log_restart(const Progress& p) {
    if (log_ == nullptr || attempt_.restart == 0 || !log_->has_current()) {
      return;
    }
    log_->resume(restarting_);
    Incident& incident = log_->current();
    const Tick loading = phase_start_ + p.start;
    const Tick warming = loading + p.load;
    const Tick end = warming + p.warm_up;
    if (incident.resumed) {
      return;  // a restart after planned work
    }
    log_->add(Stage::start, phase_start_, loading);
    log_->add(Stage::load, loading, warming);
    log_->add(Stage::warm_up, warming, end);
    if (end - phase_start_ == attempt_.restart) {
      incident.resumed = end;
    }
  }

  void finish(core::Context& context) {
    if (running_) {
      settle(context.now());
    }
    close_phase(context.now());
    result_.wall = context.now();
    done_ = true;
  }

  /// A silent failure that nobody has noticed yet.
  struct Corruption {
    failures::Strike strike;
    std::uint64_t first_slot = 0;
    bool replayed = false;
    Tick good = 0;             ///< work in the last save before it
    std::size_t incident = 0;  ///< its number in the log
  };

  const JobModel& model_;
  const JobTicks& ticks_;
  IncidentLog* log_;
  failures::HazardSampler sampler_;
  std::deque<failures::Node> spares_;   // first repaired, first taken
  std::vector<std::uint64_t> missing_;  // slots without a node; only while the job waits
  TrialResult result_;
  Attempt attempt_;
  std::optional<Corruption> corruption_;
  std::uint64_t attempts_ = 0;
  Tick next_maintenance_ = 0;
  failures::Strike strike_;       // the next failure of the attempt, then the one being handled
  std::uint64_t first_slot_ = 0;  // of those it empties
  std::size_t restarting_ = 0;    // number of the incident that this attempt recovers from
  std::size_t replays_ = 0;       // recorded failures that have struck
  bool replayed_ = false;         // strike_ is one of them
  Tick durable_ = 0;              // work saved for good
  Tick exposed_ = 0;              // time during which the job could fail, before this attempt
  Tick phase_start_ = 0;
  Account phase_ = Account::restart;
  bool running_ = false;  // an attempt is under way; else `phase_` is
  bool done_ = false;
  bool gave_up_ = false;
};

}  // namespace

TrialResult run_trial(const JobModel& model,
                      const JobTicks& ticks,
                      std::uint32_t trial,
                      IncidentLog* log) {
  Job job(model, ticks, trial, log);
  core::Engine engine;
  engine.add({"job", trial}, job);
  const core::RunSummary summary = engine.run();
  if (job.gave_up()) {
    throw core::Error(fmt::format(
        "the run would hardly end: up for {} times its work, it is not done; failures, silent ones "
        "or planned work come faster than saves become durable",
        kHopeless));
  }
  TrialResult result = job.take_result();
  result.events = summary.events;
  result.event_digest = summary.event_digest;
  // INVARIANT: every tick of the wall clock is in exactly one account.
  const Tick booked = std::accumulate(result.accounts.begin(), result.accounts.end(), Tick{0});
  HEADWAY_CHECK(booked == result.wall, "trial {}: accounts hold {} of {} ticks", trial, booked,
                result.wall);
  HEADWAY_CHECK(ticks.wall > 0 || result[Account::useful] == ticks.work,
                "trial {}: {} of {} ticks of work are durable", trial, result[Account::useful],
                ticks.work);
  return result;
}

}  // namespace headway::campaign

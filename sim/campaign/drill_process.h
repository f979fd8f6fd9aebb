// The process that a drill runs: job, eyes and response in one state machine. Private to the drill.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sim/campaign/drill_run.h"
#include "sim/core/engine/process.h"

namespace headway::campaign {

inline core::Tick drill_ticks(core::Seconds t) { return core::Clock::campaign().to_ticks(t); }

/// The job's clock runs in one mode at a time; every notice carries the number of the mode (or of
/// the attempt) it was made in and is stale in a later one.
class DrillProcess : public core::Process {
 public:
  explicit DrillProcess(const DrillInput& input);

  void start(core::Context& c) override;
  void handle(core::Context& c, const core::Event& e) override;
  DrillTrace finish(core::Tick horizon);
  [[nodiscard]] bool over() const { return over_; }

 private:
  enum class Mode : std::uint8_t { running, saving, stuck, down };
  enum class Notice : std::uint32_t {
    save_due,
    save_end,
    written,
    save_late,
    save_very_late,
    watchdog,
    transport,
    silent,
    heartbeat,
    slow_step,
    loss,
    seen,
    healed,
    diagnosed,
    mended,
    stage,
  };

  /// A checkpoint: the work in it, and whether it holds bad numbers.
  struct Saved {
    core::Tick work = 0;
    bool bad = false;
  };

  // the clock and its books
  void advance(core::Tick now);
  void enter(core::Context& c, Mode mode, Account phase = Account::detect);
  [[nodiscard]] bool current(const core::Event& e) const { return e.b == generation_; }
  [[nodiscard]] bool save_still_open(const core::Event& e) const;
  void later(core::Context& c, core::Tick delay, Notice what, std::uint64_t a = 0);
  void note(const core::Context& c, Moment moment, std::string text);

  // the fault
  void strike(core::Context& c);
  void blow(core::Context& c);
  void heal(core::Context& c);
  [[nodiscard]] Symptom loss_symptom() const;
  void on_slow_step(core::Context& c);

  // the job
  /// Training goes on, up to the next save.
  void run(core::Context& c);
  /// All ranks wait for one that does not come.
  void stick(core::Context& c);
  void arm_watchers(core::Context& c, core::Tick wait_begins_in);
  void on_transport(core::Context& c);
  void on_watchdog(core::Context& c);

  // saves
  /// Time for one save to become durable, as things stand; kEndOfTime if it never does.
  [[nodiscard]] core::Tick write_time(core::Tick now) const;
  void begin_save(core::Context& c);
  void end_save(core::Context& c);
  void keep(core::Tick work);
  void on_save_late(core::Context& c);

  // who sees what
  void emit(core::Context& c, Symptom symptom);
  [[nodiscard]] core::Seconds half_period(Monitor monitor) const {
    return setup_[monitor].time / 2;
  }

  void look(core::Context& c, Symptom symptom, Monitor monitor, core::Seconds in);
  void mark_visible(core::Tick now, Symptom symptom);
  void on_seen(core::Context& c, const core::Event& e);
  void alarm(core::Context& c, Monitor monitor, Symptom symptom);

  // the response
  [[nodiscard]] bool localised() const;
  [[nodiscard]] bool cures(FaultKind blamed) const;
  void respond(core::Context& c, Monitor monitor);
  void on_diagnosed(core::Context& c);
  [[nodiscard]] core::Seconds repair_time(const Response& response) const;
  void wait_for_mending(core::Context& c);
  void on_mended(core::Context& c);
  /// The job is down for the response: back to a checkpoint, then the stages of the restart.
  void stop(core::Context& c);
  [[nodiscard]] std::int64_t nodes_needed(const Response& response) const;
  void go_back(core::Context& c, const Response& response);
  void begin_stages(core::Context& c);
  void next_stage(core::Context& c);
  void resume(core::Context& c);

  const DrillInput& in_;
  const DrillSetup& setup_;
  DrillTrace trace_;
  Sightings evidence_;  // what the engineer of the incident under way has seen
  core::Tick interval_;
  core::Tick work_;  // executed and not thrown away; 0: at the last save before the fault
  std::int64_t spares_;
  std::deque<Saved> kept_;
  core::Tick archived_ = 0;
  core::Tick last_save_ = 0;  // work at the beginning of the last save
  core::Tick mark_ = 0;       // books are up to here
  Mode mode_ = Mode::running;
  Account phase_ = Account::detect;
  double slow_ = 1;
  std::uint64_t generation_ = 0;  // of the mode: older notices are stale
  std::uint64_t attempt_ = 0;     // restarts so far
  std::uint64_t save_number_ = 0;
  bool save_open_ = false, final_save_ = false;
  bool active_ = false;  // the fault is there
  bool dead_ = false;    // processes have ended
  bool responding_ = false, replacing_ = false, stale_loaded_ = false, over_ = false;
  std::optional<core::Tick> heals_at_, bad_since_;
  core::Tick right_target_ = 0;
  std::set<Symptom> shown_;  // in this attempt
  std::set<FaultKind> ruled_out_;
  std::size_t stage_ = 0;
};

}  // namespace headway::campaign

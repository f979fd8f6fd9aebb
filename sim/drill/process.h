// The process that a drill runs: job, eyes and response in one state machine. Private to the drill.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/engine/process.h"
#include "sim/drill/constants.h"
#include "sim/drill/run.h"

namespace headway::drill {

inline core::Tick drill_ticks(core::Seconds t) { return core::Clock::campaign().to_ticks(t); }

/// The job's clock runs in one mode at a time; every notice carries the number of the mode (or of
/// the attempt) it was made in and is stale in a later one.
class DrillProcess : public core::Process {
 public:
  explicit DrillProcess(const DrillInput& input);

  void start(core::Context& c) override;
  void handle(core::Context& c, const core::Event& e) override;
  DrillTrace finish(core::Tick horizon);

 private:
  enum class Mode : std::uint8_t { running, saving, stuck, down };
  enum class Notice : std::uint32_t {
    save_due,
    save_end,
    written,
    near_written,
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
    respond,
    diagnosed,
    mended,
    stage,
    spares_back,
    reformed,
    prepared,
    joined,
  };

  /// A checkpoint: the work in it, and whether it holds bad numbers.
  struct Saved {
    core::Tick work = 0;
    bool bad = false;
  };

  /// A level of saves nearer than the storage.
  struct NearState {
    std::optional<core::Tick> newest, pending;  // work in the save that is complete, being written
  };

  // the clock and its books
  void handle_job(core::Context& c, const core::Event& e);
  void advance(core::Tick now);
  void enter(core::Context& c, Mode mode, Account phase = Account::detect);
  [[nodiscard]] bool current(const core::Event& e) const { return e.b == generation_; }
  [[nodiscard]] bool save_still_open(const core::Event& e) const;
  void later(core::Context& c, core::Tick delay, Notice what, std::uint64_t a = 0);
  void note(const core::Context& c, Moment moment, std::string text);
  /// Steps are made, or would be once the save under way is over.
  [[nodiscard]] bool alive() const {
    return mode_ == Mode::running || (mode_ == Mode::saving && !dead_);
  }

  // the fault
  void start_probe(core::Context& c);
  void strike(core::Context& c);
  void blow(core::Context& c);
  void show_at_once(core::Context& c);
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
  void fill_history();
  /// Time for one save to become durable, as things stand; kEndOfTime if it never does.
  [[nodiscard]] core::Tick write_time(core::Tick now) const;
  /// The same through the bad drive.
  [[nodiscard]] core::Tick drive_time(core::Tick healthy, core::Tick now) const;
  [[nodiscard]] double storage_slowness() const;
  void begin_save(core::Context& c);
  /// @returns the stall of the near levels that are due
  core::Tick save_near(core::Context& c);
  void save_to_storage(core::Context& c, core::Tick stall);
  void fail_save(core::Context& c);
  void leave_out(core::Context& c);
  void end_save(core::Context& c);
  void keep(core::Tick now, core::Tick work);
  void abandon_saves();
  void on_save_late(core::Context& c);
  /// The newest work that a failure leaves, and the time to load it.
  struct Restore {
    core::Tick work = 0;
    core::Seconds load;
    std::string from;
  };
  [[nodiscard]] Restore restore(Reach reach) const;
  [[nodiscard]] bool would_close(core::Tick now) const;
  [[nodiscard]] core::Tick safe_work(core::Tick now) const;
  [[nodiscard]] core::Tick owed(core::Tick now) const;

  // who sees what
  void emit(core::Context& c, Symptom symptom);
  [[nodiscard]] core::Seconds half_period(Monitor monitor) const {
    return setup_[monitor].time / 2;
  }
  void look(core::Context& c, Symptom symptom, Monitor monitor, core::Seconds in);
  void mark_visible(core::Tick now, Symptom symptom);
  [[nodiscard]] bool holds(Symptom symptom) const;
  void on_seen(core::Context& c, const core::Event& e);
  void notice_again(core::Context& c);
  void alarm(core::Context& c, Monitor monitor, Symptom symptom);

  // the response
  [[nodiscard]] bool localised() const;
  [[nodiscard]] bool cures(FaultKind blamed) const;
  [[nodiscard]] std::vector<Suspect> suspects(core::Tick now) const;
  void respond(core::Context& c, Monitor monitor);
  void blame(core::Context& c, Response& response) const;
  void on_diagnosed(core::Context& c);
  [[nodiscard]] const char* reason_to_wait(const Response& response) const;
  [[nodiscard]] bool worth_saving(core::Tick now) const;
  void save_once_more(core::Context& c);
  void wait_for_mending(core::Context& c);
  void on_mended(core::Context& c, const core::Event& e);
  void rule_out(FaultKind blamed, bool restarted);

  // the restart
  /// The job is down for the response: back to a checkpoint, then the stages of the restart.
  void stop(core::Context& c);
  void cure(const core::Context& c);
  [[nodiscard]] bool swaps_gpu(FaultKind blamed) const;
  /// Nodes that are bad, or said to be.
  [[nodiscard]] std::int64_t nodes_out(const Response& response) const;
  [[nodiscard]] std::int64_t nodes_evicted(const Response& response) const;
  [[nodiscard]] bool waits_for_test(std::int64_t needed, std::int64_t bad) const;
  void send_away(core::Context& c, const Response& response, std::int64_t evicted);
  void go_back(core::Context& c, const Response& response);
  [[nodiscard]] Restore target_of(core::Context& c, const Response& response);
  void throw_away(core::Tick target);
  struct RestartPart {
    Account account = Account::restart;
    core::Seconds time;
    std::string text;
  };
  [[nodiscard]] RestartPart part(std::size_t stage) const;
  [[nodiscard]] bool breaks_at(std::size_t stage) const;
  void begin_stages(core::Context& c);
  void next_stage(core::Context& c);
  void end_stage(core::Context& c);
  void fail_restart(core::Context& c, Symptom symptom);
  void resume(core::Context& c);

  // the elastic job
  [[nodiscard]] std::int64_t nodes_to_leave(std::int64_t bad) const;
  [[nodiscard]] std::int64_t replicas_hit() const;
  [[nodiscard]] std::int64_t nodes_to_move() const;
  [[nodiscard]] bool can_move() const;
  void move(core::Context& c);
  [[nodiscard]] bool can_go_on() const;
  void go_on(core::Context& c);
  void join(core::Context& c);
  void on_joined(core::Context& c);

  const DrillInput& in_;
  const DrillSetup& setup_;
  DrillTrace trace_;
  Sightings evidence_;  // what the engineer of the incident under way has seen
  core::Tick interval_;
  core::Tick work_;  // executed and not thrown away; 0: at the last save before the fault
  std::int64_t spares_;
  std::deque<Saved> kept_;
  std::vector<NearState> near_;
  std::int64_t segment_ = 0;  // number of the last save; levels are due by it
  core::Tick archived_ = 0;
  core::Tick last_save_ = 0;  // work at the beginning of the last save
  core::Tick durable_at_ = 0;
  core::Tick mark_ = 0;  // books are up to here
  Mode mode_ = Mode::running;
  Account phase_ = Account::detect;
  double slow_ = 1;
  std::uint64_t generation_ = 0;  // of the mode: older notices are stale
  std::uint64_t attempt_ = 0;     // restarts so far
  std::uint64_t save_number_ = 0;
  std::uint64_t silences_ = 0;  // of the log, that are over
  std::uint64_t mending_ = 0;   // of the wait for hands: older ones are called off
  core::Tick save_ends_ = 0;
  bool save_open_ = false, final_save_ = false, storing_ = false;
  bool active_ = false;    // the fault is there
  bool dead_ = false;      // processes have ended
  bool restored_ = false;  // the work is that of a save
  bool silent_ = false;    // the log is
  bool responding_ = false, replacing_ = false, stale_loaded_ = false;
  bool warm_ = false;     // standbys take all places
  bool waiting_ = false;  // for hands, while the job runs
  bool died_waiting_ = false;
  bool tolerated_ = false;  // a slow part that the plan keeps
  bool join_due_ = false;
  std::optional<core::Tick> heals_at_, bad_since_;
  core::Tick right_target_ = 0;
  int saves_since_stale_ = 0;
  std::set<Symptom> shown_;  // in this attempt
  std::set<FaultKind> ruled_out_;
  Restore from_;
  bool in_place_ = false;  // the processes restart where they are
  std::int64_t drained_ = 0;
  std::size_t stage_ = 0;
};

}  // namespace headway::drill

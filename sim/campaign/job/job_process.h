// One trial's job as one process of the engine: between a start and the next
// event nothing is stepped.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/campaign/job/detection.h"
#include "sim/campaign/job/gaps.h"
#include "sim/campaign/job/incident.h"
#include "sim/campaign/job/job_ticks.h"
#include "sim/campaign/job/spare_pool.h"
#include "sim/campaign/saves/attempt.h"
#include "sim/campaign/saves/restore.h"
#include "sim/campaign/slow/slow_parts.h"
#include "sim/campaign/trial.h"
#include "sim/core/engine/engine.h"

namespace headway::campaign {

/// A trial is given up here: beyond it sums of ticks would not fit.
inline constexpr core::Tick kLastTick = core::kEndOfTime / 8;

/// Why a run was given up.
enum class GaveUp : std::uint8_t {
  no_headway,  ///< up for `patience` times its work, it is not done
  too_long,    ///< nor a century after it began
  no_nodes,    ///< it waits for a node, and none will ever come
};

/// The job of one trial.
class JobProcess : public core::Process {
 public:
  JobProcess(const JobModel& model,
             const JobTicks& ticks,
             StepTimes& times,
             std::uint32_t trial,
             IncidentLog* log);

  void start(core::Context& context) override;
  void handle(core::Context& context, const core::Event& event) override;

  /// The run was given up.
  [[nodiscard]] std::optional<GaveUp> gave_up() const { return gave_up_; }
  TrialResult take_result() { return std::move(result_); }

 private:
  /// What the job tells itself.
  enum class Notice : std::uint32_t {
    strike,       ///< a failure; b: plan
    stuck,        ///< a save begins that a slow drive keeps past the watchdog; b: plan
    attempt_end,  ///< the goal is durable, or the time is up; b: plan
    repace,       ///< the time of day changes the pace; b: plan
    relapse,      ///< the wrong part was replaced: it fails again; b: plan
    alarm,        ///< the failure is noticed
    corruption,   ///< a silent failure is noticed
    diagnosed,    ///< a part is named
    replaced,     ///< spares are in place
    repaired,     ///< a node is a spare again; a: which
    staged,       ///< the data set is in place
    maintained,   ///< planned work is over
    suspected,    ///< a detector fires for a slow part; a: which
    located,      ///< a slow part is named; a: which
    healed,       ///< a slow part is well again by itself; a: which
    felt,         ///< an exchange is due that a cut way does not let pass; b: plan
    reconnected,  ///< the way of a site is back
    reformed,     ///< the other replicas go on
    mended,       ///< what is absent can join; a: how many replicas, b: which part of one
    joined,       ///< it has
    deadline,     ///< the wall clock is up
  };

  /// Nodes to be taken out of the job.
  struct Eviction {
    failures::Strike strike;
    std::vector<std::uint64_t> slots;   ///< in order
    std::vector<std::uint64_t> broken;  ///< of them, to be repaired
    bool replayed = false;
    std::optional<std::uint64_t> slow_part;  ///< that goes with it
    std::size_t incident = 0;
  };

  /// Something that is broken, and where.
  struct Fault {
    failures::Strike strike;
    std::uint64_t slot = 0;
    bool replayed = false;
    std::size_t incident = 0;  ///< in the log
  };

  /// A silent failure that nobody has noticed yet.
  struct Corruption {
    Fault fault;
    core::Tick good = 0;  ///< work in the last save before it
  };

  /// A site without a way to the others.
  struct Cut {
    enum class State : std::uint8_t {
      unfelt,    ///< no exchange was due yet
      stands,    ///< all wait for the exchange
      ends_job,  ///< so will they, until a watchdog ends the job
      awaited,   ///< the job would start again, were the way back
    };
    Fault fault;
    core::Tick until = 0;  ///< it is mended then
    core::Tick due = 0;    ///< work at which the next exchange must have passed
    State state = State::unfelt;
  };

  static core::Message message(Notice notice, std::uint64_t a = 0, std::uint64_t b = 0);
  bool handle_running(core::Context& context, const core::Event& event);
  void handle_slow(core::Context& context, const core::Event& event);

  // Running (job_process.cpp).
  void begin_attempt(core::Context& context);
  void begin_maintenance(core::Context& context);
  void replan(core::Context& context);
  void set_goal(core::Tick now);
  void schedule_next(core::Context& context);
  void advance_to(core::Tick now);
  void on_attempt_end(core::Context& context);
  void settle(core::Tick now);
  core::Tick roll_back(core::Tick to);
  void enter(core::Context& context, Account account, core::Tick length, Notice end);
  void close_phase(core::Tick now);
  void finish(core::Context& context);
  [[nodiscard]] const SaveTicks& saves() const;
  [[nodiscard]] Pace pace(core::Tick now);
  [[nodiscard]] core::Tick exposed(core::Tick now) const;
  [[nodiscard]] core::Tick next_recorded(core::Tick now) const;
  [[nodiscard]] failures::Strike recorded_strike() const;

  // Failing and coming back (job_failure.cpp).
  void on_strike(core::Context& context);
  void fail(core::Context& context, const Fault& fault);
  void take(const Fault& fault);
  void count_blast(const failures::Strike& strike, std::uint64_t slot);
  void go_back(const failures::Strike& strike, Reach reach, bool elastic = false);
  void corrupt(core::Context& context, core::Tick latent);
  void on_corruption(core::Context& context);
  void on_alarm(core::Context& context);
  void on_diagnosed(core::Context& context);
  void evict(core::Context& context);
  void on_replaced(core::Context& context);
  void set_restart(core::Tick start, core::Tick load);
  [[nodiscard]] Eviction eviction_of(const failures::Strike& strike,
                                     std::uint64_t slot,
                                     bool replayed,
                                     std::optional<std::uint64_t> wrong_turn = {}) const;
  [[nodiscard]] core::Tick repair_time(const Eviction& order, std::uint64_t node) const;
  [[nodiscard]] std::optional<Detection> detection_of(const failures::Strike& strike,
                                                      std::uint64_t attempt,
                                                      bool hangs = false) const;
  [[nodiscard]] const failures::Hazard& hazard_of(const failures::Strike& strike) const {
    return model_.hazards[strike.hazard];
  }
  [[nodiscard]] std::uint64_t nodes() const { return ticks_.places.nodes(); }
  [[nodiscard]] std::vector<std::uint64_t> broken_slots(const failures::Strike& strike,
                                                        std::uint64_t slot) const;
  [[nodiscard]] Reach reach_of(const failures::Strike& strike, std::uint64_t slot) const;

  // Nodes out, spares in (job_spares.cpp).
  void take_out(core::Context& context, const Eviction& order);
  void on_repaired(core::Context& context, std::uint64_t place, Spares::Address address);
  void fill_slots(core::Context& context);
  void put_in(core::Context& context, failures::Node node, std::uint64_t slot);
  [[nodiscard]] SparePool& pool_for(std::uint64_t slot);
  void exchange_rack(core::Context& context, const std::vector<std::uint64_t>& slots);
  void exchange_racks(core::Context& context);
  void send_back(core::Context& context,
                 failures::Node node,
                 core::Tick well,
                 Spares::Address address);
  [[nodiscard]] bool spares_suffice(const std::vector<std::uint64_t>& slots) const;
  [[nodiscard]] std::uint64_t rack_of(std::uint64_t slot) const;
  [[nodiscard]] Spares::Address home_of(std::uint64_t slot) const;
  [[nodiscard]] bool retires(failures::Node node) const;
  [[nodiscard]] failures::Node after_repair(const Eviction& order,
                                            std::uint64_t number,
                                            failures::Node node) const;

  // Slow parts, spot capacity and elastic replicas (job_degraded.cpp).
  void slow_down(core::Context& context);
  void on_suspected(core::Context& context, std::uint64_t number);
  void on_located(core::Context& context, std::uint64_t number);
  void watch_misjudged(core::Context& context);
  void on_healed(core::Context& context, std::uint64_t number);
  void stop_for_orders(core::Context& context);
  void forget_slow(std::uint64_t number, core::Tick now);
  void preempt(core::Context& context);
  void hang_in_save(core::Context& context);
  [[nodiscard]] core::Tick until_stuck(core::Tick now) const;
  [[nodiscard]] bool can_go_on() const;
  void go_on_elastically(core::Context& context);
  void join_when_ready(core::Context& context);
  void on_mended(core::Context& context, std::uint64_t replicas, std::uint64_t part);
  void on_joined(core::Context& context);
  [[nodiscard]] core::Tick preparation() const;

  // A replica goes on without what it lost (job_unequal.cpp).
  [[nodiscard]] bool hits_a_gap() const;
  [[nodiscard]] bool loses_gpu() const;
  [[nodiscard]] std::uint64_t group_of_gpu() const;
  [[nodiscard]] bool can_go_on_unequally() const;
  void go_on_unequally(core::Context& context);

  // A spare takes the place of what broke (job_migration.cpp).
  [[nodiscard]] bool can_move() const;
  bool move_in_time(core::Context& context);
  void move(core::Context& context);

  // A site has no way to the others (job_sites.cpp).
  void cut(core::Context& context);
  [[nodiscard]] core::Tick until_felt(core::Tick now) const;
  void on_felt(core::Context& context);
  bool leave_site(core::Context& context);
  bool waits_for_way(core::Context& context);
  void on_reconnected(core::Context& context);

  // The trace.
  void log_end(std::size_t incident, core::Tick now);
  void log_open(const failures::Strike& strike, std::uint64_t slot, core::Tick now);
  void log_stage(Stage stage, core::Tick now);
  void log_restart(core::Tick elapsed);
  void log_saves(core::Tick wall);
  void log_last_save(core::Tick now);

  const JobModel& model_;
  const JobTicks& ticks_;
  IncidentLog* log_;
  failures::HazardSampler sampler_;
  SlowParts slow_;
  Spares spares_;
  FailureCounts counts_;
  RepairShop shop_;
  SaveHistory history_;
  TrialResult result_;

  // The attempt under way.
  bool running_ = false;          // else `phase_` is
  core::Tick attempt_start_ = 0;  // its restart begins
  core::Tick run_start_ = 0;      // its first step
  core::Tick advanced_ = 0;       // the cursor is where the attempt was then
  RestartTicks restart_;          // of this attempt, or of the one to come
  Cursor cursor_;
  Pace pace_;
  Goal goal_;
  bool reachable_ = true;  // the goal is durable when the attempt ends
  core::Tick end_ = 0;
  std::uint64_t plans_ = 0;       // events of earlier plans are stale
  failures::Strike next_strike_;  // of this plan
  bool next_replayed_ = false;
  bool drain_ = false;                         // save as soon as can be, then stop
  core::Tick drain_until_ = core::kEndOfTime;  // capacity is taken back then

  // The failure being handled.
  failures::Strike strike_;
  std::uint64_t slot_ = 0;
  bool replayed_ = false;
  bool moves_ = false;            // a spare takes its place, nobody restarts
  std::uint64_t blames_ = 0;      // wrong ones of it so far
  std::optional<Fault> relapse_;  // fails again at the end of the restart
  std::vector<Eviction> orders_;
  std::optional<std::uint64_t> stuck_on_;  // slow part whose drive kept a save past the watchdog
  std::vector<std::uint64_t> missing_;     // slots without a node; only while the job waits
  bool all_warm_ = false;                  // and each that was filled, by a warm standby
  std::uint64_t returning_ = 0;            // nodes that will be spares again:
  NodesAway away_;
  core::Tick staging_due_ = 0;  // data to be read before the next attempt
  std::optional<Corruption> corruption_;
  static constexpr auto kNoIncident = static_cast<std::size_t>(-1);
  std::size_t handled_ = kNoIncident;  // incident that the job recovers from

  std::optional<Cut> cut_;
  // Elastic jobs.
  std::uint64_t absent_ = 0;   // replicas that are missing
  std::uint64_t joining_ = 0;  // of them, for which all stand just now
  /// Empty slots of replicas that are gone together, or of a part of one.
  struct Absence {
    std::vector<std::uint64_t> slots;
    std::uint64_t replicas = 1;
    std::uint64_t part = 0;  // number of its gap
  };
  std::vector<Absence> awaiting_;
  Gaps gaps_;
  std::vector<std::uint64_t> joining_parts_;
  core::Tick position_ = 0;  // work done, of which what is not durable may be lost
  core::Tick base_ = 0;      // of it, before this attempt
  core::Tick exposed_ = 0;   // time during which the job could fail, before this attempt
  core::Tick next_maintenance_ = 0;
  std::size_t replays_ = 0;  // recorded failures that have struck
  core::Tick phase_start_ = 0;
  Account phase_ = Account::load;
  bool done_ = false;
  std::optional<GaveUp> gave_up_;
};

}  // namespace headway::campaign

// The engine that runs a problem tick by tick: actors, groups, flows, one solve a tick.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/network/flow/compiled.h"
#include "sim/network/flow/digest.h"
#include "sim/network/flow/fair_share.h"
#include "sim/network/flow/integer.h"
#include "sim/network/flow/large_vector.h"
#include "sim/network/flow/moving_flow.h"
#include "sim/network/flow/problem.h"
#include "sim/network/flow/tick_queue.h"

namespace headway::network {

/// Which node of an engine each node of a finer one comes from.
struct Ancestry {
  std::vector<std::uint32_t> actor, group, flow;
};

/// One run of one problem as it stands, folded or not.
/// All ends and starts of a tick are applied, woken actors go on until they block, then rates are
/// solved once; nothing depends on the order of work within a tick.
class Engine {
 public:
  /// @param problem  must outlive the engine
  /// @param unit     of rates and volumes; none: the one that suits the problem
  Engine(const Problem& problem, const RunOptions& options, std::optional<RateUnit> unit = {});
  /// @param programs  the problem's, compiled
  Engine(const Problem& problem,
         const RunOptions& options,
         CompiledPrograms programs,
         std::optional<RateUnit> unit = {});

  /// Runs to the end. Multiplicities, classes and link figures are of `problem` itself.
  /// @throws core::InternalError if an actor never ends or a transfer never completes
  RunResult run();

  /// Runs all ticks before `stop` and pauses, for a finer engine to go on from here (`adopt`).
  /// @returns whether the run has ended before that
  bool run_until(core::Tick stop);
  /// Takes over the state of a paused engine: each node that of the one it comes from. Not traced.
  void adopt(const Engine& before, const Ancestry& from);

  /// Checks after every solve that a solve from scratch gives the same rates; for tests.
  void check_every_solve() { check_solves_ = true; }

 private:
  friend class PeriodSkipper;

  static constexpr std::uint32_t kNone = TickQueue::kNone;
  static constexpr core::Tick kMixedLatency = -1;
  static constexpr core::Tick kNever = -1;

  // The states are packed: a run is limited by how many cache lines an event touches.
  struct alignas(64) ActorState {
    std::uint32_t pc = 0, end = 0;  ///< instruction indices
    std::uint32_t first_slot = 0, first_counter = 0;
    std::uint32_t next_waiter = kNone;
    std::uint32_t multiplicity = 1;
    std::int32_t slowdown_ppm = 0;
    bool blocked = false;
    bool ahead = false;    ///< its event ends what it did ahead of the clock
    core::Tick since = 0;  ///< its own clock: when its compute or wait began, or the last one ended
    TickPowers powers;     ///< of `since`
  };
  struct Slot {
    std::uint32_t group = 0;
    bool alone = false;    ///< nobody else takes part in the group, and it has no flows
    bool meeting = false;  ///< the group has no flows, and whoever arrives there waits at once
    std::uint64_t arrived = 0, waited = 0;
  };
  struct alignas(64) GroupState {
    std::uint32_t need = 0;
    std::uint32_t first_flow = 0, flows = 0, flows_left = 0;
    std::uint32_t waiters = kNone;               ///< actors blocked on instance `completed`
    std::uint32_t first_instance = 0, room = 1;  ///< its slice of instances_; a power of two
    core::Activity activity = core::Activity::other;
    core::Activity waiting = core::Activity::other;  ///< for the last member to arrive
    std::uint64_t completed = 0;
    core::Tick until_flows = 0;  ///< launch to first byte, if equal for all; else kMixedLatency
    std::uint64_t launch_power = 0;
    std::uint64_t key = 0;
  };
  struct Instance {  ///< one that is not complete yet
    std::uint32_t arrivals = 0, last_arriver = 0;
    core::Tick latest = 0;  ///< its last arrival so far
  };
  struct alignas(64) InstancePath {
    core::ByActivity<core::Tick> times;
  };
  /// Who arrived where, for RunResult::transfers.
  struct RecordedArrival {
    TransferEntry entry;
    std::uint32_t group = 0;
    std::uint64_t number = 0;
  };

  /// Who does the same at the same ticks: one actor, or a team of several (engine_teams.cpp).
  struct Crew {
    std::uint64_t entities = 0;      ///< sum of their scrambled entities
    std::uint64_t multiplicity = 0;  ///< of all together
    std::uint32_t actors = 1;
    std::uint32_t first = 0;  ///< of a team: its slice of team_members_, in rising order
  };

  /// An actor's own clock while it runs ahead.
  class Ahead {
   public:
    core::Tick tick = 0;
    TickPowers powers;           ///< of `tick`
    std::uint64_t entities = 0;  ///< sum of the scrambled entities whose events are due at `tick`
    std::uint32_t events = 0;    ///< how many these are; 0: they are counted
    /// Few durations come again and again.
    const TickPowers& powers_of(core::Tick ticks);

   private:
    struct Known {
      core::Tick ticks = 0;
      TickPowers powers;
    };
    static constexpr int kBits = 8, kShift = 64 - kBits;
    std::array<Known, 1U << kBits> known_{};
  };

  void set_up_actors();
  void set_up_groups();
  void set_up_changes();
  void schedule_change(core::Tick tick);
  void choose_watched();
  void find_private_slots();
  void find_meetings();
  void find_teams();
  void add_team(const std::vector<std::uint32_t>& members);

  void start();
  bool next_tick();
  void pause(core::Tick tick);
  void tell_progress();
  [[nodiscard]] double share_run() const;
  void adopt_actors(const Engine& before, const std::vector<std::uint32_t>& from);
  void adopt_groups(const Engine& before, const std::vector<std::uint32_t>& from);
  void adopt_flows(const Engine& before, const std::vector<std::uint32_t>& from);
  void adopt_due(const Engine& before, const Ancestry& from);
  [[nodiscard]] std::vector<std::uint32_t> seats_of_flows() const;
  void count_arrivals();
  void find_open_groups();
  void begin_tick(core::Tick tick);
  void prefetch(std::size_t index) const;
  void prefetch_group(std::uint32_t group, std::size_t stage) const;
  void prefetch_flow(const TickQueue::Event& event, std::size_t stage) const;
  void prefetch_start(std::uint32_t flow, std::size_t stage) const;
  void prefetch_waiter(std::uint32_t group, std::size_t stage) const;
  void prefetch_slots(std::uint32_t actor) const;
  void prefetch_next_groups(std::uint32_t actor) const;
  void apply(const TickQueue::Event& event);
  void apply_changes();
  void settle();
  void solve();

  void advance(std::uint32_t actor);
  bool step(std::uint32_t actor, ActorState& state);
  bool run_ahead(std::uint32_t actor, ActorState& state);
  [[nodiscard]] bool alone_for_long(const ActorState& state) const;
  void compute_ahead(std::uint32_t actor, ActorState& state, const Crew& crew);
  bool transfer_ahead(std::uint32_t actor, ActorState& state, const Crew& crew);
  void pass_transfer(std::uint32_t actor, ActorState& state, const Crew& crew);
  void pass_ahead(core::Tick ticks, std::uint64_t entities, std::uint32_t events);
  void count_ahead();
  bool arrive_ahead(std::uint32_t actor, ActorState& state);
  void meet(std::uint32_t actor, ActorState& state);
  void run_in_step(std::uint32_t team);
  void share_steps(const Crew& team, const core::ByActivity<core::Tick>& before);
  void stop_ahead(std::uint32_t actor, ActorState& state);
  [[nodiscard]] TickPowers powers_at(core::Tick tick);
  void trace_ahead(std::uint32_t actor, std::uint32_t first, core::Tick begin);
  void end_busy(std::uint32_t actor);
  bool begin_compute(std::uint32_t actor, ActorState& state, const Instruction& instruction);
  void end_compute(std::uint32_t actor);
  void block(std::uint32_t actor,
             ActorState& state,
             GroupState& group,
             core::Tick tick,
             const TickPowers& powers);
  bool begin_wait(std::uint32_t actor,
                  ActorState& state,
                  core::Tick tick,
                  const TickPowers& powers);
  void end_wait(std::uint32_t actor,
                const GroupState& group,
                const Instance& instance,
                core::Tick tick,
                const TickPowers& powers);
  void end_actor(std::uint32_t actor);
  bool join(std::uint32_t actor, std::uint32_t group, std::uint64_t number, core::Tick tick);
  void arrive(std::uint32_t actor, Slot& slot, core::Tick tick);
  void book(std::uint32_t actor, core::Activity activity, core::Tick ticks) {
    activity_[actor][activity] += ticks;
  }
  [[nodiscard]] core::Tick after(core::Tick delay) const { return sum(now_, delay); }
  static core::Tick sum(core::Tick tick, core::Tick delay);

  [[nodiscard]] std::size_t place_of(std::uint32_t group, std::uint64_t number) const {
    return groups_[group].first_instance + (number & (groups_[group].room - 1));
  }
  Instance& instance(std::uint32_t group, std::uint64_t number) {
    return instances_[place_of(group, number)];
  }
  [[nodiscard]] core::ByActivity<core::Tick>& path_of(const Instance& instance) {
    return instance_paths_[static_cast<std::size_t>(&instance - instances_.data())].times;
  }
  void grow_instances(std::uint32_t group);
  void launch(std::uint32_t group);
  void timer(std::uint32_t group);
  void complete(std::uint32_t group, core::Tick tick, const TickPowers& powers);
  void start_flow(std::uint32_t flow);
  void end_flow(std::uint32_t seat);
  void flow_done(std::uint32_t group, std::uint64_t started);
  void change_rate(std::uint32_t seat);
  const FlowSize& size_of(core::Bytes size);
  void record_ends();
  void record_rate(std::uint32_t flow, std::int64_t rate);

  [[nodiscard]] std::uint32_t actor_entity(std::uint32_t actor) const { return actor; }
  [[nodiscard]] std::uint32_t group_entity(std::uint32_t group) const {
    return first_group_ + group;
  }
  [[nodiscard]] std::uint32_t flow_entity(std::uint32_t flow) const { return first_flow_ + flow; }
  void extend_path(std::uint32_t actor, const Instruction& instruction, core::Tick ticks);
  void record_arrival(std::uint32_t actor, const ActorState& state, core::Tick arrived);
  void record_completion(std::uint32_t group, core::Tick tick);
  [[nodiscard]] std::vector<TransferEntry> transfers() const;
  void record_wait(std::uint32_t actor, const ActorState& state, const Instance& instance);
  void require_end() const;
  [[nodiscard]] std::string describe_stuck_actor(std::uint32_t actor) const;
  [[nodiscard]] std::string describe_open_group(std::uint32_t group) const;
  RunResult result();
  void count_link_bytes(RunResult& result) const;

  const Problem& problem_;
  RunOptions options_;
  CompiledPrograms programs_;
  RateUnit unit_;
  FairShare solver_;
  TransferTime transfer_time_;
  std::uint32_t first_group_, first_flow_, change_entity_;
  TickQueue queue_;

  LargeVector<ActorState> actors_;
  LargeVector<Slot> slots_;
  std::vector<std::int64_t> counters_;  // iterations left, per actor and depth
  LargeVector<GroupState> groups_;
  LargeVector<Instance> instances_;  // per group a slice, by number modulo its room
  std::vector<Crew> teams_;
  std::vector<std::uint32_t> team_members_;
  std::vector<std::uint32_t> team_of_group_;  // kNone: those who meet there are no team
  LargeVector<MovingFlow> moving_;            // per seat of the solver
  FlowSize flow_size_;                        // the last one asked for
  std::vector<LinkChange> changes_;           // by tick
  std::size_t next_change_ = 0;
  core::Tick change_due_ = kNever;  // its event, or that of the tick to pause before
  TickQueue::Place change_place_;

  core::Tick now_ = 0, end_ = 0;
  core::Tick stop_ = kNever;                           // pause before this tick
  bool started_ = false, some_without_flows_ = false;  // the latter of groups_
  TickPowers powers_;
  Ahead ahead_;
  bool may_run_ahead_ = false;  // not while it has to stop, or links change, at a tick to come
  bool tells_ahead_ = false;    // arrivals, too: not where somebody looks in between
  std::vector<TickQueue::Event> batch_;
  std::vector<std::uint32_t> woken_, completions_;
  std::size_t live_ = 0;  // actors not ended and groups in flight
  std::uint64_t events_ = 0, skipped_events_ = 0, event_sum_ = 0, result_sum_ = 0;
  std::vector<core::Tick> actor_end_;
  std::vector<core::ByActivity<core::Tick>> activity_;
  std::vector<TraceEntry> trace_;
  std::vector<RecordedArrival> arrivals_;                ///< with options_.transfers
  std::vector<std::vector<core::Tick>> completions_at_;  ///< per group and instance, likewise
  std::vector<RateEntry> rates_;
  std::vector<ActorPath> paths_;              ///< with options_.paths
  LargeVector<InstancePath> instance_paths_;  ///< likewise: behind the last arrival of each
  std::uint64_t ends_known_ = 0;
  std::size_t untold_ = 0;  // advances since progress was told
  bool check_solves_ = false, new_iteration_ = false;
  std::uint32_t watched_ = kNone;  // the actor whose outermost loop PeriodSkipper watches
};

}  // namespace headway::network

// Loop folding: when the whole state repeats, but for the clock, jump over the repetitions.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/flow/engine.h"

namespace headway::network {

/// Watches one actor's outermost loop. At each of its iterations the state, relative to now, is
/// compared with a reference taken at iteration 1, 2, 4, 8, ... (Brent 1980). If equal after dt
/// ticks in which each loop counter fell by some D, then as many periods as every counter allows
/// are skipped: all pending ticks move, all sums grow by their growth in one period, the digests by
/// a geometric series. Exact. Paths pass from actor to actor, so they are sums only where two
/// periods in a row made each of them grow alike: with P <- S P + d, a growth that S leaves as it
/// is stays for ever.
class PeriodSkipper {
 public:
  explicit PeriodSkipper(Engine& engine) : engine_(engine) {}

  /// Called after the solve of a tick in which the watched actor began another iteration.
  void at_iteration();

 private:
  struct Snapshot {
    core::Tick now = 0;
    LargeVector<Engine::ActorState> actors;
    LargeVector<Engine::Slot> slots;
    std::vector<std::int64_t> counters;
    LargeVector<Engine::GroupState> groups;
    LargeVector<Engine::Instance> instances;
    LargeVector<MovingFlow> moving;
    std::vector<std::uint32_t> seats;  ///< of moving, per flow
    std::vector<core::Tick> due;       ///< per entity, as TickQueue::due
    std::vector<core::ByActivity<core::Tick>> activity;
    std::vector<core::ByActivity<core::Tick>> paths;  ///< as current_paths gives them
    std::size_t live = 0, next_change = 0;
    std::uint64_t events = 0, event_sum = 0, result_sum = 0;
  };

  void remember();
  [[nodiscard]] bool repeats() const;
  [[nodiscard]] bool actors_repeat() const;
  [[nodiscard]] bool counters_repeat() const;
  [[nodiscard]] bool slots_repeat() const;
  [[nodiscard]] bool groups_repeat() const;
  [[nodiscard]] bool instances_repeat(std::uint32_t group) const;
  [[nodiscard]] bool flows_repeat() const;
  /// What the reference has of a flow that moves now; nothing if it did not move then.
  [[nodiscard]] const MovingFlow* moved_before(const MovingFlow& now) const;
  [[nodiscard]] bool due_repeats() const;
  /// Of the actors, then of the instances that somebody has arrived at, group by group.
  [[nodiscard]] std::vector<core::ByActivity<core::Tick>> current_paths() const;
  /// Whether the paths grew as in the period before, or nobody asks for them; if not, this period
  /// is what the next is compared with.
  [[nodiscard]] bool paths_repeat();
  /// Moved with the clock, or did not move at all.
  [[nodiscard]] bool steady(core::Tick before, core::Tick now) const {
    return now - before == period_ || now == before;
  }
  [[nodiscard]] bool moved(core::Tick before, core::Tick now) const {
    return now - before == period_;
  }
  [[nodiscard]] std::int64_t periods_left() const;

  void jump(std::int64_t periods);
  void jump_actors(std::int64_t periods);
  void jump_groups(std::int64_t periods);
  void jump_flows(std::int64_t periods);
  void jump_sums(std::int64_t periods);
  void jump_paths(std::int64_t periods);

  Engine& engine_;
  Snapshot reference_;
  bool has_reference_ = false;
  std::uint64_t iterations_ = 0, next_reference_ = 1;
  core::Tick period_ = 0;
  std::vector<core::ByActivity<core::Tick>> growth_;  ///< of the paths, in the period
  core::Tick grown_until_ = -1;                       ///< the end of that period
};

}  // namespace headway::network

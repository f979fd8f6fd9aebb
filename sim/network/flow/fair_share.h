// Weighted max-min fair rates in integers, solved again only where something changed.
//
// Progressive filling: all flows' levels rise together; a link whose capacity is used up freezes
// its flows,
//     level = floor((capacity - what frozen flows take) / sum of the loads of the others),
// and all links at the lowest level freeze together. A flow's rate is level x weight; a private
// bound is a link of its own. The levels are a function of the active flows alone: `solve` gives
// the same integers whatever the order of additions and removals, and whatever was solved again.
//
// A link on which the bounds of its active flows fit decides nothing (rule 2 of needless_links.h)
// and is *slack*: no solve looks at it. The loads of each flow begin with those on links that are
// not, so a collective over hundreds of links costs what it contends for, not what it crosses.
//
// A flow has state only while it takes part: it sits in a *seat*, which the next one takes after
// it. Inside, flows are known by their seats.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/flow/integer.h"
#include "sim/network/flow/large_vector.h"
#include "sim/network/flow/slice_pool.h"

namespace headway::network {

/// One link of a flow, and how much capacity one unit of the flow's level takes there.
struct FlowLoad {
  std::uint32_t link = 0;
  std::uint32_t load = 1;  ///< coefficient x fairness weight
};

/// What the solver works on, as plain tables. Each flow names a link at most once.
struct FairShareTables {
  std::vector<std::int64_t> capacity;        ///< per link
  std::vector<std::uint32_t> first_load{0};  ///< per flow, and one past the end
  LargeVector<FlowLoad> loads;
  std::vector<std::int64_t> bound;  ///< per flow, largest level; kUnbounded
};

class FairShare {
 public:
  using Level = std::int64_t;
  static constexpr Level kUnbounded = INT64_MAX;

  explicit FairShare(FairShareTables tables);

  /// The flow takes part from the next `solve` on. INVARIANT: it does not yet.
  /// @returns its seat; seats are numbered from 0, and one that was left comes before a new one
  std::uint32_t add(std::uint32_t flow);
  /// The flow leaves its seat. INVARIANT: `solve` was called since it was added.
  void remove(std::uint32_t seat);
  void set_capacity(std::uint32_t link, std::int64_t capacity);

  /// Brings all levels up to date.
  /// @returns the seats whose flow's level changed, new ones included; valid until the next call
  std::span<const std::uint32_t> solve();
  /// Solves everything from scratch and says whether every level is as it was; for tests.
  [[nodiscard]] bool agrees_with_full_solve();

  [[nodiscard]] Level level(std::uint32_t seat) const { return flows_[seat].level; }
  [[nodiscard]] std::size_t flows() const { return tables_.bound.size(); }
  [[nodiscard]] std::size_t active() const { return active_; }
  [[nodiscard]] bool taken(std::uint32_t seat) const {
    return seat < flows_.size() && flows_[seat].level != kAbsent;
  }
  /// Fetches what `add` reads of a flow: where its loads are, then these, then their links.
  void prefetch_flow(std::uint32_t flow) const;
  void prefetch_flow_loads(std::uint32_t flow) const;
  void prefetch_flow_links(std::uint32_t flow) const;
  /// Fetches what `remove` touches: the seat, its loads, their links, and then where it stands
  /// among their members.
  void prefetch(std::uint32_t seat) const { __builtin_prefetch(&flows_[seat], 1); }
  void prefetch_loads(std::uint32_t seat) const {
    __builtin_prefetch(loads_.data() + flows_[seat].first, 1);
  }
  void prefetch_links(std::uint32_t seat) const;
  void prefetch_members(std::uint32_t seat) const;
  /// Flow levels computed so far, for profiling.
  [[nodiscard]] std::uint64_t flow_solves() const { return flow_solves_; }

 private:
  static constexpr Level kAbsent = -2;
  static constexpr Level kNew = -1;

  struct Member {
    std::uint32_t flow = 0;
    std::uint32_t load_index = 0;
  };
  // Packed by what an event touches together: a run is limited by cache lines.
  struct alignas(64) Link {
    Int128 wanted = 0;  ///< sum of bound x load of its active flows
    Level capacity = 0;
    Level used = 0;           ///< sum of level x load of its solved flows; not kept while slack
    std::int64_t weight = 0;  ///< sum of the loads of its active flows
    std::uint32_t first = 0;  ///< its slice of members_, for all members but one
    std::uint32_t active = 0;
    Member front;                 ///< the first member: many links never have two at a time
    std::int8_t order = -1;       ///< of that slice; -1: it has none yet
    bool slack = true;            ///< the bounds of its active flows fit
    bool shared = false;          ///< several flows of the region use it, during a fill
    std::uint32_t stamp = 0;      ///< last region that visited it
    std::int64_t unfrozen = 0;    ///< during a fill: sum of the loads not yet frozen
    Level froze_at = kUnbounded;  ///< when it ran full in its last fill
    Level tight = kAbsent;  ///< level of the flows it is the bottleneck of; kAbsent: it has room
    std::uint32_t fill_stamp = 0;  ///< last fill that visited it
    std::uint32_t last_flow = 0;   ///< of the region, during a fill
  };
  struct alignas(64) FlowState {
    std::uint32_t first = 0, loads = 0;  ///< its slice of loads_, if it has any
    std::uint32_t contended = 0;         ///< how many of its first loads are not slack
    std::uint32_t stamp = 0;             ///< last region it was in
    Level bound = kUnbounded;
    Level level = kAbsent;       ///< kAbsent, kNew or the solved level
    Level stop = kUnbounded;     ///< its bound, or a link that only it fills, during a fill
    std::uint32_t unfrozen = 0;  ///< stamp of the fill in which it is not yet frozen
  };
  struct Load {
    std::uint32_t link = 0, load = 1;
    std::uint32_t member = 0;  ///< where it stands among the link's, while its flow is active
  };
  struct Seed {
    Level threshold;
    std::uint32_t flow;  ///< kNoFlow: the link
    std::uint32_t link;
    bool whole_link = false;  ///< its capacity changed: all its flows are concerned
  };
  /// What freezes flows at a level no lower than this: a link, or what one flow meets by itself.
  struct HeapEntry {
    Level level;
    std::uint32_t index;
    bool flow;
  };
  static constexpr std::uint32_t kNoFlow = 0xffffffffU;

  /// The flow's loads on links that are not slack.
  [[nodiscard]] std::span<const Load> loads(std::uint32_t flow) const {
    return {loads_.data() + flows_[flow].first, flows_[flow].contended};
  }
  [[nodiscard]] const Member& member(const Link& link, std::uint32_t place) const {
    return place == 0 ? link.front : members_[link.first + place - 1];
  }
  Member& member(Link& link, std::uint32_t place) {
    return place == 0 ? link.front : members_[link.first + place - 1];
  }
  void make_room(Link& link);
  Member& member_of(const Load& load) { return member(links_[load.link], load.member); }
  void collect_seeds();
  void new_region();
  bool include(std::uint32_t flow);
  [[nodiscard]] bool included(std::uint32_t flow) const {
    return flows_[flow].stamp == region_stamp_;
  }
  void report_changes();

  [[nodiscard]] bool fits(const Link& link) const;
  void update_slack(std::uint32_t link);
  void contend(std::uint32_t load);
  void swap_loads(std::uint32_t a, std::uint32_t b);

  // fair_share_region.cpp: which flows to solve again
  void solve_by_level_cut();
  void reach(std::uint32_t flow);
  void reach_link(std::uint32_t link);
  bool solve_tight();
  void begin_tight();
  bool grow_region();
  void examine(std::uint32_t link);
  void suspect(const Link& link, Level was);
  [[nodiscard]] bool has_bottleneck(std::uint32_t flow) const;
  void restore_region();

  // fair_share_fill.cpp: progressive filling of the region
  void fill();
  void begin_fill();
  void make_heap();
  Level lowest_level();
  [[nodiscard]] bool is_over(const HeapEntry& entry) const;
  void freeze(std::uint32_t flow, Level level);
  void freeze_batch(Level level);
  [[nodiscard]] Level fill_level(const Link& link) const;
  std::pair<Level, std::int64_t> refresh_tight(Link& link) const;

  FairShareTables tables_;
  LargeVector<Link> links_;
  LargeVector<FlowState> flows_;  // per seat
  std::vector<std::uint32_t> free_seats_;
  SlicePool<Load> loads_;
  SlicePool<Member> members_;  // per link: a slice whose first `active - 1` entries are valid
  std::size_t active_ = 0;

  std::vector<std::uint32_t> added_;
  std::vector<Seed> link_seeds_, seeds_;
  std::vector<std::uint32_t> region_, changed_;
  std::vector<Level> old_level_;  // of region_, before this solve
  std::uint32_t region_stamp_ = 0;
  std::vector<std::uint32_t> link_queue_, suspects_;

  std::vector<std::uint32_t> fill_links_, batch_, flow_batch_;
  std::vector<HeapEntry> heap_;
  std::size_t unfrozen_flows_ = 0;  ///< of the region, during a fill
  std::uint32_t fill_stamp_ = 0;
  std::uint64_t flow_solves_ = 0;
};

}  // namespace headway::network

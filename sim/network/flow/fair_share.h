// Weighted max-min fair rates in integers, solved again only where something changed.
//
// Progressive filling: all flows' levels rise together; a link whose capacity is used up freezes
// its flows,
//     level = floor((capacity - what frozen flows take) / sum of the loads of the others),
// and all links at the lowest level freeze together. A flow's rate is level x weight; a private
// bound is a link of its own. The levels are a function of the active flows alone: `solve` gives
// the same integers whatever the order of additions and removals, and whatever was solved again.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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
  std::vector<FlowLoad> loads;
  std::vector<std::int64_t> bound;  ///< per flow, largest level; kUnbounded
};

class FairShare {
 public:
  using Level = std::int64_t;
  static constexpr Level kUnbounded = INT64_MAX;

  explicit FairShare(FairShareTables tables);

  /// The flow takes part from the next `solve` on. INVARIANT: it does not yet.
  void add(std::uint32_t flow);
  /// The flow leaves. INVARIANT: it takes part, and `solve` was called since it was added.
  void remove(std::uint32_t flow);
  void set_capacity(std::uint32_t link, std::int64_t capacity);

  /// Brings all levels up to date.
  /// @returns the flows whose level changed, new ones included; valid until the next call
  std::span<const std::uint32_t> solve();
  /// Solves everything from scratch and says whether every level is as it was; for tests.
  [[nodiscard]] bool agrees_with_full_solve();

  [[nodiscard]] Level level(std::uint32_t flow) const { return level_[flow]; }
  [[nodiscard]] Level capacity(std::uint32_t link) const { return links_[link].capacity; }
  [[nodiscard]] Level used(std::uint32_t link) const;
  [[nodiscard]] std::size_t flows() const { return level_.size(); }
  [[nodiscard]] std::size_t active() const { return active_; }
  [[nodiscard]] bool takes_part(std::uint32_t flow) const { return level_[flow] != kAbsent; }
  /// Flow levels computed so far, for profiling.
  [[nodiscard]] std::uint64_t flow_solves() const { return flow_solves_; }

 private:
  static constexpr Level kAbsent = -2;
  static constexpr Level kNew = -1;

  struct Link {
    Level capacity = 0;
    Level used = 0;             ///< sum of level x load of its solved flows
    std::int64_t weight = 0;    ///< sum of the loads of its active flows
    std::int64_t unfrozen = 0;  ///< during a fill: sum of the loads not yet frozen
    Level tight = kAbsent;    ///< level of the flows it is the bottleneck of; kAbsent: it has room
    std::uint32_t first = 0;  ///< its slice of members_
    std::uint32_t active = 0;
    std::uint32_t stamp = 0;       ///< last region that visited it
    std::uint32_t fill_stamp = 0;  ///< last fill that visited it
  };
  struct Member {
    std::uint32_t flow;
    std::uint32_t load_index;
  };
  /// The only flow that ever uses a link, if that flow has no other kind of links: it needs no
  /// solve and leaves no trace on them.
  static constexpr Level kShares = -1;
  struct Seed {
    Level threshold;
    std::uint32_t flow;  ///< kNoFlow: the link
    std::uint32_t link;
    bool whole_link = false;  ///< its capacity changed: all its flows are concerned
  };
  struct HeapEntry {
    Level level;
    std::uint32_t link;
  };
  static constexpr std::uint32_t kNoFlow = 0xffffffffU;

  [[nodiscard]] std::span<const FlowLoad> loads(std::uint32_t flow) const;
  [[nodiscard]] std::span<const Member> members(const Link& link) const;
  bool take_alone(std::uint32_t flow);
  void collect_seeds();
  void new_region();
  bool include(std::uint32_t flow);
  [[nodiscard]] bool included(std::uint32_t flow) const {
    return flow_stamp_[flow] == region_stamp_;
  }
  void report_changes();
  void find_private_flows();
  [[nodiscard]] Level private_level(std::uint32_t flow) const;
  [[nodiscard]] bool is_private(std::uint32_t flow) const {
    return private_level_[flow] != kShares;
  }

  // fair_share_region.cpp: which flows to solve again
  void solve_by_level_cut();
  void reach(std::uint32_t flow);
  void reach_link(std::uint32_t link);
  bool solve_tight();
  void begin_tight();
  bool grow_region();
  void examine(std::uint32_t link);
  [[nodiscard]] bool has_bottleneck(std::uint32_t flow) const;
  void restore_region();

  // fair_share_fill.cpp: progressive filling of the region
  void fill();
  void begin_fill();
  Level lowest_level();
  void freeze(std::uint32_t flow, Level level);
  void freeze_batch(Level level);
  [[nodiscard]] Level fill_level(const Link& link) const;
  std::pair<Level, std::int64_t> refresh_tight(Link& link) const;

  std::vector<Link> links_;
  std::vector<std::uint32_t> first_load_;
  std::vector<FlowLoad> loads_;
  std::vector<Level> bound_;
  std::vector<Level> level_;          // kAbsent, kNew or the solved level
  std::vector<Level> private_level_;  // per flow that never shares a link: its level; else kShares
  std::vector<std::uint32_t> owner_;  // per link: the private flow that uses it; else kNoFlow
  std::vector<std::uint32_t> position_;  // per load: where its member stands in members_
  std::vector<Member> members_;          // per link: a slice whose first `active` entries are valid
  std::size_t active_ = 0;

  std::vector<std::uint32_t> added_;
  std::vector<std::uint32_t> private_changed_;  // since the last solve
  std::vector<std::pair<std::uint32_t, Level>> removed_;
  std::vector<Seed> link_seeds_, seeds_;
  std::vector<std::uint32_t> region_, changed_;
  std::vector<Level> old_level_;  // of region_, before this solve
  std::vector<std::uint32_t> flow_stamp_;
  std::uint32_t region_stamp_ = 0;
  std::vector<std::uint32_t> link_queue_, suspects_;

  std::vector<std::uint32_t> fill_links_, bounded_, batch_;
  std::vector<std::uint32_t> in_fill_;  // per flow: stamp of the fill in which it is not yet frozen
  std::vector<Level> froze_at_;         // per link: when it ran full in its last fill
  std::vector<HeapEntry> heap_;
  std::size_t next_bounded_ = 0;
  std::size_t unfrozen_flows_ = 0;  ///< of the region, during a fill
  std::uint32_t fill_stamp_ = 0;
  std::uint64_t flow_solves_ = 0;
};

}  // namespace headway::network

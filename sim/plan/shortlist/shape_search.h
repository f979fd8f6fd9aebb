// The layouts of one shape: which keep the rules and fit, which are fastest by the analytic tier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/core/infeasible.h"
#include "sim/core/units.h"
#include "sim/plan/rejections.h"
#include "sim/plan/shortlist/fit.h"
#include "sim/plan/space.h"
#include "sim/workload/violation.h"

namespace headway::plan {

/// Time of a step that is longer than the clock counts.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// A layout and its step by the analytic tier.
struct Estimate {
  ParallelismSpec layout;
  int micro_batches = 1;
  core::Seconds time;
  std::int64_t number = 0;  ///< in the order of the space: ties go to the smaller one
};

/// Layouts that lack the same kind of memory, and which of them lacks least.
struct Missed {
  std::int64_t count = 0;
  ParallelismSpec nearest;
  Lack lack;
};

/// Counts one more, and keeps the nearer.
void add_missed(const Missed& one, std::map<Memory, Missed>& all);

/// "3.1 GiB more than 76.0 GiB: tensor 4 x ..."
std::string missed_text(const Missed& missed);

/// Why a layout is left out that is not among the best.
inline constexpr const char* kSlower = "slower";
inline constexpr const char* kManyFaster = "the analytic tier finds enough others that are faster";

/// Some layouts of a shape: those with one micro-batch, recompute or sharding; all where it names
/// none.
struct OnlyLayouts {
  std::optional<int> micro_batch;
  std::optional<workload::Recompute> recompute;
  std::optional<workload::Sharding> sharding;
  /// Of these, those that recompute most, and only whether any fits: none is timed.
  bool leanest = false;

  [[nodiscard]] bool has(const Cut& cut) const {
    return !micro_batch || *micro_batch == cut.micro_batch;
  }
  [[nodiscard]] bool has(const PassChoice& pass) const {
    return !recompute || *recompute == pass.recompute;
  }
  [[nodiscard]] bool has(const StateChoice& state) const {
    return !sharding || *sharding == state.sharding;
  }
};

/// Places from the least bound up.
std::vector<std::size_t> rising(const std::vector<core::Seconds>& bounds);

/// By time; equals in the order of the space.
bool better(const Estimate& a, const Estimate& b);

/// The best so many, in order.
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}
  void add(Estimate one) {
    const auto place = std::lower_bound(list_.begin(), list_.end(), one, better);
    if (list_.size() < most_ || place != list_.end()) {
      list_.insert(place, std::move(one));
      list_.resize(std::min(list_.size(), most_));
    }
  }
  /// What a further one must not exceed.
  [[nodiscard]] core::Seconds limit() const {
    return list_.size() < most_ ? core::Seconds(kNever) : list_.back().time;
  }
  [[nodiscard]] const std::vector<Estimate>& list() const { return list_; }

 private:
  std::size_t most_;
  std::vector<Estimate> list_;
};

/// What came of one shape.
struct Opened {
  std::vector<Estimate> best;
  Rejections rejected;
  std::int64_t estimated = 0;
  bool any_fits = false;  ///< of the leanest, where only they are looked at
  std::map<Memory, Missed> missed;
};

/// A tier, or nothing after a layout too long for its clock, of which what it remembers is not
/// whole.
class Tier {
 public:
  explicit Tier(const training::Scenario& scenario) : scenario_(&scenario) {}

  /// @returns never where the step is longer than the clock counts
  template <class Ask>
  core::Seconds ask(const Ask& question) {
    try {
      if (!tier_) {
        tier_ = std::make_unique<analytic::AnalyticTier>(*scenario_);
      }
      return question(*tier_);
    } catch (const core::Infeasible&) {
      tier_.reset();
      return core::Seconds(kNever);
    }
  }

  /// Fills in the times of layouts; never as `ask` has it.
  void time(int data, std::vector<Estimate>& list) {
    if (list.empty()) {
      return;
    }
    std::vector<analytic::LayoutAsked> asked;
    for (const Estimate& one : list) {
      asked.push_back({&one.layout, data, one.micro_batches});
    }
    std::vector<analytic::AnalyticStep> steps(list.size());
    const core::Seconds all = ask([&](analytic::AnalyticTier& tier) {
      tier.evaluate(asked, steps);
      return core::Seconds(0);
    });
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].time =
          all < core::Seconds(kNever) ? steps[i].time : ask([&](analytic::AnalyticTier& tier) {
            return tier.evaluate(list[i].layout, data, list[i].micro_batches).time;
          });
    }
  }

 private:
  const training::Scenario* scenario_;
  std::unique_ptr<analytic::AnalyticTier> tier_;
};

/// Works through the layouts of one shape.
class ShapeSearch {
 public:
  ShapeSearch(const training::Scenario& scenario,
              const Space& space,
              const Shape& shape,
              std::int64_t first_number,
              double headroom,
              Tier& tier)
      : s_(scenario),
        space_(space),
        shape_(shape),
        passes_(space.passes(shape)),
        first_(first_number),
        headroom_(headroom),
        tier_(tier) {}

  /// The least time of any of its layouts that are looked at; never where none keeps the rules.
  core::Seconds bound();

  /// What is opened from here on.
  void look_only_at(const OnlyLayouts& only) { only_ = only; }

  /// Called often from here on; what it throws ends the search. May be empty.
  void call_often(const std::function<void()>& look) { look_ = &look; }
  void call_often(std::function<void()>&&) = delete;  // it would be gone

  /// The best layouts that are within a limit.
  Opened open(core::Seconds limit, std::size_t most);

  static void add_slower(Rejections& rejected, std::int64_t count);

  /// Why no layout with this cut is looked at.
  [[nodiscard]] std::optional<workload::Violation> problem_of(const Cut& cut) const;

 private:
  struct Pass {
    std::size_t index = 0;
    core::Seconds bound;
    ParallelismSpec layout;
  };

  void look() const {
    if (look_ != nullptr && *look_) {
      (*look_)();
    }
  }

  [[nodiscard]] int micro_batches(const Cut& cut) const;

  [[nodiscard]] ParallelismSpec neutral(const Cut& cut) const;

  [[nodiscard]] std::optional<workload::Violation> first_problem(const ParallelismSpec& layout,
                                                                 const Cut& cut) const;

  void reject(const workload::Violation& problem, std::int64_t count);

  core::Seconds least(const ParallelismSpec& layout, const Cut& cut);

  /// Nothing recomputed and nothing copied, whether that is among the choices or not.
  core::Seconds bound_of(const Cut& cut);

  /// State choices that keep the rules, whatever the cut and the passes.
  void list_states();
  /// Passes that are looked at, whatever the cut and the states.
  [[nodiscard]] std::vector<std::size_t> looked_at() const;
  /// Whether layouts that recompute fully alone are looked at, and these passes are of one where
  /// memory asks for it: with the fewest recomputed layers.
  [[nodiscard]] bool made_full(const PassChoice& pass) const;

  /// Whether any of the states that are looked at keeps the rules; says why if none does.
  bool has_states();

  void open_cut(std::size_t place, core::Seconds limit, Fit& fit, Best& best);

  /// Times those that wait for it: layouts of one cut share an order of passes.
  void time_waiting(core::Seconds limit, Best& best);

  void open_pass(const Pass& pass,
                 const Cut& cut,
                 std::int64_t first,
                 core::Seconds limit,
                 Fit& fit,
                 Best& best);

  /// Bounds and times are sums in different orders. Source: rounding of doubles, with room.
  static constexpr double kRoundedDown = 1 - 1e-9;

  const training::Scenario& s_;
  const Space& space_;
  const Shape& shape_;
  const std::vector<PassChoice>& passes_;
  std::int64_t first_;
  double headroom_;
  Tier& tier_;
  OnlyLayouts only_;
  const std::function<void()>* look_ = nullptr;
  std::vector<std::optional<workload::Violation>> state_problems_;
  Opened out_;
  std::vector<Estimate> waiting_;  ///< to be timed together
  std::int64_t slower_ = 0;
  std::int64_t too_long_ = 0;  ///< timed, and found longer than the clock counts
  std::int64_t never_ = 0;     ///< as their bound already is
};

}  // namespace headway::plan

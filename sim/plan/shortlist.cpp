#include "sim/plan/shortlist.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <tuple>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/fit.h"
#include "sim/training/check.h"
#include "sim/training/sites/check_sites.h"
#include "sim/training/step/step.h"
#include "sim/training/unequal/check_unequal.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::plan {

using core::Seconds;
using namespace core::literals;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr const char* kSlower = "slower";
constexpr const char* kManyFaster = "the analytic tier finds enough others that are faster";

auto family_of(const ParallelismSpec& p) {
  return std::tuple(p.tensor, p.context, p.pipeline, p.expert, p.expert_tensor);
}
using Family = decltype(family_of(ParallelismSpec{}));

bool better(const Estimate& a, const Estimate& b) {
  return a.time != b.time ? a.time < b.time : a.number < b.number;
}

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
  [[nodiscard]] Seconds limit() const {
    return list_.size() < most_ ? Seconds(kNever) : list_.back().time;
  }
  [[nodiscard]] const std::vector<Estimate>& list() const { return list_; }

 private:
  std::size_t most_;
  std::vector<Estimate> list_;
};

/// A field without its dots: "parallelism.expert" is counted as "expert".
std::string field_of(const workload::Violation& violation) {
  return violation.path.substr(violation.path.rfind('.') + 1);
}

/// What came of one shape.
struct Opened {
  std::vector<Estimate> best;
  Rejections rejected;
  std::int64_t estimated = 0;
  std::map<Memory, Missed> missed;
};

void add_missed(const Missed& one, std::map<Memory, Missed>& all) {
  const auto [place, fresh] = all.try_emplace(one.lack.memory, one);
  if (!fresh) {
    Missed& known = place->second;
    const std::int64_t count = known.count + one.count;
    if (one.lack.needs < known.lack.needs) {
      known = one;
    }
    known.count = count;
  }
}

std::string lack_text(const Lack& lack, const training::NodeSpec& node) {
  const double gib = node.gpu.memory / 1_GiB;
  const double share = 100 * (lack.has / node.gpu.memory);
  switch (lack.memory) {
    case Memory::gpu:
      return fmt::format("needs more than {:.0f} % of the {:.0f} GiB of a {}", share, gib,
                         node.gpu.name);
    case Memory::headroom:
      return fmt::format("leaves less than {} % of the {:.0f} GiB of a {} free",
                         core::number(100 - share), gib, node.gpu.name);
    case Memory::host:
      return fmt::format("moves more to the host than the {} GiB that it has for each GPU",
                         core::number(lack.has / 1_GiB));
  }
  return {};
}

/// Counts layouts that do not fit, and says which came closest.
void reject_missed(const std::map<Memory, Missed>& all,
                   const training::ClusterSpec& cluster,
                   Rejections& rejected) {
  for (const auto& [memory, missed] : all) {
    const std::string kind(core::to_word(memory));
    const auto& node = training::node_of_kind(cluster, missed.lack.kind);
    const std::string reason = lack_text(missed.lack, node);
    const core::Bytes more = missed.lack.needs - missed.lack.has;
    rejected.add(kind, reason, missed.count);
    rejected.set_nearest(
        kind, reason, more / missed.lack.has,
        fmt::format("{} GiB more than {} GiB: {}", core::number(more / 1_GiB),
                    core::number(missed.lack.has / 1_GiB), layout_text(missed.nearest)));
  }
}

/// A tier, or nothing after a layout too long for its clock, of which what it remembers is not
/// whole.
class Tier {
 public:
  explicit Tier(const training::Scenario& scenario) : scenario_(&scenario) {}

  /// @returns never where the step is longer than the clock counts
  template <class Ask>
  Seconds ask(const Ask& question) {
    try {
      if (!tier_) {
        tier_ = std::make_unique<analytic::AnalyticTier>(*scenario_);
      }
      return question(*tier_);
    } catch (const core::Infeasible&) {
      tier_.reset();
      return Seconds(kNever);
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
    const Seconds all = ask([&](analytic::AnalyticTier& tier) {
      tier.evaluate(asked, steps);
      return Seconds(0);
    });
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].time = all < Seconds(kNever) ? steps[i].time : ask([&](analytic::AnalyticTier& tier) {
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
              const ShortlistOptions& options,
              Tier& tier)
      : s_(scenario),
        space_(space),
        shape_(shape),
        passes_(space.passes(shape)),
        first_(first_number),
        options_(options),
        tier_(tier) {}

  /// The least time of any of its layouts; never where none keeps the rules.
  Seconds bound() {
    Seconds least(kNever);
    for (const Cut& cut : space_.cuts(shape_)) {
      look();
      if (!problem_of(cut)) {
        least = std::min(least, bound_of(cut));
      }
    }
    return least;
  }

  Opened open(Seconds limit) {
    Best best(options_.of_family);
    Fit fit(s_, shape_, options_.headroom);
    list_states();
    for (std::size_t i = 0; i < space_.cuts(shape_).size(); ++i) {
      look();
      const Cut& cut = space_.cuts(shape_)[i];
      if (const auto problem = problem_of(cut)) {
        reject(*problem, std::ssize(passes_) * std::ssize(shape_.states));
        continue;
      }
      const Seconds bound = bound_of(cut);
      if (bound == Seconds(kNever)) {  // nor is any of its layouts shorter
        never_ += std::ssize(passes_) * std::ssize(shape_.states);
        continue;
      }
      if (bound > limit) {
        slower_ += std::ssize(passes_) * std::ssize(shape_.states);
        continue;
      }
      open_cut(i, limit, fit, best);
    }
    out_.best = best.list();
    // Those that others pushed out of the list.
    slower_ += out_.estimated - too_long_ - std::ssize(out_.best);
    add_slower(out_.rejected, slower_);
    out_.rejected.add("too large", "its step is longer than the 106 days that can be simulated",
                      too_long_ + never_);
    return std::move(out_);
  }

  static void add_slower(Rejections& rejected, std::int64_t count) {
    rejected.add(kSlower, kManyFaster, count);
  }

  /// Why no layout with this cut is looked at.
  [[nodiscard]] std::optional<workload::Violation> problem_of(const Cut& cut) const {
    const std::int64_t together = std::int64_t{shape_.data} * cut.micro_batch;
    if (s_.training.global_batch % together != 0) {
      return workload::Violation{
          "batch", fmt::format("the global batch of {} sequences is no multiple of data x "
                               "micro-batch",
                               s_.training.global_batch)};
    }
    if (too_long(micro_batches(cut), s_.model)) {
      return workload::Violation{
          "too large",
          fmt::format("a step of more than {} micro-batches x layers is too long for a search: "
                      "make training.global_batch smaller",
                      core::count(static_cast<double>(kMostLayers)))};
    }
    if (s_.model.hidden % shape_.layout.tensor != 0) {
      return workload::Violation{"tensor", "tensor does not divide the model's hidden size"};
    }
    return first_problem(neutral(cut), cut);
  }

 private:
  void look() const {
    if (options_.look) {
      options_.look();
    }
  }

  struct Pass {
    std::size_t index = 0;
    Seconds bound;
    ParallelismSpec layout;
  };

  [[nodiscard]] int micro_batches(const Cut& cut) const {
    return s_.training.global_batch / shape_.data / cut.micro_batch;
  }

  [[nodiscard]] ParallelismSpec neutral(const Cut& cut) const {
    return space_.layout(shape_, cut, PassChoice{}, StateChoice{});
  }

  [[nodiscard]] std::optional<workload::Violation> first_problem(const ParallelismSpec& layout,
                                                                 const Cut& cut) const {
    const auto problems =
        workload::violations(s_.model, s_.training, layout, shape_.data, micro_batches(cut));
    if (problems.empty()) {
      auto of_cluster = training::site_layout_violations(s_, layout, shape_.data);
      const auto of_kinds = training::unequal_layout_violations(s_, layout);
      of_cluster.insert(of_cluster.end(), of_kinds.begin(), of_kinds.end());
      return of_cluster.empty() ? std::nullopt : std::optional(of_cluster.front());
    }
    return problems.front();
  }

  void reject(const workload::Violation& problem, std::int64_t count) {
    const bool own = problem.path == "batch" || problem.path == "too large";
    if (own) {
      out_.rejected.add(problem.path, problem.text, count);
    } else {
      out_.rejected.add_example(field_of(problem), problem.text, count);
    }
  }

  Seconds least(const ParallelismSpec& layout, const Cut& cut) {
    return tier_.ask([&](analytic::AnalyticTier& tier) {
      return tier.least(layout, shape_.data, micro_batches(cut)) * kRoundedDown;
    });
  }

  /// Nothing recomputed and nothing copied, whether that is among the choices or not.
  Seconds bound_of(const Cut& cut) {
    ParallelismSpec layout = neutral(cut);
    Seconds bound(kNever);
    std::optional<workload::RankOrder> before;
    for (const PassChoice& pass : passes_) {
      if (before != pass.order) {
        layout.rank_order = pass.order;
        bound = std::min(bound, least(layout, cut));
        if (before) {
          break;
        }
        before = pass.order;
      }
    }
    return bound;
  }

  /// State choices that keep the rules, whatever the cut and the passes.
  void list_states() {
    const Cut& cut = space_.cuts(shape_).front();
    for (const StateChoice& state : shape_.states) {
      const auto layout = space_.layout(shape_, cut, PassChoice{}, state);
      auto problems = workload::unsupported(s_.model, s_.training, layout);
      if (auto problem = workload::shard_problem(layout, shape_.data)) {
        problems.push_back(std::move(*problem));
      }
      for (auto& problem : training::site_layout_violations(s_, layout, shape_.data)) {
        if (problem.path == "parallelism.shard_group_size") {
          problems.push_back(std::move(problem));  // the others are asked of each pass
        }
      }
      state_problems_.push_back(problems.empty() ? std::nullopt : std::optional(problems.front()));
    }
  }

  void open_cut(std::size_t place, Seconds limit, Fit& fit, Best& best) {
    const Cut& cut = space_.cuts(shape_)[place];
    const auto states = std::ssize(shape_.states);
    std::vector<Pass> passes;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      Pass pass{i, {}, space_.layout(shape_, cut, passes_[i], StateChoice{})};
      if (const auto problem = first_problem(pass.layout, cut)) {
        reject(*problem, states);
        continue;
      }
      pass.bound = least(pass.layout, cut);
      if (pass.bound == Seconds(kNever)) {
        never_ += states;
        continue;
      }
      passes.push_back(std::move(pass));
    }
    std::stable_sort(passes.begin(), passes.end(),
                     [](const Pass& a, const Pass& b) { return a.bound < b.bound; });
    fit.set_micro_batches(micro_batches(cut));
    const std::int64_t first = first_ + static_cast<std::int64_t>(place * passes_.size()) * states;
    for (const Pass& pass : passes) {
      if (pass.bound > std::min(limit, best.limit())) {
        slower_ += states;
        continue;
      }
      fit.set_passes(pass.layout);
      open_pass(pass, cut, first + static_cast<std::int64_t>(pass.index) * states, limit, fit,
                best);
    }
    time_waiting(limit, best);
  }

  /// Times those that wait for it: layouts of one cut share an order of passes.
  void time_waiting(Seconds limit, Best& best) {
    look();
    tier_.time(shape_.data, waiting_);
    for (Estimate& estimate : waiting_) {
      ++out_.estimated;
      if (estimate.time == Seconds(kNever)) {
        ++too_long_;
      } else if (estimate.time <= limit) {
        best.add(std::move(estimate));
      }
    }
    waiting_.clear();
  }

  void open_pass(
      const Pass& pass, const Cut& cut, std::int64_t first, Seconds limit, Fit& fit, Best& best) {
    for (std::size_t i = 0; i < shape_.states.size(); ++i) {
      if (state_problems_[i]) {
        reject(*state_problems_[i], 1);
        continue;
      }
      const StateChoice& state = shape_.states[i];
      if (!space_.asked(passes_[pass.index], state)) {
        out_.rejected.add("offload", "search.offload does not name both together");
        continue;
      }
      if (pass.bound > std::min(limit, best.limit())) {
        ++slower_;
        continue;
      }
      Estimate estimate{pass.layout, micro_batches(cut), {}, first + static_cast<std::int64_t>(i)};
      state.apply(estimate.layout);
      if (const auto lack = fit.lack(estimate.layout, i)) {
        auto settled = space_.tries_fewest(passes_[pass.index]) && lack->memory != Memory::host
                           ? fit.fewest_recomputed(estimate.layout, i)
                           : std::nullopt;
        if (!settled) {
          add_missed({1, estimate.layout, *lack}, out_.missed);
          continue;
        }
        estimate.layout = std::move(*settled);
      }
      waiting_.push_back(std::move(estimate));
      if (waiting_.size() == workload::PipelineOrder::kTogether) {
        time_waiting(limit, best);
      }
    }
  }

  /// Bounds and times are sums in different orders. Source: rounding of doubles, with room.
  static constexpr double kRoundedDown = 1 - 1e-9;

  const training::Scenario& s_;
  const Space& space_;
  const Shape& shape_;
  const std::vector<PassChoice>& passes_;
  std::int64_t first_;
  const ShortlistOptions& options_;
  Tier& tier_;
  std::vector<std::optional<workload::Violation>> state_problems_;
  Opened out_;
  std::vector<Estimate> waiting_;  ///< to be timed together
  std::int64_t slower_ = 0;
  std::int64_t too_long_ = 0;  ///< timed, and found longer than the clock counts
  std::int64_t never_ = 0;     ///< as their bound already is
};

/// The best of all shapes so far.
class Kept {
 public:
  explicit Kept(const ShortlistOptions& options) : options_(options) {}

  void add(std::vector<Estimate> list) {
    for (Estimate& one : list) {
      const auto family = family_of(one.layout);
      families_.try_emplace(family, options_.of_family).first->second.add(std::move(one));
    }
    std::vector<double> times;
    for (const auto& [family, best] : families_) {
      for (const Estimate& one : best.list()) {
        times.push_back(one.time.si());
      }
    }
    slowest_ =
        times.empty() ? Seconds(kNever) : Seconds(*std::max_element(times.begin(), times.end()));
    if (times.size() >= options_.most) {
      const auto last = times.begin() + static_cast<std::ptrdiff_t>(options_.most) - 1;
      std::nth_element(times.begin(), last, times.end());
      limit_ = Seconds(*last);
    }
  }

  [[nodiscard]] Seconds limit() const { return limit_; }
  /// Where there is no limit yet, the slowest that is kept: more and faster ones will be.
  [[nodiscard]] Seconds likely_limit() const { return std::min(limit_, slowest_); }
  /// Of a family.
  [[nodiscard]] Seconds limit(const ParallelismSpec& layout) const {
    const auto found = families_.find(family_of(layout));
    return found == families_.end() ? limit_ : std::min(limit_, found->second.limit());
  }

  [[nodiscard]] std::vector<Estimate> all() const {
    std::vector<Estimate> list;
    for (const auto& [family, best] : families_) {
      list.insert(list.end(), best.list().begin(), best.list().end());
    }
    std::sort(list.begin(), list.end(), better);
    list.resize(std::min(list.size(), options_.most));
    return list;
  }

 private:
  const ShortlistOptions& options_;
  std::map<Family, Best> families_;
  Seconds limit_{kNever};
  Seconds slowest_{kNever};
};

/// Places from the least bound up.
std::vector<std::size_t> rising(const std::vector<Seconds>& bounds) {
  std::vector<std::size_t> order(bounds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bounds[a] < bounds[b]; });
  return order;
}

/// How many shapes, from one place on, will be opened as far as is known now.
std::size_t to_open(std::size_t from,
                    const Kept& kept,
                    const std::vector<Shape>& shapes,
                    const std::vector<Seconds>& bounds,
                    const std::vector<std::size_t>& order) {
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(from);
  const Seconds limit = kept.likely_limit();
  const auto beyond = std::partition_point(first, order.end(), [&](std::size_t i) {
    return bounds[i] <= limit && bounds[i] < Seconds(kNever);
  });
  return static_cast<std::size_t>(std::count_if(
      first, beyond, [&](std::size_t i) { return bounds[i] <= kept.limit(shapes[i].layout); }));
}

/// What a layout that is slower than all that are kept would have had to reach.
void name_nearest(Seconds limit, const workload::TrainingSpec& training, Rejections& rejected) {
  if (std::isfinite(limit.si())) {
    rejected.set_nearest(
        kSlower, kManyFaster, limit.si() / training.global_batch / training.sequence_length,
        fmt::format("none is below {} s by the analytic tier, or it is a variant of layouts that "
                    "are",
                    core::number(limit.si())));
  }
}

}  // namespace

bool same_family(const ParallelismSpec& a, const ParallelismSpec& b) {
  return family_of(a) == family_of(b);
}

Shortlist make_shortlist(const training::Scenario& scenario,
                         const Space& space,
                         const ShortlistOptions& options) {
  tbb::enumerable_thread_specific<Tier> tiers([&] { return Tier(scenario); });
  const auto& shapes = space.shapes();
  const auto search_of = [&](std::size_t i) {
    return ShapeSearch(scenario, space, shapes[i], space.first(i), options, tiers.local());
  };
  std::vector<Seconds> bounds(shapes.size());
  tbb::parallel_for(std::size_t{0}, shapes.size(),
                    [&](std::size_t i) { bounds[i] = search_of(i).bound(); });
  const std::vector<std::size_t> order = rising(bounds);
  Shortlist out;
  Kept kept(options);
  std::size_t next_look = 1;
  // A wave's limits are those before it, so that the same is opened whatever the threads.
  constexpr std::size_t kWave = 16;
  for (std::size_t begin = 0; begin < order.size(); begin += kWave) {
    const std::size_t end = std::min(begin + kWave, order.size());
    std::vector<Opened> opened(end - begin);
    std::atomic<std::size_t> left = to_open(begin, kept, shapes, bounds, order);
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      const std::size_t shape = order[i];
      const Seconds limit = kept.limit(shapes[shape].layout);
      if (bounds[shape] == Seconds(kNever) || bounds[shape] <= limit) {
        opened[i - begin] = search_of(shape).open(limit);
        if (options.left && bounds[shape] < Seconds(kNever) && left > 0) {
          options.left(--left);
        }
      } else {
        ShapeSearch::add_slower(opened[i - begin].rejected, space.layouts(shapes[shape]));
      }
    });
    for (Opened& one : opened) {
      out.rejected.add(one.rejected);
      out.estimated += one.estimated;
      for (const auto& [memory, missed] : one.missed) {
        add_missed(missed, out.missed);
      }
      kept.add(std::move(one.best));
    }
    if (options.kept && begin / kWave + 1 == next_look) {
      options.kept(kept.all(), out.estimated);
      next_look *= 2;
    }
  }
  reject_missed(out.missed, scenario.cluster, out.rejected);
  out.layouts = kept.all();
  const std::int64_t dropped = space.layouts() - out.rejected.total() - std::ssize(out.layouts);
  ShapeSearch::add_slower(out.rejected, dropped);
  name_nearest(kept.limit(), scenario.training, out.rejected);
  return out;
}

}  // namespace headway::plan

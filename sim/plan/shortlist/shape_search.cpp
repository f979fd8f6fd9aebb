#include "sim/plan/shortlist/shape_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "sim/core/text.h"
#include "sim/training/check.h"
#include "sim/training/refusals.h"
#include "sim/training/sites/check_sites.h"
#include "sim/training/unequal/check_unequal.h"
#include "sim/workload/blocks/build.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::plan {

using core::Seconds;
using namespace core::literals;

namespace {

/// A field without its dots: "parallelism.expert" is counted as "expert".
std::string field_of(const workload::Violation& violation) {
  return violation.path.substr(violation.path.rfind('.') + 1);
}

}  // namespace

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

std::string missed_text(const Missed& missed) {
  const Lack& lack = missed.lack;
  return fmt::format("{} GiB more than {} GiB: {}", core::number((lack.needs - lack.has) / 1_GiB),
                     core::number(lack.has / 1_GiB), layout_text(missed.nearest));
}

/// Places from the least bound up.
std::vector<std::size_t> rising(const std::vector<Seconds>& bounds) {
  std::vector<std::size_t> order(bounds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bounds[a] < bounds[b]; });
  return order;
}

bool better(const Estimate& a, const Estimate& b) {
  return a.time != b.time ? a.time < b.time : a.number < b.number;
}

Seconds ShapeSearch::bound() {
  Seconds least(kNever);
  for (const Cut& cut : space_.cuts(shape_)) {
    look();
    if (only_.has(cut) && !problem_of(cut)) {
      least = std::min(least, bound_of(cut));
    }
  }
  return least;
}

Opened ShapeSearch::open(Seconds limit, std::size_t most) {
  Best best(most);
  Fit fit(s_, shape_, headroom_);
  list_states();
  if (!has_states()) {
    return std::move(out_);
  }
  for (std::size_t i = 0; i < space_.cuts(shape_).size(); ++i) {
    look();
    const Cut& cut = space_.cuts(shape_)[i];
    if (!only_.has(cut)) {
      continue;
    }
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
    if (out_.any_fits) {
      break;
    }
  }
  out_.best = best.list();
  // Those that others pushed out of the list.
  slower_ += out_.estimated - too_long_ - std::ssize(out_.best);
  add_slower(out_.rejected, slower_);
  out_.rejected.add("too large", "its step is longer than the 106 days that can be simulated",
                    too_long_ + never_);
  return std::move(out_);
}

void ShapeSearch::add_slower(Rejections& rejected, std::int64_t count) {
  rejected.add(kSlower, kManyFaster, count);
}

std::optional<workload::Violation> ShapeSearch::problem_of(const Cut& cut) const {
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

int ShapeSearch::micro_batches(const Cut& cut) const {
  return s_.training.global_batch / shape_.data / cut.micro_batch;
}

ParallelismSpec ShapeSearch::neutral(const Cut& cut) const {
  return space_.layout(shape_, cut, PassChoice{}, StateChoice{});
}

std::optional<workload::Violation> ShapeSearch::first_problem(const ParallelismSpec& layout,
                                                              const Cut& cut) const {
  const auto problems =
      workload::violations(s_.model, s_.training, layout, shape_.data, micro_batches(cut));
  if (problems.empty()) {
    auto of_cluster = training::site_layout_violations(s_, layout, shape_.data);
    const auto of_kinds = training::unequal_layout_violations(s_, layout);
    of_cluster.insert(of_cluster.end(), of_kinds.begin(), of_kinds.end());
    return of_cluster.empty()
               ? training::refusal(s_.training.framework, s_, layout, micro_batches(cut),
                                   training::RefusalsOf::other_than_shardings)
               : std::optional(of_cluster.front());
  }
  return problems.front();
}

void ShapeSearch::reject(const workload::Violation& problem, std::int64_t count) {
  const bool own = problem.path == "batch" || problem.path == "too large";
  if (own) {
    out_.rejected.add(problem.path, problem.text, count);
  } else {
    out_.rejected.add_example(field_of(problem), problem.text, count);
  }
}

Seconds ShapeSearch::least(const ParallelismSpec& layout, const Cut& cut) {
  return tier_.ask([&](analytic::AnalyticTier& tier) {
    return tier.least(layout, shape_.data, micro_batches(cut)) * kRoundedDown;
  });
}

Seconds ShapeSearch::bound_of(const Cut& cut) {
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

void ShapeSearch::list_states() {
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

bool ShapeSearch::has_states() {
  if (!only_.sharding) {
    return true;
  }
  bool any = false;
  for (std::size_t i = 0; i < shape_.states.size() && !any; ++i) {
    any = only_.has(shape_.states[i]) && !state_problems_[i];
    if (only_.has(shape_.states[i]) && state_problems_[i]) {
      reject(*state_problems_[i], 1);
    }
  }
  return any;
}

std::vector<std::size_t> ShapeSearch::looked_at() const {
  const auto recomputed = [](const PassChoice& pass) {
    return std::pair(pass.recompute, static_cast<double>(pass.layers) / pass.period);
  };
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (!only_.has(passes_[i]) && !made_full(passes_[i])) {
      continue;
    }
    if (only_.leanest && !list.empty()) {
      const auto most = recomputed(passes_[list.front()]);
      if (recomputed(passes_[i]) < most) {
        continue;
      }
      if (recomputed(passes_[i]) > most) {
        list.clear();
      }
    }
    list.push_back(i);
  }
  return list;
}

bool ShapeSearch::made_full(const PassChoice& pass) const {
  return !only_.leanest && only_.recompute == workload::Recompute::full &&
         space_.tries_fewest(pass);
}

void ShapeSearch::open_cut(std::size_t place, Seconds limit, Fit& fit, Best& best) {
  const Cut& cut = space_.cuts(shape_)[place];
  const auto states = std::ssize(shape_.states);
  std::vector<Pass> passes;
  for (const std::size_t i : looked_at()) {
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
    open_pass(pass, cut, first + static_cast<std::int64_t>(pass.index) * states, limit, fit, best);
    if (out_.any_fits) {
      return;
    }
  }
  time_waiting(limit, best);
}

void ShapeSearch::time_waiting(Seconds limit, Best& best) {
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

void ShapeSearch::open_pass(
    const Pass& pass, const Cut& cut, std::int64_t first, Seconds limit, Fit& fit, Best& best) {
  for (std::size_t i = 0; i < shape_.states.size(); ++i) {
    const StateChoice& state = shape_.states[i];
    if (!only_.has(state)) {
      continue;
    }
    if (state_problems_[i]) {
      reject(*state_problems_[i], 1);
      continue;
    }
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
    if (const auto refused =
            training::refusal(s_.training.framework, s_, estimate.layout, estimate.micro_batches,
                              training::RefusalsOf::shardings)) {
      reject(*refused, 1);
      continue;
    }
    const auto lack = fit.lack(estimate.layout, i);
    const bool other = made_full(passes_[pass.index]);  // that fits as it is, or not at all
    if (!lack && other) {
      continue;
    }
    if (lack) {
      const bool tries = (!only_.recompute || other) && space_.tries_fewest(passes_[pass.index]);
      auto settled = tries && lack->memory != Memory::host
                         ? fit.fewest_recomputed(estimate.layout, i)
                         : std::nullopt;
      if (!settled && other) {
        continue;
      }
      if (!settled) {
        add_missed({1, estimate.layout, *lack}, out_.missed);
        continue;
      }
      estimate.layout = std::move(*settled);
    }
    if (only_.leanest) {
      out_.any_fits = true;
      return;
    }
    waiting_.push_back(std::move(estimate));
    if (waiting_.size() == workload::PipelineOrder::kTogether) {
      time_waiting(limit, best);
    }
  }
}

}  // namespace headway::plan

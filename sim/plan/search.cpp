#include "sim/plan/search.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <iterator>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <optional>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/bound.h"
#include "sim/training/estimate.h"
#include "sim/training/step/step.h"
#include "sim/workload/memory/rank_parameters.h"

namespace headway::plan {

using namespace core::literals;

namespace {

using training::CheckedScenario;

/// Whether a layout fits and leaves the allocator room.
bool has_room(const CheckedScenario& layout) {
  const training::MemoryResult memory = training::predict_memory(layout);
  return memory.fits && !training::near_memory_limit(memory);
}

/// The layout with the least recompute that fits into memory. Where activations go to the host
/// every level that fits: what is recomputed is not copied, so the least need not be the fastest.
std::vector<CheckedScenario> fitted(const CheckedScenario& checked) {
  const bool every = workload::offloads_activations(checked.scenario().parallelism.offload);
  std::vector<CheckedScenario> fits;
  for (const auto& layout : recompute_levels(checked.scenario().parallelism)) {
    training::Scenario scenario = checked.scenario();
    scenario.parallelism = layout;
    auto candidate = training::check(std::move(scenario));
    if (has_room(candidate)) {
      fits.push_back(std::move(candidate));
      if (!every) {
        break;
      }
    }
  }
  return fits;
}

std::vector<CheckedScenario> drop_what_does_not_fit(Candidates& candidates) {
  const auto& layouts = candidates.layouts;
  std::vector<std::vector<CheckedScenario>> fits(layouts.size());
  tbb::parallel_for(std::size_t{0}, layouts.size(),
                    [&](std::size_t i) { fits[i] = fitted(layouts[i]); });
  std::vector<CheckedScenario> fitting;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (!fits[i].empty()) {
      std::ranges::move(fits[i], std::back_inserter(fitting));
      continue;
    }
    const auto& gpu = layouts[i].scenario().cluster.node.gpu;
    candidates.rejected.add(
        "memory", fmt::format("needs more than {:.0f} % of the {:.0f} GiB of a {}, even with full "
                              "recompute",
                              100 * (1 - training::kMemoryHeadroom), gpu.memory / 1_GiB, gpu.name));
  }
  return fitting;
}

/// Drops layouts whose step this machine has no memory to simulate, before anything is built.
void drop_what_is_too_large(bool fold,
                            std::vector<CheckedScenario>& layouts,
                            Rejections& rejected) {
  const core::Bytes available = training::machine_memory();
  std::erase_if(layouts, [&](const CheckedScenario& layout) {
    if (training::estimate_step(layout, fold).total() <= available) {
      return false;
    }
    rejected.add("too large",
                 "simulating its step needs more memory than this machine has free: plan for a "
                 "smaller cluster.nodes");
    return true;
  });
}

/// The most by which the analytic tier overestimates a step. It lets transfers over the NICs follow
/// one another, which in the simulation share them and end together: little where gradients are
/// reduced once a step, more with experts, whose groups are others, most where weights and
/// gradients travel with every micro-batch. Source: overestimates over random layouts of dense
/// models and mixtures, rounded up (tests/analytic/analytic_test.cpp, tests/plan/search_test.cpp).
double tier_error(const training::Scenario& s) {
  const bool every_micro_batch =
      workload::reduces_every_micro_batch(s.training.framework, s.parallelism);
  if (s.model.moe) {
    return every_micro_batch ? 0.35 : 0.1;
  }
  return every_micro_batch ? 0.15 : 0.05;
}

/// A layout on its way through the search.
struct Entry {
  std::size_t index = 0;   ///< in the order of enumeration
  core::Seconds estimate;  ///< by the analytic tier, if it knows the schedule
  core::Seconds bound;     ///< no simulation can be faster
  bool too_large = false;  ///< its step cannot be simulated
  training::StepResult step;
};

std::vector<Entry> most_promising_first(const training::Scenario& scenario,
                                        const std::vector<CheckedScenario>& layouts) {
  std::vector<Entry> entries(layouts.size());
  std::optional<analytic::AnalyticTier> tier;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    entries[i].index = i;
    if (analytic::AnalyticTier::covers(layouts[i].scenario().parallelism)) {
      try {
        if (!tier) {
          tier.emplace(scenario);
        }
        entries[i].estimate = tier->evaluate(layouts[i]).time;
        entries[i].bound = entries[i].estimate * (1 - tier_error(layouts[i].scenario()));
      } catch (const core::Infeasible&) {
        tier.reset();  // what it remembers of this layout is not whole
      }
    } else {
      entries[i].bound = step_bound(layouts[i]);
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.bound < b.bound; });
  return entries;
}

/// Steps of the whole run, if it is not ended by the clock.
std::optional<double> run_steps(const training::Scenario& s) {
  if (s.run.until && s.run.until->steps) {
    return static_cast<double>(*s.run.until->steps);
  }
  if (s.run.until && s.run.until->tokens) {
    return *s.run.until->tokens /
           (static_cast<double>(s.training.global_batch) * s.training.sequence_length);
  }
  return std::nullopt;
}

/// Drops layouts that miss a limit even if nothing fails.
void drop_beyond_limits(const training::Scenario& s,
                        const Limits& limits,
                        std::vector<Entry>& entries,
                        Rejections& rejected) {
  const auto steps = run_steps(s);
  if (!steps) {
    return;
  }
  const double gpus = static_cast<double>(s.cluster.nodes) * s.cluster.node.gpus;
  std::erase_if(entries, [&](const Entry& entry) {
    const core::Seconds run = entry.bound * *steps;
    if (limits.deadline && run > *limits.deadline) {
      rejected.add("deadline", "takes longer than the deadline even if nothing fails");
      return true;
    }
    if (limits.budget && s.run.prices && s.run.prices->gpu_hour * run * gpus > *limits.budget) {
      rejected.add("budget", "its GPU-hours cost more than the budget even if nothing fails");
      return true;
    }
    return false;
  });
}

bool faster(const Entry& a, const Entry& b) {
  return a.step.time != b.step.time ? a.step.time < b.step.time : a.index < b.index;
}

/// Simulates the step of a layout with the trace that its critical path is found in, or marks that
/// it cannot be. Of a hashed fabric one hash: others widen the interval, they do not move the time.
void simulate(const CheckedScenario& layout, bool fold, Entry& entry) {
  training::StepOptions options;
  options.fold = fold;
  options.hash_draws = 0;
  try {
    entry.step = training::simulate_step(layout, options);
  } catch (const core::Infeasible&) {
    entry.too_large = true;
  }
}

/// Simulates entries in batches until none that is left can be among the best; returns the
/// simulated, fastest first, and counts in `rejected` what could not be. Batches have one size
/// whatever the number of threads, so the same entries are simulated everywhere.
std::vector<Entry> simulate(const std::vector<CheckedScenario>& layouts,
                            std::vector<Entry> entries,
                            const PlanOptions& options,
                            Rejections& rejected) {
  constexpr std::size_t kBatch = 8;
  constexpr double kRounding = 1 + 1e-6;  // Source: rounding of times to ticks
  std::vector<Entry> simulated;
  std::atomic<std::size_t> done{0};
  for (std::size_t begin = 0; begin < entries.size(); begin += kBatch) {
    if (simulated.size() >= options.keep &&
        entries[begin].bound > simulated[options.keep - 1].step.time * kRounding) {
      break;
    }
    const std::size_t end = std::min(begin + kBatch, entries.size());
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      simulate(layouts[entries[i].index], options.fold, entries[i]);
      const std::size_t finished = ++done;
      if (options.progress) {
        options.progress(finished, entries.size());
      }
    });
    for (std::size_t i = begin; i < end; ++i) {
      if (entries[i].too_large) {
        rejected.add("too large",
                     "its step is longer than the 106 days that can be simulated, or simulating it "
                     "needs more memory than this machine has");
      } else {
        simulated.push_back(std::move(entries[i]));
      }
    }
    std::sort(simulated.begin(), simulated.end(), faster);
  }
  return simulated;
}

Plan make_plan(const CheckedScenario& layout,
               Entry entry,
               const PlanOptions& options,
               int threads) {
  Plan plan;
  plan.nodes = layout.scenario().cluster.nodes;
  plan.layout = layout.scenario().parallelism;
  plan.layout.data = layout.data_parallel();
  plan.micro_batches = layout.micro_batches();
  plan.estimate = entry.estimate;
  plan.step = std::move(entry.step);
  if (layout.scenario().run.until) {
    // Candidates are too many to know where each of their values was written; the kept ones do, so
    // that a campaign's complaint has its place.
    const auto placed = training::check(layout.scenario(), options.marks);
    plan.campaign = campaign::simulate_campaign(placed, plan.step, {threads, false});
  }
  return plan;
}

void require_few_gpus(const training::Scenario& s, const core::SourceMarks& marks) {
  const std::int64_t gpus = std::int64_t{s.cluster.nodes} * s.cluster.node.gpus;
  if (gpus <= kMostGpus) {
    return;
  }
  const auto count = [](std::int64_t value) { return core::count(static_cast<double>(value)); };
  const std::string message = fmt::format(
      "a search simulates layouts of up to {} GPUs, and {} nodes have {}: make cluster.nodes "
      "smaller, or predict one layout with `headway run`",
      count(kMostGpus), count(s.cluster.nodes), count(gpus));
  const auto mark = core::find_mark(marks, "cluster.nodes");
  throw mark ? core::Infeasible(*mark, message) : core::Infeasible(message);
}

/// The plans of one cluster size, appended to `result`.
void search_cluster(const training::Scenario& scenario,
                    const PlanOptions& options,
                    int threads,
                    PlanResult& result,
                    Rejections& rejected) {
  require_few_gpus(scenario, options.marks);
  auto candidates = enumerate(scenario);
  result.enumerated += candidates.enumerated;
  auto layouts = drop_what_does_not_fit(candidates);
  for (const Rejection& entry : candidates.rejected.list()) {
    rejected.add(entry.kind, entry.reason, entry.count);
  }
  drop_what_is_too_large(options.fold, layouts, rejected);
  auto entries = most_promising_first(scenario, layouts);
  drop_beyond_limits(scenario, options.limits, entries, rejected);
  const std::size_t found = entries.size();
  const auto refused = rejected.count("too large");
  auto simulated = simulate(layouts, std::move(entries), options, rejected);
  const std::size_t left = found - static_cast<std::size_t>(rejected.count("too large") - refused);
  result.simulated += static_cast<std::int64_t>(simulated.size());
  if (left > simulated.size()) {
    rejected.add(
        "slower",
        fmt::format("the analytic tier finds it slower than plan {} by more than it may be wrong",
                    options.keep),
        static_cast<std::int64_t>(left - simulated.size()));
  }
  const std::size_t kept = std::min(options.keep, simulated.size());
  const std::size_t before = result.plans.size();
  result.plans.resize(before + kept);
  tbb::parallel_for(std::size_t{0}, kept, [&](std::size_t i) {
    result.plans[before + i] =
        make_plan(layouts[simulated[i].index], std::move(simulated[i]), options, threads);
  });
}

double days(const Plan& plan) { return plan.campaign->result.wall_days.p50; }
double dollars(const Plan& plan) { return plan.campaign->total_usd->p50; }

/// Smaller is better.
double value(const Plan& plan, Objective objective) {
  switch (objective) {
    case Objective::step:
      return plan.step.time.si();
    case Objective::days:
      return days(plan);
    case Objective::dollars:
      return dollars(plan);
    case Objective::goodput:
      return -plan.campaign->result.goodput.p50;
  }
  return 0;
}

/// Time and money of a plan: of the run where there is one, else of a step; GPU-seconds where there
/// are no prices.
std::pair<double, double> time_and_money(const Plan& plan, int gpus_per_node) {
  const double time = plan.campaign ? days(plan) : plan.step.time.si();
  const bool priced = plan.campaign && plan.campaign->total_usd;
  return {time, priced ? dollars(plan) : time * plan.nodes * gpus_per_node};
}

void mark_front(std::vector<Plan>& plans, int gpus_per_node) {
  for (Plan& plan : plans) {
    const auto [time, money] = time_and_money(plan, gpus_per_node);
    plan.pareto =
        std::none_of(plans.begin(), plans.end(), [&, t = time, m = money](const Plan& other) {
          const auto [time_of, money_of] = time_and_money(other, gpus_per_node);
          return time_of <= t && money_of <= m && (time_of < t || money_of < m);
        });
  }
}

/// Limits again, now that the campaign has said what failures and checkpoints add.
void drop_late_and_dear(const Limits& limits, std::vector<Plan>& plans, Rejections& rejected) {
  std::erase_if(plans, [&](const Plan& plan) {
    if (plan.campaign && limits.deadline && days(plan) * 1_days > *limits.deadline) {
      rejected.add("deadline", "takes longer than the deadline in half of all trials");
      return true;
    }
    if (plan.campaign && plan.campaign->total_usd && limits.budget &&
        dollars(plan) > limits.budget->si()) {
      rejected.add("budget", "costs more than the budget in half of all trials");
      return true;
    }
    return false;
  });
}

void require_inputs(const training::Scenario& s, const PlanOptions& options) {
  if (options.keep == 0) {
    throw core::Error("a search must keep at least one plan");
  }
  const bool money = options.objective == Objective::dollars || options.limits.budget;
  if ((options.objective != Objective::step || options.limits.deadline || money) && !s.run.until) {
    throw core::Error(
        "days, dollars, goodput, a deadline and a budget are of a whole run; the scenario has no "
        "run.until");
  }
  if (money && !s.run.prices) {
    throw core::Error("dollars and a budget need prices; the scenario has no run.prices");
  }
}

}  // namespace

PlanResult search(const training::Scenario& scenario, const PlanOptions& options) {
  require_inputs(scenario, options);
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  PlanResult result;
  Rejections rejected;
  const std::vector<int> sizes =
      options.nodes.empty() ? std::vector<int>{scenario.cluster.nodes} : options.nodes;
  for (const int nodes : sizes) {
    training::Scenario sized = scenario;
    sized.cluster.nodes = nodes;
    training::check_apart_from_layout(sized);
    const std::int64_t gpus = std::int64_t{nodes} * scenario.cluster.node.gpus;
    if (options.limits.gpus && gpus > *options.limits.gpus) {
      const auto count = enumerate(sized).enumerated;
      result.enumerated += count;
      rejected.add("gpus",
                   fmt::format("{} GPUs are more than the limit of {}", gpus, *options.limits.gpus),
                   count);
      continue;
    }
    search_cluster(sized, options, threads, result, rejected);
  }
  drop_late_and_dear(options.limits, result.plans, rejected);
  mark_front(result.plans, scenario.cluster.node.gpus);
  std::stable_sort(result.plans.begin(), result.plans.end(), [&](const Plan& a, const Plan& b) {
    return value(a, options.objective) < value(b, options.objective);
  });
  std::size_t place = 0;
  std::erase_if(result.plans,
                [&](const Plan& plan) { return place++ >= options.keep && !plan.pareto; });
  result.rejected = rejected.list();
  result.searched = searched(scenario, options.nodes);
  return result;
}

}  // namespace headway::plan

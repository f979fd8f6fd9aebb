#include "sim/plan/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <optional>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/campaign/energy.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/text.h"
#include "sim/plan/entry.h"
#include "sim/plan/verify.h"
#include "sim/training/estimate.h"
#include "sim/training/step/step.h"
#include "sim/workload/schedule/schedule.h"

namespace headway::plan {

using namespace core::literals;

namespace {

using training::CheckedScenario;

constexpr const char* kTooLarge =
    "simulating its step needs more memory than this machine has free: plan for a smaller "
    "cluster.nodes";

/// Adds the scenario's own layout, however unusual, if it keeps the rules; nothing if it does not,
/// since a plan is asked for because the layout as written may not work.
void add_own_layout(const training::Scenario& scenario,
                    std::vector<Entry>& entries,
                    PlanResult& result,
                    Rejections& rejected) {
  std::optional<CheckedScenario> own;
  try {
    own = training::check(scenario);
  } catch (const core::Error&) {
    return;
  }
  ParallelismSpec layout = own->scenario().parallelism;
  layout.data = own->data_parallel();
  layout.schedule = workload::effective_schedule(layout);
  const bool known = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.layout.scenario().parallelism == layout;
  });
  if (known) {
    return;
  }
  ++result.enumerated;
  const std::int64_t layers = std::int64_t{own->micro_batches()} * scenario.model.layers;
  if (!has_room(*own)) {
    rejected.add("memory", "the scenario's own layout does not fit");
  } else if (layers > kMostLayers) {
    rejected.add("too large", "the scenario's own layout: its step is too long for a search");
  } else {
    try {
      const auto time = analytic::AnalyticTier(scenario).evaluate(*own).time;
      entries.push_back(make_entry(std::move(*own), time));
    } catch (const core::Infeasible&) {
      rejected.add("too large", "the scenario's own layout: its step is too long to be simulated");
    }
  }
}

/// Drops layouts whose step this machine has no memory to simulate, before anything is built.
void drop_what_is_too_large(bool fold, std::vector<Entry>& entries, Rejections& rejected) {
  const core::Bytes available = training::machine_memory();
  std::erase_if(entries, [&](const Entry& entry) {
    if (training::estimate_step(entry.layout, fold).total() <= available) {
      return false;
    }
    rejected.add("too large", kTooLarge);
    return true;
  });
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
  core::Seconds shortest(std::numeric_limits<double>::infinity());
  std::erase_if(entries, [&](const Entry& entry) {
    const core::Seconds run = entry.bound * *steps;
    shortest = std::min(shortest, entry.estimate * *steps);
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
  if (limits.deadline) {
    rejected.set_nearest(
        "deadline",
        fmt::format("the fastest takes {} days of steps, the deadline is {}",
                    core::number(shortest / 1_days), core::number(*limits.deadline / 1_days)));
  }
  if (limits.budget && s.run.prices) {
    rejected.set_nearest("budget",
                         fmt::format("the cheapest has GPU-hours of {} USD, the budget is {}",
                                     core::number((s.run.prices->gpu_hour * shortest * gpus).si()),
                                     core::number(limits.budget->si())));
  }
}

/// Time of the `keep`-th plan so far, variants not counted unless they are asked for.
core::Seconds last_kept(const std::vector<Entry>& fastest_first, const PlanOptions& options) {
  std::vector<const ParallelismSpec*> kept;
  for (const Entry& entry : fastest_first) {
    const auto& layout = entry.layout.scenario().parallelism;
    const bool fresh = options.variants ||
                       std::none_of(kept.begin(), kept.end(), [&](const ParallelismSpec* other) {
                         return same_family(*other, layout);
                       });
    if (fresh) {
      kept.push_back(&layout);
    }
    if (kept.size() == options.keep) {
      return entry.step.time;
    }
  }
  return core::Seconds(std::numeric_limits<double>::infinity());
}

/// Simulates entries in batches until none that is left can be among the best; returns the
/// simulated, fastest first, and counts in `rejected` what could not be. Batches have one size
/// whatever the number of threads, so the same entries are simulated everywhere.
std::vector<Entry> simulate(std::vector<Entry> entries,
                            const PlanOptions& options,
                            Rejections& rejected) {
  constexpr std::size_t kBatch = 8;
  constexpr double kRounding = 1 + 1e-6;  // Source: rounding of times to ticks
  std::vector<core::Seconds> least_left(entries.size() + 1,
                                        core::Seconds(std::numeric_limits<double>::infinity()));
  for (std::size_t i = entries.size(); i-- > 0;) {
    least_left[i] = std::min(least_left[i + 1], entries[i].bound);
    entries[i].index = i;
  }
  std::vector<Entry> simulated;
  std::atomic<std::size_t> done{0};
  for (std::size_t begin = 0; begin < entries.size(); begin += kBatch) {
    if (least_left[begin] > last_kept(simulated, options) * kRounding) {
      rejected.add("slower",
                   "the analytic tier finds it slower than the last plan kept by more than it may "
                   "be wrong",
                   static_cast<std::int64_t>(entries.size() - begin));
      break;
    }
    const std::size_t end = std::min(begin + kBatch, entries.size());
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      simulate(options.fold, entries[i]);
      const std::size_t finished = ++done;
      if (options.progress) {
        options.progress("simulating layouts", finished, entries.size());
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

/// Candidates are too many to know where each of their values was written; the kept ones do, so
/// that a campaign's complaint has its place.
void add_campaign(const training::Scenario& setting,
                  const PlanOptions& options,
                  int threads,
                  Plan& plan) {
  if (setting.run.until) {
    const auto placed = training::check(with_layout(setting, plan.layout), options.marks);
    plan.campaign = campaign::simulate_campaign(placed, plan.step, {threads, false});
  }
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

void require_searchable(const Space& space, int layers) {
  const std::int64_t work = std::ssize(space.shapes()) * layers;
  if (space.layouts() <= kMostLayouts && work <= kMostShapeLayers) {
    return;
  }
  const auto count = [](std::int64_t value) { return core::count(static_cast<double>(value)); };
  throw core::Infeasible(fmt::format(
      "the search would look at {} layouts of {} shapes x {} layers, more than takes a minute ({} "
      "layouts, {} shapes x layers): vary less, as with --vary tensor,pipeline,micro_batch or "
      "--hold "
      "expert,schedule, or list values under `search:`",
      count(space.layouts()), count(std::ssize(space.shapes())), count(layers), count(kMostLayouts),
      count(kMostShapeLayers)));
}

/// The short list as checked scenarios; what only the whole check finds is counted.
std::vector<Entry> checked_entries(const training::Scenario& scenario,
                                   const Shortlist& shortlist,
                                   Rejections& rejected) {
  std::vector<Entry> entries;
  for (const Estimate& estimate : shortlist.layouts) {
    try {
      entries.push_back(
          make_entry(training::check(with_layout(scenario, estimate.layout)), estimate.time));
    } catch (const core::Error& error) {
      rejected.add_example("rule", error.diagnostics().front().message, 1);
    }
  }
  return entries;
}

/// Of each family the fastest, with how many others there are, or all.
std::vector<Plan> plans_of(const std::vector<Entry>& simulated, const PlanOptions& options) {
  std::vector<Plan> plans;
  for (const Entry& entry : simulated) {
    const auto same = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
      return same_family(plan.layout, entry.layout.scenario().parallelism);
    });
    if (!options.variants && same != plans.end()) {
      ++same->variants;
    } else if (plans.size() < options.keep) {
      plans.push_back(make_plan(entry));
    }
  }
  return plans;
}

/// Drops layouts that leave less memory free than is asked for.
void drop_without_headroom(const Limits& limits,
                           std::vector<Entry>& simulated,
                           Rejections& rejected) {
  std::erase_if(simulated, [&](const Entry& entry) {
    const auto& memory = entry.step.memory;
    if (!limits.headroom || memory.peak <= memory.capacity * (1 - *limits.headroom)) {
      return false;
    }
    rejected.add("headroom", "leaves less of the GPU's memory free than is asked for");
    return true;
  });
}

/// What came closest, of those that do not fit and of those that are too slow.
void add_nearest(const training::Scenario& s, const Shortlist& shortlist, Rejections& rejected) {
  if (shortlist.memory) {
    const auto& p = shortlist.memory->layout;
    const core::Bytes room = s.cluster.node.gpu.memory * (1 - training::kMemoryHeadroom);
    const bool host = !std::isfinite(shortlist.memory->peak.si());
    const std::string text =
        host ? "what is offloaded does not fit into host memory"
             : fmt::format(
                   "{} more of a GPU's {} GiB: tensor {} x context {} x pipeline {} x data "
                   "{}, micro-batch {}, {}, {}, recompute {}",
                   core::number((shortlist.memory->peak - room) / 1_GiB) + " GiB",
                   core::number(s.cluster.node.gpu.memory / 1_GiB), p.tensor, p.context, p.pipeline,
                   p.data.value.value_or(1), p.micro_batch, core::to_word(p.schedule),
                   core::to_word(p.sharding), core::to_word(p.recompute));
    rejected.set_nearest("memory", text);
  }
  if (std::isfinite(shortlist.last.si())) {
    rejected.set_nearest(
        "slower", fmt::format("none is below {} s by the analytic tier, or it is a variant of "
                              "layouts that are",
                              core::number(shortlist.last.si())));
  }
}

/// The plans of one setting, appended to `result`.
void search_setting(const training::Scenario& scenario,
                    const PlanOptions& options,
                    int threads,
                    PlanResult& result,
                    Rejections& rejected) {
  require_few_gpus(scenario, options.marks);
  const Space space(scenario);
  require_searchable(space, scenario.model.layers);
  if (training::estimate_fabric(scenario.cluster).total() > training::machine_memory()) {
    result.enumerated += space.layouts();
    rejected.add("too large", kTooLarge, space.layouts());
    return;
  }
  constexpr std::size_t kFamilies = 10;  // a list of 50 has at least ten different ones
  ShortlistOptions how;
  how.most = std::max(options.simulate, options.keep);
  how.of_family = std::max<std::size_t>(1, how.most / kFamilies);
  if (options.progress) {
    how.progress = [&](std::size_t done, std::size_t total) {
      options.progress("estimating layouts", done, total);
    };
  }
  const Shortlist shortlist = make_shortlist(scenario, space, how);
  result.enumerated += space.layouts();
  result.estimated += shortlist.estimated;
  rejected.add(shortlist.rejected);
  add_nearest(scenario, shortlist, rejected);
  auto entries = checked_entries(scenario, shortlist, rejected);
  add_own_layout(scenario, entries, result, rejected);
  drop_what_is_too_large(options.fold, entries, rejected);
  drop_beyond_limits(scenario, options.limits, entries, rejected);
  auto simulated = simulate(std::move(entries), options, rejected);
  result.simulated += std::ssize(simulated);
  drop_without_headroom(options.limits, simulated, rejected);
  if (options.verify > 0) {
    verify(scenario, space, simulated, options, result.verification);
  }
  auto plans = plans_of(simulated, options);
  tbb::parallel_for(std::size_t{0}, plans.size(),
                    [&](std::size_t i) { add_campaign(scenario, options, threads, plans[i]); });
  std::ranges::move(plans, std::back_inserter(result.plans));
}

double days(const Plan& plan) { return plan.campaign->result.wall_days.p50; }
double dollars(const Plan& plan) { return plan.campaign->total_usd->p50; }

double seconds_a_token(const Plan& plan) {
  return plan.step.time.si() /
         (static_cast<double>(plan.setting.global_batch) * plan.setting.sequence_length);
}

/// Smaller is better.
double value(const Plan& plan, Objective objective) {
  switch (objective) {
    case Objective::step:  // a token, where steps differ in length
      return seconds_a_token(plan);
    case Objective::days:
      return days(plan);
    case Objective::dollars:
      return dollars(plan);
    case Objective::goodput:
      return -plan.campaign->result.goodput.p50;
    case Objective::energy:
      return plan.campaign->mean_bill->energy.si();
    case Objective::co2:
      return plan.campaign->mean_bill->co2_kg;
    case Objective::tokens_per_joule:
      return plan.campaign->mean_bill->energy.si() / plan.campaign->result.tokens;
    case Objective::tokens_per_dollar:
      return plan.campaign->mean_bill->usd_per_million_tokens;
  }
  return 0;
}

/// What the front is of. Time and money: of the run where there is one, else of a token;
/// GPU-seconds where there are no prices.
std::vector<double> front_values(const Plan& plan, const PlanOptions& options, int gpus_per_node) {
  if (options.beside.empty()) {
    const double time = plan.campaign ? days(plan) : seconds_a_token(plan);
    const bool priced = plan.campaign && plan.campaign->total_usd;
    return {time, priced ? dollars(plan) : time * plan.setting.nodes * gpus_per_node};
  }
  std::vector<double> values{value(plan, options.objective)};
  for (const Objective objective : options.beside) {
    values.push_back(value(plan, objective));
  }
  return values;
}

/// Whether `a` is nowhere worse than `b`, and somewhere better.
bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better = better || a[i] < b[i];
  }
  return better;
}

void mark_front(std::vector<Plan>& plans, const PlanOptions& options, int gpus_per_node) {
  for (Plan& plan : plans) {
    const auto values = front_values(plan, options, gpus_per_node);
    plan.pareto = std::none_of(plans.begin(), plans.end(), [&](const Plan& other) {
      return dominates(front_values(other, options, gpus_per_node), values);
    });
  }
}

/// Limits again, now that the campaign has said what failures and checkpoints add.
void drop_late_and_dear(const Limits& limits, std::vector<Plan>& plans, Rejections& rejected) {
  std::erase_if(plans, [&](const Plan& plan) {
    if (!plan.campaign) {
      return false;
    }
    if (limits.deadline && days(plan) * 1_days > *limits.deadline) {
      rejected.add("deadline", "takes longer than the deadline in half of all trials");
      return true;
    }
    if (plan.campaign->total_usd && limits.budget && dollars(plan) > limits.budget->si()) {
      rejected.add("budget", "costs more than the budget in half of all trials");
      return true;
    }
    if (limits.goodput && plan.campaign->result.goodput.p50 < *limits.goodput) {
      rejected.add("goodput", "has less than the goodput asked for in half of all trials");
      return true;
    }
    return false;
  });
}

/// What the machine draws with every GPU at its limit, times PUE.
core::Watts full_power(const training::Scenario& s) {
  const double pue = s.run.prices ? s.run.prices->pue : 1.0;
  return campaign::machine_power(s.cluster, 1).training * pue;
}

/// Why no layout of this machine is looked at; empty if some are.
std::pair<std::string, std::string> machine_limit(const training::Scenario& s,
                                                  const Limits& limits) {
  const std::int64_t gpus = std::int64_t{s.cluster.nodes} * s.cluster.node.gpus;
  if (limits.gpus && gpus > *limits.gpus) {
    return {"gpus", fmt::format("{} GPUs are more than the limit of {}", gpus, *limits.gpus)};
  }
  if (limits.power && full_power(s) > *limits.power) {
    constexpr double kMega = 1e6;  // Source: the prefix
    return {"power", fmt::format("{} nodes draw {} MW with every GPU at its limit, the limit is {}",
                                 s.cluster.nodes, core::number(full_power(s).si() / kMega),
                                 core::number(limits.power->si() / kMega))};
  }
  return {};
}

void require_inputs(const training::Scenario& s, const PlanOptions& options) {
  if (options.keep == 0) {
    throw core::Error("a search must keep at least one plan");
  }
  std::vector<Objective> objectives = options.beside;
  objectives.push_back(options.objective);
  const bool run = std::any_of(objectives.begin(), objectives.end(),
                               [](Objective o) { return o != Objective::step; });
  const bool money =
      options.limits.budget || std::any_of(objectives.begin(), objectives.end(), [](Objective o) {
        return o != Objective::step && o != Objective::days && o != Objective::goodput;
      });
  if ((run || options.limits.deadline || options.limits.goodput || money) && !s.run.until) {
    throw core::Error(
        "all objectives but step, and limits of time, money and goodput, are of a whole run; the "
        "scenario has no run.until");
  }
  if (money && !s.run.prices) {
    throw core::Error(
        "dollars, energy, CO2 and a budget need prices; the scenario has no run.prices");
  }
}

template <class T>
std::vector<T> asked_or_own(const std::vector<T>& asked, const T& own) {
  return asked.empty() ? std::vector<T>{own} : asked;
}

/// The scenario with every combination of what is varied beside the layout.
std::vector<training::Scenario> settings(const training::Scenario& scenario,
                                         const std::vector<int>& nodes) {
  const auto& search = scenario.search;
  std::vector<training::Scenario> list;
  for (const int size : asked_or_own(nodes, scenario.cluster.nodes)) {
    for (const int batch : asked_or_own(search.global_batch, scenario.training.global_batch)) {
      for (const int length :
           asked_or_own(search.sequence_length, scenario.training.sequence_length)) {
        for (const auto precision : asked_or_own(search.precision, scenario.training.precision)) {
          training::Scenario& s = list.emplace_back(scenario);
          s.cluster.nodes = size;
          s.training.global_batch = batch;
          s.training.sequence_length = length;
          s.training.precision = precision;
        }
      }
    }
  }
  return list;
}

}  // namespace

PlanResult search(const training::Scenario& scenario, const PlanOptions& options) {
  require_inputs(scenario, options);
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  PlanResult result;
  Rejections rejected;
  const std::vector<int>& nodes = options.nodes.empty() ? scenario.search.nodes : options.nodes;
  for (training::Scenario& setting : settings(scenario, nodes)) {
    training::check_apart_from_layout(setting);
    training::apply(setting.calibration, setting.cluster);
    if (const auto [kind, reason] = machine_limit(setting, options.limits); !kind.empty()) {
      const auto count = Space(setting).layouts();
      result.enumerated += count;
      rejected.add(kind, reason, count);
      continue;
    }
    search_setting(setting, options, threads, result, rejected);
  }
  drop_late_and_dear(options.limits, result.plans, rejected);
  mark_front(result.plans, options, scenario.cluster.node.gpus);
  std::stable_sort(result.plans.begin(), result.plans.end(), [&](const Plan& a, const Plan& b) {
    return value(a, options.objective) < value(b, options.objective);
  });
  std::size_t place = 0;
  std::erase_if(result.plans,
                [&](const Plan& plan) { return place++ >= options.keep && !plan.pareto; });
  result.rejected = rejected.list();
  result.searched = searched(scenario, nodes);
  return result;
}

}  // namespace headway::plan

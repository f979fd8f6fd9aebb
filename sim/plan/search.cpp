#include "sim/plan/search.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <optional>
#include <set>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/progress/joint_progress.h"
#include "sim/core/text.h"
#include "sim/gpu/kernel_time.h"
#include "sim/plan/entry.h"
#include "sim/plan/judge.h"
#include "sim/plan/keep_limits.h"
#include "sim/plan/shortlist/trim.h"
#include "sim/plan/verify.h"
#include "sim/training/estimate.h"
#include "sim/training/power/check_power.h"
#include "sim/training/power/power_fit.h"
#include "sim/training/refusals.h"
#include "sim/training/step/step.h"

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
                    double headroom,
                    std::vector<Entry>& entries,
                    PlanResult& result,
                    Rejections& rejected) {
  std::optional<CheckedScenario> own;
  try {
    own = training::check(scenario);
  } catch (const core::Error&) {
    return;
  }
  const bool known = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return resolved(entry.layout) == resolved(*own);
  });
  if (known) {
    return;
  }
  ++result.enumerated;
  if (const auto missing = lack(*own, headroom)) {
    rejected.add(std::string(core::to_word(missing->memory)),
                 "the scenario's own layout does not fit");
  } else if (const auto refused = training::refusal(scenario.training.framework, scenario,
                                                    scenario.parallelism, own->micro_batches())) {
    rejected.add("software", "the scenario's own layout: " + refused->text);
  } else if (too_long(own->micro_batches(), scenario.model)) {
    rejected.add("too large", "the scenario's own layout: its step is too long for a search");
  } else {
    try {
      const auto time = analytic::AnalyticTier(scenario).evaluate(*own).time;
      entries.push_back(make_entry(std::move(*own), time));
      entries.back().own = true;
      entries.back().outside = outside(scenario.search, resolved(entries.back().layout));
    } catch (const core::Infeasible&) {
      rejected.add("too large", "the scenario's own layout: its step is too long to be simulated");
    }
  }
}

/// Drops layouts whose step this machine has no memory to simulate, before anything is built.
void drop_what_is_too_large(bool fold, std::vector<Entry>& entries, Rejections& rejected) {
  const core::Bytes available = training::machine_memory();
  std::erase_if(entries, [&](const Entry& entry) {
    if (training::estimate_step(entry.layout, fold, 0, true).total() <= available) {
      return false;
    }
    rejected.add("too large", kTooLarge);
    return true;
  });
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
                            SearchProgress& progress,
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
  double done = 0;
  std::mutex mutex;
  for (std::size_t begin = 0; begin < entries.size(); begin += kBatch) {
    const core::Seconds last = weighs_slower(options)
                                   ? core::Seconds(std::numeric_limits<double>::infinity())
                                   : last_kept(simulated, options) * kRounding;
    if (least_left[begin] > last) {
      rejected.add("slower",
                   "the analytic tier finds it slower than the last plan kept by more than it may "
                   "be wrong",
                   static_cast<std::int64_t>(entries.size() - begin));
      break;
    }
    const std::size_t end = std::min(begin + kBatch, entries.size());
    double left = 0;
    for (std::size_t i = begin; i < entries.size() && least_left[i / kBatch * kBatch] <= last;
         ++i) {
      left += entries[i].operations;
    }
    const auto add = [&](double operations) {
      const std::lock_guard guard(mutex);
      done += operations;
      left -= operations;
      progress.simulate(done, left);
    };
    add(0);
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      double told = 0;
      const auto tell = [&](double share) {
        add(std::max(0.0, share * entries[i].operations - told));
        told = std::max(told, share * entries[i].operations);
      };
      simulate(options.fold, entries[i], [&](std::size_t of_it, std::size_t all) {
        tell(all == 0 ? 0.0 : static_cast<double>(of_it) / static_cast<double>(all));
      });
      tell(1);
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
      "the search would look at {} layouts of {} shapes x {} layers, more than takes some minutes "
      "({} layouts, {} shapes x layers): vary less, as with --vary tensor,pipeline,micro_batch or "
      "--hold expert,schedule, or list values under `search:`",
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

/// Of each family the fastest and the best by each objective, with how many others there are.
/// @param plans  fastest first, all with their campaigns
std::vector<Plan> best_of_families(std::vector<Plan> plans, const PlanOptions& options) {
  std::vector<Objective> objectives = options.beside;
  objectives.push_back(options.objective);
  std::vector<Plan> kept;
  while (!plans.empty()) {
    const ParallelismSpec family = plans.front().layout;
    const auto others = std::stable_partition(plans.begin(), plans.end(), [&](const Plan& plan) {
      return same_family(plan.layout, family);
    });
    std::set<std::size_t> places{0};
    for (const Objective objective : objectives) {
      const auto best = std::min_element(plans.begin(), others, [&](const Plan& a, const Plan& b) {
        return comes_first(a, b, objective);
      });
      places.insert(static_cast<std::size_t>(best - plans.begin()));
    }
    for (const std::size_t place : places) {
      kept.push_back(std::move(plans[place]));
      kept.back().variants = static_cast<int>(others - plans.begin() - std::ssize(places));
    }
    plans.erase(plans.begin(), others);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Plan& a, const Plan& b) { return a.step.time < b.step.time; });
  return kept;
}

/// Of each family the fastest, with how many others there are, or all; where slower ones are
/// weighed, all until their campaigns are known.
std::vector<Plan> plans_of(const std::vector<Entry>& simulated, const PlanOptions& options) {
  std::vector<Plan> plans;
  for (const Entry& entry : simulated) {
    const auto same = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
      return same_family(plan.layout, entry.layout.scenario().parallelism);
    });
    const bool all = options.variants || weighs_slower(options);
    if (!all && same != plans.end()) {
      ++same->variants;
    } else if (plans.size() < options.keep || weighs_slower(options)) {
      plans.push_back(make_plan(entry));
    }
  }
  return plans;
}

/// The plans of one setting, appended to `result`.
SimulatedSetting search_setting(const training::Scenario& scenario,
                                const PlanOptions& options,
                                const PhaseTold& told,
                                int threads,
                                PlanResult& result,
                                Rejections& rejected) {
  require_few_gpus(scenario, options.marks);
  const Space space(scenario);
  require_searchable(space, scenario.model.layers);
  result.enumerated += space.layouts();
  if (training::estimate_fabric(scenario.cluster).total() > training::machine_memory()) {
    rejected.add("too large", kTooLarge, space.layouts());
    return {scenario, {}, {}, unused_values(scenario, space), {}, {}, 0, {}};
  }
  constexpr std::size_t kFamilies = 10;  // a list of 50 has at least ten different ones
  ShortlistOptions how;
  how.most = std::max(options.simulate, options.keep);
  how.of_family = std::max<std::size_t>(1, how.most / kFamilies);
  how.headroom = least_headroom(options.limits);
  SearchProgress progress(told);
  progress.open_shapes(0);
  if (told) {
    how.look = [&progress] { progress.look(); };
    how.left = [&](std::size_t left) { progress.open_shapes(left); };
  }
  Shortlist shortlist = make_shortlist(scenario, space, how);
  if (space.trims_recompute()) {
    trim_recompute(scenario, space, how.headroom, shortlist.layouts);
  }
  result.estimated += shortlist.estimated;
  rejected.add(shortlist.rejected);
  auto entries = checked_entries(scenario, shortlist, rejected);
  add_own_layout(scenario, how.headroom, entries, result, rejected);
  drop_what_is_too_large(options.fold, entries, rejected);
  drop_beyond_limits(scenario, options.limits, entries, rejected);
  for (Entry& entry : entries) {
    entry.operations = training::estimate_operations(entry.layout);
  }
  const auto simulated = simulate(std::move(entries), options, progress, rejected);
  result.simulated += std::ssize(simulated);
  auto plans = plans_of(simulated, options);
  core::JointProgress runs(
      [&](std::size_t done, std::size_t all) { progress.count(Phase::campaigns, done, all); },
      plans.size() * runs_of_a_plan(scenario));
  tbb::parallel_for(std::size_t{0}, plans.size(), [&](std::size_t i) {
    add_campaign(scenario, options, threads, plans[i], [&] { return runs.counted_piece(); });
  });
  if (weighs_slower(options) && !options.variants) {
    plans = best_of_families(std::move(plans), options);
  }
  std::ranges::move(simulated_points(simulated, plans, options.limits),
                    std::back_inserter(result.points));
  std::ranges::move(plans, std::back_inserter(result.plans));
  SimulatedSetting out{
      scenario, {}, {}, unused_values(scenario, space), {}, shortlist.bounds, shortlist.estimated,
      {}};
  for (const Entry& entry : simulated) {
    if (entry.own) {
      out.own = out.layouts.size();
    }
    out.layouts.push_back(resolved(entry.layout));
    out.times.push_back(entry.step.time);
  }
  out.fastest = simulated.empty() ? core::Seconds{} : simulated.front().step.time;
  return out;
}

void require_inputs(const training::Scenario& s, const PlanOptions& options) {
  if (options.keep == 0) {
    throw core::Error("a search must keep at least one plan");
  }
  if (options.limits.racks && s.run.recovery.rack_nodes == 1) {
    throw core::Error(
        "a limit of racks needs the nodes of one: set run.recovery.rack_nodes, which is 1, or "
        "limit "
        "gpus");
  }
  if (s.search.spares && s.cluster.power && s.cluster.power->facility) {
    throw core::Error(
        "search.spares: auto beside cluster.power.facility is not modelled: idle spares take of "
        "what feeds the boards, before anybody knows how many there are; write cluster.spares");
  }
  std::vector<Objective> objectives = options.beside;
  objectives.push_back(options.objective);
  const bool run = std::any_of(objectives.begin(), objectives.end(), [](Objective o) {
    return o != Objective::step && o != Objective::power;
  });
  const bool money =
      options.limits.budget || std::any_of(objectives.begin(), objectives.end(), [](Objective o) {
        return o != Objective::step && o != Objective::days && o != Objective::goodput &&
               o != Objective::power;
      });
  if ((run || options.limits.deadline || options.limits.goodput || money) && !s.run.until) {
    throw core::Error(
        "all objectives but step and power, and limits of time, money and goodput, are of a whole "
        "run; the scenario has no run.until");
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
          list.push_back(with_setting(scenario, {size, batch, length, precision, 0}));
        }
      }
    }
  }
  return list;
}

std::vector<SearchedField> unused_by_all(const std::vector<SimulatedSetting>& settings) {
  std::vector<SearchedField> unused;
  for (const SimulatedSetting& setting : settings) {
    if (&setting == &settings.front()) {
      unused = setting.unused;
    }
    std::erase_if(unused, [&](const SearchedField& value) {
      return std::find(setting.unused.begin(), setting.unused.end(), value) == setting.unused.end();
    });
  }
  return unused;
}

/// Which of several settings this is; empty of one.
std::string place_text(const training::Scenario& s, const std::vector<int>& nodes) {
  std::string text;
  const auto add = [&](const auto& list, const auto& value, const char* what) {
    if (list.size() > 1) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value, what);
    }
  };
  add(nodes, s.cluster.nodes, "nodes");
  add(s.search.global_batch, s.training.global_batch, "sequences a step");
  add(s.search.sequence_length, s.training.sequence_length, "tokens a sequence");
  add(s.search.precision, core::to_word(s.training.precision), "");
  return text.empty() ? text : text + ": ";
}

/// Of several formats that are asked for, why a GPU has not this one; empty: it has.
std::string missing_format(const training::Scenario& s) {
  std::string missing;
  if (s.search.precision.size() > 1) {
    missing = gpu::missing_precision(s.cluster.node.gpu, s.training.precision);
    for (const auto& others : s.cluster.other_nodes) {
      missing =
          missing.empty() ? gpu::missing_precision(others.node.gpu, s.training.precision) : missing;
    }
  }
  return missing;
}

/// Searches each setting; its plans are appended to `result`.
std::vector<SimulatedSetting> search_settings(const training::Scenario& scenario,
                                              const std::vector<int>& nodes,
                                              const PlanOptions& options,
                                              int threads,
                                              PlanResult& result,
                                              Rejections& rejected) {
  std::vector<SimulatedSetting> simulated;
  auto all = settings(scenario, nodes);
  core::JointProgress joint(told_by_all(options.progress), all.size());
  for (training::Scenario& setting : all) {
    const auto told = told_by_one(options.progress, joint, all.size());
    if (const std::string missing = missing_format(setting); !missing.empty()) {
      const auto count = Space(setting).layouts();
      result.enumerated += count;
      rejected.add("precision", missing, count);
      tell_end(told, all.size());
      continue;
    }
    training::check_apart_from_layout(setting);
    training::apply(setting.calibration, setting.cluster);
    training::use_attention_of_gpus(setting);
    const auto shortages = training::power_shortages(setting);
    if (shortages.empty()) {
      training::limit_boards(setting);
    }
    const auto missed =
        shortages.empty()
            ? machine_limit(setting, options.limits)
            : std::optional(MissedLimit{"power", shortages.front().text, kUnknownDistance, ""});
    if (missed) {
      const auto count = Space(setting).layouts();
      result.enumerated += count;
      rejected.add(missed->kind, missed->reason, count);
      rejected.set_nearest(missed->kind, missed->reason, missed->distance, missed->text);
      tell_end(told, all.size());
      continue;
    }
    Rejections here;
    simulated.push_back(search_setting(setting, options, told, threads, result, here));
    tell_end(told, all.size());
    rejected.add(here, place_text(setting, nodes));
  }
  return simulated;
}

/// The classes that no plan is of, on the cluster of the first plan.
std::vector<ClassMiss> lost_classes(const std::vector<SimulatedSetting>& settings,
                                    const std::vector<Plan>& plans,
                                    const PlanOptions& options) {
  if (plans.empty()) {
    return {};
  }
  const Plan& first = plans.front();
  const auto setting = std::find_if(
      settings.begin(), settings.end(),
      [&](const SimulatedSetting& one) { return make_setting(one.scenario) == first.setting; });
  if (setting == settings.end() || setting->bounds.empty()) {
    return {};
  }
  std::vector<TimedLayout> timed;
  for (std::size_t i = 0; i < setting->layouts.size(); ++i) {
    if (i != setting->own) {  // any, not the fastest of its class
      timed.push_back({setting->layouts[i], setting->times[i]});
    }
  }
  ClassesAsked asked;
  asked.bounds = &setting->bounds;
  asked.simulated = &timed;
  for (const Plan& plan : plans) {
    if (plan.setting == first.setting) {
      asked.plans.push_back(&plan.layout);
    }
  }
  asked.estimate = first.estimate;
  asked.step = first.step.time;
  asked.headroom = least_headroom(options.limits);
  asked.estimated = setting->estimated;
  SearchProgress progress(options.progress);
  asked.progress = [&progress](std::size_t done, std::size_t all) {
    progress.count(Phase::classes, done, all);
  };
  return class_misses(setting->scenario, Space(setting->scenario), asked);
}

}  // namespace

double least_headroom(const Limits& limits) {
  return std::max(training::kMemoryHeadroom, limits.headroom.value_or(0));
}

PlanResult search(const training::Scenario& scenario, const PlanOptions& options) {
  require_inputs(scenario, options);
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  PlanResult result;
  Rejections rejected;
  const std::vector<int>& nodes = options.nodes.empty() ? scenario.search.nodes : options.nodes;
  const auto simulated = search_settings(scenario, nodes, options, threads, result, rejected);
  drop_late_and_dear(options.limits, result.plans, rejected);
  if (result.plans.empty()) {  // what was simulated and is in no plan is left out too
    rejected.add("slower", "is slower than the simulated layouts whose runs were judged",
                 std::max<std::int64_t>(0, result.enumerated - rejected.total()));
  }
  mark_front(result.plans, options);
  const auto before = [&](const Plan& a, const Plan& b) {
    return comes_first(a, b, options.objective);
  };
  std::stable_sort(result.plans.begin(), result.plans.end(), before);
  if (options.verify > 0) {
    const Plan* best = result.plans.empty() ? nullptr : &result.plans.front();
    for (const SimulatedSetting& setting : simulated) {
      verify(setting, best, options, threads, result.verification);
    }
    std::stable_sort(result.verification.better.begin(), result.verification.better.end(), before);
  }
  std::size_t place = 0;
  std::erase_if(result.plans,
                [&](const Plan& plan) { return place++ >= options.keep && !plan.pareto; });
  result.rejected = rejected.list();
  result.classes = lost_classes(simulated, result.plans, options);
  result.searched = searched(scenario, nodes);
  result.searched.unused = unused_by_all(simulated);
  const auto& feeds = scenario.cluster.power;
  if (options.limits.power && !scenario.run.prices && !(feeds && feeds->pue)) {
    result.searched.held.push_back(
        {"cluster.power.pue", "1, there being no prices: power of GPUs, hosts and switches alone"});
  }
  return result;
}

}  // namespace headway::plan

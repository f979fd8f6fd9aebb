#include "sim/plan/search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

#include "sim/core/error.h"
#include "sim/plan/bound.h"
#include "sim/training/step.h"

namespace headway::plan {

namespace {

using training::CheckedScenario;
using workload::Recompute;

/// The layout with the least recompute, at or above the scenario's, that fits into memory.
std::optional<CheckedScenario> fitted(const CheckedScenario& checked) {
  constexpr std::array levels{Recompute::none, Recompute::selective, Recompute::full};
  for (const Recompute level : levels) {
    if (level < checked.scenario().parallelism.recompute) {
      continue;
    }
    training::Scenario scenario = checked.scenario();
    scenario.parallelism.recompute = level;
    auto candidate = training::check(std::move(scenario));
    if (training::predict_memory(candidate).fits) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::vector<CheckedScenario> drop_what_does_not_fit(Candidates& candidates) {
  const auto& layouts = candidates.layouts;
  std::vector<std::optional<CheckedScenario>> fits(layouts.size());
  tbb::parallel_for(std::size_t{0}, layouts.size(),
                    [&](std::size_t i) { fits[i] = fitted(layouts[i]); });
  std::vector<CheckedScenario> fitting;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (fits[i]) {
      fitting.push_back(std::move(*fits[i]));
      continue;
    }
    const auto& gpu = layouts[i].scenario().cluster.node.gpu;
    candidates.rejected.add(
        "memory", fmt::format("needs more than the {:.0f} GiB of a {}, even with full recompute",
                              gpu.memory.si() / 1073741824.0, gpu.name));
  }
  return fitting;
}

/// A layout on its way through the search.
struct Entry {
  std::size_t index = 0;  ///< in the order of enumeration
  core::Seconds bound;    ///< no simulation can be faster
  training::StepResult step;
};

std::vector<Entry> most_promising_first(const std::vector<CheckedScenario>& layouts) {
  std::vector<Entry> entries(layouts.size());
  tbb::parallel_for(std::size_t{0}, layouts.size(), [&](std::size_t i) {
    entries[i].index = i;
    entries[i].bound = step_bound(layouts[i]);
  });
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.bound < b.bound; });
  return entries;
}

bool faster(const Entry& a, const Entry& b) {
  return a.step.time != b.step.time ? a.step.time < b.step.time : a.index < b.index;
}

/// Simulates entries in batches until none that is left can be among the best; returns the
/// simulated, fastest first. Batches have one size whatever the number of threads, so the same
/// entries are simulated everywhere.
std::vector<Entry> simulate(const std::vector<CheckedScenario>& layouts,
                            std::vector<Entry> entries,
                            const PlanOptions& options) {
  constexpr std::size_t kBatch = 8;
  constexpr double kRounding = 1 + 1e-6;  // of times to ticks
  std::vector<Entry> simulated;
  std::atomic<std::size_t> done{0};
  for (std::size_t begin = 0; begin < entries.size(); begin += kBatch) {
    if (simulated.size() >= options.keep &&
        entries[begin].bound > simulated[options.keep - 1].step.time * kRounding) {
      break;
    }
    const std::size_t end = std::min(begin + kBatch, entries.size());
    tbb::parallel_for(begin, end, [&](std::size_t i) {
      entries[i].step = training::simulate_step(layouts[entries[i].index], {options.fold, false});
      const std::size_t finished = ++done;
      if (options.progress) {
        options.progress(finished, entries.size());
      }
    });
    for (std::size_t i = begin; i < end; ++i) {
      simulated.push_back(std::move(entries[i]));
    }
    std::sort(simulated.begin(), simulated.end(), faster);
  }
  return simulated;
}

Plan make_plan(const CheckedScenario& layout, const PlanOptions& options, int threads) {
  Plan plan{layout.scenario().parallelism, layout.micro_batches(),
            training::simulate_step(layout, {options.fold, true}), std::nullopt};
  plan.layout.data = layout.data_parallel();
  if (layout.scenario().run.until) {
    plan.campaign = campaign::simulate_campaign(layout, plan.step, {threads, false});
  }
  return plan;
}

}  // namespace

PlanResult search(const training::Scenario& scenario, const PlanOptions& options) {
  if (options.keep == 0) {
    throw core::Error("a search must keep at least one plan");
  }
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  auto candidates = enumerate(scenario);
  const auto layouts = drop_what_does_not_fit(candidates);
  const auto simulated = simulate(layouts, most_promising_first(layouts), options);

  PlanResult result;
  result.enumerated = candidates.enumerated;
  result.simulated = static_cast<std::int64_t>(simulated.size());
  for (std::size_t i = simulated.size(); i < layouts.size(); ++i) {
    candidates.rejected.add(
        "slower", fmt::format("its kernels and the pipeline's fill alone take longer than plan {}",
                              options.keep));
  }
  result.rejected = candidates.rejected.list();
  // Kept plans are simulated once more, with the trace that their critical path is found in.
  const std::size_t kept = std::min(options.keep, simulated.size());
  result.plans.resize(kept);
  tbb::parallel_for(std::size_t{0}, kept, [&](std::size_t i) {
    result.plans[i] = make_plan(layouts[simulated[i].index], options, threads);
  });
  return result;
}

}  // namespace headway::plan

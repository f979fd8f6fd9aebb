#include "sim/plan/verify.h"

#include <algorithm>
#include <atomic>
#include <oneapi/tbb/parallel_for.h>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/plan/judge.h"
#include "sim/plan/keep_limits.h"
#include "sim/plan/shortlist/fit.h"
#include "sim/training/refusals.h"

namespace headway::plan {

namespace {

/// A layout as a search has it that looks at all: where it does not fit as it is, with as few
/// layers recomputing as let it, if that is tried; nothing where it breaks a rule or does not fit.
std::optional<training::CheckedScenario> as_searched(const training::Scenario& s,
                                                     const Space& space,
                                                     std::int64_t number,
                                                     double headroom) {
  auto layout = space.layout(number);
  const std::int64_t together = std::int64_t{*layout.data.value} * layout.micro_batch;
  if (s.training.global_batch % together != 0) {
    return std::nullopt;
  }
  try {
    auto checked = training::check(with_layout(s, layout));
    if (too_long(checked.micro_batches(), s.model) ||
        training::refusal(s.training.framework, s, layout, checked.micro_batches())) {
      return std::nullopt;
    }
    const auto missing = lack(checked, headroom);
    if (!missing) {
      return checked;
    }
    const auto [shape, state] = space.place(number);
    if (missing->memory == Memory::host || !space.tries_fewest(space.passes_of(number))) {
      return std::nullopt;
    }
    Fit fit(s, *shape, headroom);
    fit.set_micro_batches(checked.micro_batches());
    fit.set_passes(layout);
    const auto settled = fit.fewest_recomputed(layout, state);
    return settled ? std::optional(training::check(with_layout(s, *settled))) : std::nullopt;
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

/// Layouts drawn from the whole space that keep the rules, fit and were not simulated; none twice.
std::vector<Entry> draw(const SimulatedSetting& setting, std::size_t wanted, double headroom) {
  constexpr std::size_t kTries = 1000;  // a layout: most of a space break a rule or do not fit
  const training::Scenario& s = setting.scenario;
  const Space space(s);
  const core::RandomStream stream(static_cast<std::uint64_t>(s.run.seed), "plan.verify");
  std::vector<Entry> drawn;
  std::set<std::int64_t> before;
  for (std::size_t i = 0; i < kTries * wanted && drawn.size() < wanted && space.layouts() > 0;
       ++i) {
    const auto number =
        static_cast<std::int64_t>(stream.index(i, 0, static_cast<std::uint64_t>(space.layouts())));
    if (!before.insert(number).second) {
      continue;
    }
    auto checked = as_searched(s, space, number, headroom);
    const auto& known = setting.layouts;
    if (checked && std::find(known.begin(), known.end(), resolved(*checked)) == known.end()) {
      drawn.push_back(Entry{std::move(*checked), {}, {}, drawn.size(), false, {}});
    }
  }
  return drawn;
}

}  // namespace

void verify(const SimulatedSetting& setting,
            const Plan* best,
            const PlanOptions& options,
            int threads,
            Verification& out) {
  auto drawn = draw(setting, options.verify, least_headroom(options.limits));
  std::atomic<std::size_t> done{0};
  tbb::parallel_for(std::size_t{0}, drawn.size(), [&](std::size_t i) {
    const auto tell = [&](std::size_t more) {
      if (options.progress) {
        options.progress("simulating layouts that were left out", done += more, drawn.size());
      }
    };
    simulate(options.fold, drawn[i], [&tell](std::size_t, std::size_t) { tell(0); });
    tell(1);
  });
  std::erase_if(drawn, [](const Entry& entry) { return entry.too_large; });
  std::sort(drawn.begin(), drawn.end(), faster);
  out.asked += static_cast<std::int64_t>(options.verify);
  out.simulated += std::ssize(drawn);
  for (const Entry& entry : drawn) {
    if (!setting.layouts.empty() && !weighs_slower(options) && entry.step.time >= setting.fastest) {
      break;
    }
    Plan plan = make_plan(entry);
    add_campaign(setting.scenario, options, threads, plan);
    if (!missed_limit(plan, options.limits) &&
        (best == nullptr || value(plan, options.objective) < value(*best, options.objective))) {
      out.better.push_back(std::move(plan));
    }
  }
}

}  // namespace headway::plan

#include "sim/plan/verify.h"

#include <algorithm>
#include <atomic>
#include <oneapi/tbb/parallel_for.h>
#include <utility>

#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/core/random.h"

namespace headway::plan {

namespace {

/// Layouts drawn from the whole space that keep the rules, fit and were not simulated.
std::vector<Entry> draw(const training::Scenario& scenario,
                        const Space& space,
                        const std::vector<Entry>& simulated,
                        std::size_t wanted) {
  constexpr std::size_t kTries = 1000;  // a layout: most of a space break a rule or do not fit
  std::vector<std::int64_t> first{0};
  for (const Shape& shape : space.shapes()) {
    first.push_back(first.back() + space.layouts(shape));
  }
  const core::RandomStream stream(static_cast<std::uint64_t>(scenario.run.seed), "plan.verify");
  std::vector<Entry> drawn;
  for (std::size_t i = 0; i < kTries * wanted && drawn.size() < wanted && space.layouts() > 0;
       ++i) {
    const auto number =
        static_cast<std::int64_t>(stream.index(i, 0, static_cast<std::uint64_t>(space.layouts())));
    const auto after = std::upper_bound(first.begin(), first.end(), number);
    const Shape& shape = space.shapes()[static_cast<std::size_t>(after - first.begin() - 1)];
    const auto layout = space.layout(shape, number - *(after - 1));
    const bool known = std::any_of(simulated.begin(), simulated.end(), [&](const Entry& entry) {
      return entry.layout.scenario().parallelism == layout;
    });
    if (known || !core::is_multiple(scenario.training.global_batch,
                                    core::Checked(shape.data) * layout.micro_batch)) {
      continue;
    }
    try {
      auto checked = training::check(with_layout(scenario, layout));
      if (std::int64_t{checked.micro_batches()} * scenario.model.layers <= kMostLayers &&
          has_room(checked)) {
        drawn.push_back(Entry{std::move(checked), {}, {}, drawn.size(), false, {}});
      }
    } catch (const core::Error&) {
      continue;
    }
  }
  return drawn;
}

}  // namespace

void verify(const training::Scenario& scenario,
            const Space& space,
            const std::vector<Entry>& simulated,
            const PlanOptions& options,
            Verification& out) {
  auto drawn = draw(scenario, space, simulated, options.verify);
  std::atomic<std::size_t> done{0};
  tbb::parallel_for(std::size_t{0}, drawn.size(), [&](std::size_t i) {
    simulate(options.fold, drawn[i]);
    if (options.progress) {
      options.progress("simulating layouts that were left out", ++done, drawn.size());
    }
  });
  std::erase_if(drawn, [](const Entry& entry) { return entry.too_large; });
  std::sort(drawn.begin(), drawn.end(), faster);
  out.asked += static_cast<std::int64_t>(options.verify);
  out.simulated += std::ssize(drawn);
  for (const Entry& entry : drawn) {
    if (simulated.empty() || entry.step.time < simulated.front().step.time) {
      out.better.push_back(make_plan(entry));
    }
  }
}

Plan make_plan(const Entry& entry) {
  const auto& s = entry.layout.scenario();
  Plan plan;
  plan.setting = {s.cluster.nodes, s.training.global_batch, s.training.sequence_length,
                  s.training.precision};
  plan.layout = s.parallelism;
  plan.layout.data = entry.layout.data_parallel();
  plan.micro_batches = entry.layout.micro_batches();
  plan.estimate = entry.estimate;
  plan.step = entry.step;
  return plan;
}

}  // namespace headway::plan

#include "sim/study/placement/placement.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <set>
#include <utility>

#include "sim/config/spec_type.h"
#include "sim/config/writer.h"
#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/study/placement/node_choices.h"
#include "sim/study/predict.h"
#include "sim/study/stopwatch.h"
#include "sim/study/verdict/limit.h"
#include "sim/training/check.h"
#include "sim/training/occupancy/occupancy.h"
#include "sim/training/step/step.h"
#include "sim/training/step/step_inputs.h"

namespace headway::study {

namespace {

using training::Scenario;

/// The step alone: of the run only its seed is left.
Scenario step_of(Scenario scenario) {
  const auto seed = scenario.run.seed;
  scenario.run = {};
  scenario.run.seed = seed;
  return scenario;
}

/// On the first nodes of the same fabric, nobody else being there.
Scenario on_empty_fabric(Scenario scenario) {
  const int nodes = scenario.cluster.occupancy->nodes;
  scenario.cluster.occupancy = training::OccupancySpec{};
  scenario.cluster.occupancy->nodes = nodes;
  return scenario;
}

Scenario on_nodes(Scenario scenario, const std::vector<std::uint32_t>& nodes) {
  scenario.cluster.occupancy->take = training::node_ranges(nodes);
  return scenario;
}

Scenario silenced(Scenario scenario) {
  scenario.cluster.occupancy->jobs.clear();
  return scenario;
}

std::vector<PlacedStep> choices(const Scenario& scenario, int draws) {
  const network::Fabric fabric = training::build_fabric(scenario.cluster);
  std::vector<PlacedStep> out;
  const auto add = [&](NodeChoice choice, int draw = 0) {
    PlacedStep& one = out.emplace_back();
    one.choice = choice;
    one.draw = draw;
    one.nodes = choose_nodes(choice, scenario.cluster, fabric,
                             static_cast<std::uint64_t>(scenario.run.seed), draw);
    const auto leaves = leaves_of(fabric, one.nodes);
    std::set<std::uint32_t> pods;
    for (const std::uint32_t leaf : leaves) {
      pods.insert(fabric.pod_of(leaf));
    }
    one.leaves = static_cast<int>(leaves.size());
    one.pods = static_cast<int>(pods.size());
  };
  if (!scenario.cluster.occupancy->take.empty()) {
    add(NodeChoice::given);
  }
  for (const NodeChoice choice :
       {NodeChoice::packed, NodeChoice::fewest_leaves, NodeChoice::quiet, NodeChoice::spread}) {
    add(choice);
  }
  for (int draw = 1; draw <= draws; ++draw) {
    add(NodeChoice::random, draw);
  }
  return out;
}

/// Steps of several scenarios, each distinct one simulated once.
class Steps {
 public:
  /// @returns where its step will be
  std::size_t add(Scenario scenario) {
    const auto& occupancy = *scenario.cluster.occupancy;
    const std::string key =
        fmt::format("{} beside {}", fmt::join(occupancy.take, ","), occupancy.jobs.size());
    const auto [place, fresh] = place_.try_emplace(key, scenarios_.size());
    if (fresh) {
      scenarios_.push_back(std::move(scenario));
    }
    return place->second;
  }
  std::vector<training::StepResult> simulate(const core::SourceMarks& marks,
                                             const PlacementOptions& options) const {
    std::vector<training::StepResult> steps(scenarios_.size());
    std::atomic<std::size_t> done = 0;
    oneapi::tbb::parallel_for(std::size_t{0}, steps.size(), [&](std::size_t i) {
      steps[i] = training::simulate_step(training::check(scenarios_[i], marks),
                                         {.fold = options.fold, .trace = false, .hash_draws = 0});
      if (options.progress) {
        options.progress("simulating steps", ++done, steps.size());
      }
    });
    return steps;
  }

 private:
  std::map<std::string, std::size_t> place_;
  std::vector<Scenario> scenarios_;
};

/// Fills in what the steps say; the shortest first.
void simulate(const Scenario& scenario,
              const core::SourceMarks& marks,
              const PlacementOptions& options,
              PlacementReport& report) {
  Steps steps;
  const std::size_t empty = steps.add(on_empty_fabric(scenario));
  std::vector<std::pair<std::size_t, std::size_t>> of;
  for (const PlacedStep& one : report.candidates) {
    const Scenario here = on_nodes(scenario, one.nodes);
    of.emplace_back(steps.add(here), steps.add(silenced(here)));
  }
  const auto results = steps.simulate(marks, options);
  report.empty = results[empty].time;
  for (std::size_t i = 0; i < of.size(); ++i) {
    PlacedStep& one = report.candidates[i];
    const training::StepResult& step = results[of[i].first];
    one.step = step.time;
    one.silent = results[of[i].second].time;
    one.empty = report.empty;
    one.mfu = step.mfu;
    one.limit = limit_sentence(step, std::nullopt);
  }
  std::stable_sort(report.candidates.begin(), report.candidates.end(),
                   [](const PlacedStep& a, const PlacedStep& b) { return a.step < b.step; });
  for (PlacedStep& one : report.candidates) {
    one.behind = one.step / report.candidates.front().step - 1;
  }
  const training::MemoryResult& memory = results[empty].memory;
  if (!memory.fits) {
    report.reasons.push_back(fmt::format(
        "The job does not fit: stage {} needs {:.4g} GB of GPU memory, a GPU has {:.4g} GB; no "
        "nodes mend that.",
        memory.peak_stage, memory.peak.si() / 1e9, memory.capacity.si() / 1e9));
  }
}

}  // namespace

std::vector<std::string> PlacedStep::ranges() const { return training::node_ranges(nodes); }

std::string placement_sentence(const PlacementReport& report) {
  if (report.candidates.empty()) {
    return "";
  }
  const PlacedStep& best = report.candidates.front();
  const PlacedStep& worst = report.candidates.back();
  std::string text = fmt::format(
      "Take nodes {} ({}): a step of {} s, {} % longer than on an empty fabric ({} % by places, {} "
      "% by others' traffic).",
      fmt::join(best.ranges(), ", "), core::to_word(best.choice), core::number(best.step.si()),
      core::percent(best.cost()), core::percent(best.by_places()),
      core::percent(best.by_traffic()));
  return text + (worst.behind > 0
                     ? fmt::format(" The worst of these choices ({}) takes {} % longer than that.",
                                   core::to_word(worst.choice), core::percent(worst.behind))
                     : " All choices take as long.");
}

PlacementReport compare_placements(const config::LoadedScenario& loaded,
                                   const PlacementOptions& options,
                                   core::Seconds load_time) {
  Stopwatch clock;
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  const Scenario scenario = step_of(loaded.scenario);
  if (!scenario.cluster.occupancy) {
    throw core::Error({core::Diagnostic{
        core::find_mark(loaded.marks, "cluster"),
        "which nodes to take is asked of a fabric that has more nodes than the job; write under "
        "'cluster' an 'occupancy' with its 'nodes', those that are 'down' and the 'jobs' of "
        "others"}});
  }
  std::ignore = training::check(scenario, loaded.marks);
  PlacementReport report;
  report.version = HEADWAY_VERSION;
  report.scenario = loaded.scenario;
  report.digest = scenario_digest(loaded);
  const auto& occupancy = *scenario.cluster.occupancy;
  report.free = static_cast<int>(training::free_nodes(occupancy).size());
  report.down = static_cast<int>(training::node_numbers(occupancy.down).size());
  report.candidates = choices(scenario, options.draws);
  simulate(scenario, loaded.marks, options, report);
  report.timing.load = load_time;
  report.timing.step = clock.lap();
  report.timing.total = load_time + report.timing.step;
  report.timing.threads = threads;
  return report;
}

std::string placement_file(const PlacementReport& report, std::size_t place) {
  Scenario s = report.scenario;
  s.name = fmt::format("{}, placement {}", s.name, place + 1);
  s.cluster.occupancy->take = report.candidates[place].ranges();
  return config::write_spec(*config::find_kind("scenarios")->type, &s);
}

}  // namespace headway::study

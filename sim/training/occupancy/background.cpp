#include "sim/training/occupancy/background.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/infeasible.h"
#include "sim/core/tick.h"
#include "sim/network/fabric/route.h"
#include "sim/training/occupancy/occupancy.h"

namespace headway::training {

namespace {

using core::GpuId;
using core::Tick;

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// What each link carries of a job, in units of what one card sends x network::kCoefficientUnit.
class JobLoads {
 public:
  JobLoads(const network::Fabric& fabric, std::uint64_t label) : fabric_(fabric), label_(label) {}

  /// What each card of a node sends to the same card of another.
  /// @param share  of what a card sends
  void add(std::uint32_t from, std::uint32_t to, double share) {
    for (std::uint32_t rail = 0; rail < fabric_.shape().rails; ++rail) {
      network::find_route(fabric_, GpuId(fabric_.gpu_on_rail(from, rail)),
                          GpuId(fabric_.gpu_on_rail(to, rail)), label_, way_);
      for (const network::RouteHop& hop : way_.hops) {
        if (!fabric_.link(hop.link).never_binds) {
          loads_[hop.link.index()] += share * hop.coefficient;
        }
      }
    }
  }
  /// Fabric links, rising.
  [[nodiscard]] std::vector<network::FlowOnLink> uses() const {
    std::vector<network::FlowOnLink> list;
    for (const auto& [link, load] : loads_) {
      const double units = std::round(load);
      HEADWAY_CHECK(units < double{kNowhere}, "coefficient {} of another job", units);
      if (units > 0) {
        list.push_back({link, static_cast<std::uint32_t>(units)});
      }
    }
    return list;
  }

 private:
  const network::Fabric& fabric_;
  std::uint64_t label_;
  network::Route way_;
  std::map<std::uint32_t, double> loads_;
};

void add_pattern(const OtherJobSpec& job, JobLoads& loads) {
  const auto nodes = node_numbers(job.nodes);
  if (job.pattern == TrafficPattern::ring) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      loads.add(nodes[i], nodes[(i + 1) % nodes.size()], 1);
    }
    return;
  }
  const double share = 1.0 / static_cast<double>(nodes.size() - 1);
  for (const std::uint32_t from : nodes) {
    for (const std::uint32_t to : nodes) {
      if (from != to) {
        loads.add(from, to, share);
      }
    }
  }
}

/// The problem with the others' flows, each so long that it lasts until `horizon` by itself, and an
/// actor each that waits for it.
network::Problem beside(const network::Problem& problem,
                        const Background& background,
                        Tick horizon) {
  network::Problem all = problem;
  all.coefficient_unit = network::kCoefficientUnit;
  all.links.insert(all.links.end(), background.links.begin(), background.links.end());
  const auto name = static_cast<std::uint16_t>(all.names.size());
  all.names.emplace_back("other jobs");
  const auto program = static_cast<std::uint32_t>(all.programs.size());
  all.programs.push_back({{network::StepCode::arrive, core::Activity::other, name, 0, 0},
                          {network::StepCode::wait, core::Activity::other, name, 0, 0}});
  const core::Seconds lasts = core::Clock::step().to_seconds(horizon);
  for (const BackgroundFlow& job : background.flows) {
    const auto index = static_cast<std::uint32_t>(all.groups.size());
    network::TransferGroup group;
    group.first_flow = static_cast<std::uint32_t>(all.flows.size());
    group.flows = 1;
    group.activity = core::Activity::other;
    group.name = name;
    all.groups.push_back(group);
    network::Flow flow;
    flow.group = index;
    flow.size = job.bound * lasts;
    flow.bound = job.bound;
    flow.first_use = static_cast<std::uint32_t>(all.uses.size());
    flow.uses = static_cast<std::uint32_t>(job.uses.size());
    all.flows.push_back(flow);
    all.uses.insert(all.uses.end(), job.uses.begin(), job.uses.end());
    network::Actor actor;
    actor.program = program;
    actor.groups = {index};
    all.actors.push_back(actor);
  }
  return all;
}

/// @throws core::Infeasible if that is past the clock
Tick twice(Tick end) {
  if (end > std::numeric_limits<Tick>::max() / 2) {
    throw core::Infeasible(network::kPastTheClock);
  }
  return 2 * end;
}

/// Leaves of a result what the first `actors` actors and the first `links` links have.
void keep_own(const network::Problem& all,
              std::size_t actors,
              std::size_t links,
              std::size_t first_flow,
              network::RunResult& run) {
  std::vector<std::uint32_t> number(run.multiplicity.size(), kNowhere);
  for (std::size_t a = 0; a < actors; ++a) {
    number[run.class_of_actor[a]] = 0;
  }
  std::uint32_t kept = 0;
  run.end = 0;
  for (std::size_t c = 0; c < number.size(); ++c) {
    if (number[c] == kNowhere) {
      continue;
    }
    run.end = std::max(run.end, run.actor_end[c]);
    run.actor_end[kept] = run.actor_end[c];
    run.actor_activity[kept] = run.actor_activity[c];
    run.multiplicity[kept] = run.multiplicity[c];
    if (!run.paths.empty()) {
      run.paths[kept] = run.paths[c];
    }
    number[c] = kept++;
  }
  run.actor_end.resize(kept);
  run.actor_activity.resize(kept);
  run.multiplicity.resize(kept);
  run.paths.resize(std::min<std::size_t>(kept, run.paths.size()));
  run.class_of_actor.resize(actors);
  for (std::uint32_t& of : run.class_of_actor) {
    of = number[of];
  }
  const auto of_others = [&](const auto& entry) { return number[entry.actor] == kNowhere; };
  std::erase_if(run.trace, of_others);
  std::erase_if(run.transfers, of_others);
  for (network::TransferEntry& entry : run.transfers) {
    entry.actor = number[entry.actor];
  }
  for (network::TraceEntry& entry : run.trace) {
    entry.actor = number[entry.actor];
    entry.last_arriver = number[entry.last_arriver];
  }
  for (std::size_t f = first_flow; f < all.flows.size(); ++f) {
    const network::Flow& flow = all.flows[f];
    for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
      double& bytes = run.link_bytes[all.uses[u].link];
      bytes -= flow.size.si() * all.uses[u].coefficient / all.coefficient_unit;
      bytes = std::max(0.0, bytes);  // sums in another order differ by their rounding
    }
  }
  run.link_bytes.resize(links);
  run.class_of_flow.resize(std::min(first_flow, run.class_of_flow.size()));
  run.classes = kept;
  run.actors = actors;
}

}  // namespace

Background background_of(const ClusterSpec& cluster,
                         const network::Fabric& fabric,
                         const std::vector<core::LinkId>& fabric_links) {
  Background out;
  if (!cluster.occupancy || cluster.occupancy->jobs.empty()) {
    return out;
  }
  std::map<std::uint32_t, std::uint32_t> number;
  for (std::size_t l = 0; l < fabric_links.size(); ++l) {
    number[fabric_links[l].index()] = static_cast<std::uint32_t>(l);
  }
  std::uint64_t label = 0;
  for (const OtherJobSpec& job : cluster.occupancy->jobs) {
    JobLoads loads(fabric, ++label);
    add_pattern(job, loads);
    BackgroundFlow flow{job.name, job.rate / static_cast<double>(fabric.shape().rails),
                        loads.uses()};
    for (network::FlowOnLink& use : flow.uses) {
      const auto next = static_cast<std::uint32_t>(fabric_links.size() + out.links.size());
      const auto [place, fresh] = number.try_emplace(use.link, next);
      if (fresh) {
        out.links.push_back({fabric.link(core::LinkId(use.link)).capacity});
      }
      use.link = place->second;
    }
    out.flows.push_back(std::move(flow));
  }
  return out;
}

network::RunResult run_beside(const network::Problem& problem,
                              const Background& background,
                              const network::RunOptions& options) {
  if (background.empty()) {
    return network::run(problem, options);
  }
  network::RunOptions plain = options;
  plain.trace = plain.transfers = plain.rates = plain.paths = false;
  plain.progress = {};
  // Others' flows are to last longer than the step: at first twice the step without them.
  Tick horizon = twice(network::run(problem, plain).end);
  while (true) {
    const network::Problem all = beside(problem, background, horizon);
    network::RunResult run = network::run(all, options);
    keep_own(all, problem.actors.size(), problem.links.size(), problem.flows.size(), run);
    if (run.end <= horizon) {
      return run;
    }
    horizon = twice(run.end);
  }
}

}  // namespace headway::training

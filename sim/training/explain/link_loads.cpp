#include "sim/training/explain/link_loads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace headway::training {

namespace {

using core::Tick;

/// From when on, how much [B/s].
using Steps = std::vector<std::pair<Tick, double>>;

double share_of(const LoweredStep& lowered, const network::RunResult& run, std::size_t link) {
  const double capacity = lowered.problem.links[link].capacity.si();
  return capacity > 0 ? run.link_bytes[link] / capacity : 0;
}

/// How much of its rate a flow of each class takes of the link, all flows of the class together.
std::map<std::uint32_t, double> users_of(const network::Problem& problem,
                                         const network::RunResult& run,
                                         std::size_t link) {
  std::map<std::uint32_t, double> users;
  for (std::size_t f = 0; f < problem.flows.size(); ++f) {
    const network::Flow& flow = problem.flows[f];
    for (std::uint32_t u = flow.first_use; u < flow.first_use + flow.uses; ++u) {
      if (problem.uses[u].link == link) {
        users[run.class_of_flow[f]] +=
            static_cast<double>(problem.uses[u].coefficient) / problem.coefficient_unit;
      }
    }
  }
  return users;
}

Steps steps_of(const std::map<std::uint32_t, double>& users, const network::RunResult& run) {
  std::map<std::uint32_t, double> now;
  Steps steps{{0, 0}};
  for (std::size_t i = 0; i < run.rates.size(); ++i) {
    const network::RateEntry& entry = run.rates[i];
    const auto user = users.find(entry.flow);
    if (user == users.end()) {
      continue;
    }
    now[entry.flow] = user->second * entry.rate.si();
    double sum = 0;  // anew, so that nothing is left of flows that have ended
    for (const auto& [flow, load] : now) {
      sum += load;
    }
    if (steps.back().first == entry.at) {
      steps.back().second = sum;
    } else {
      steps.emplace_back(entry.at, sum);
    }
  }
  steps.erase(std::unique(steps.begin(), steps.end(),
                          [](const auto& a, const auto& b) { return a.second == b.second; }),
              steps.end());
  return steps;
}

/// Means over so many equal windows.
Steps windows_of(const Steps& steps, Tick end, std::size_t windows) {
  std::vector<double> sums(windows, 0);
  const double length = static_cast<double>(end) / static_cast<double>(windows);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto from = static_cast<double>(steps[i].first);
    const auto to = static_cast<double>(i + 1 < steps.size() ? steps[i + 1].first : end);
    for (auto w = static_cast<std::size_t>(from / length); w < windows; ++w) {
      const double begin = length * static_cast<double>(w);
      const double part = std::min(to, begin + length) - std::max(from, begin);
      if (begin >= to) {
        break;
      }
      sums[w] += steps[i].second * std::max(0.0, part);
    }
  }
  Steps means;
  for (std::size_t w = 0; w < windows; ++w) {
    means.emplace_back(std::llround(length * static_cast<double>(w)), sums[w] / length);
  }
  return means;
}

}  // namespace

std::vector<LinkLoad> link_loads(const network::Fabric& fabric,
                                 const LoweredStep& lowered,
                                 const network::RunResult& run) {
  // What transfers that are timed as events carry, no flow shows: half a load would mislead.
  const bool timed = std::any_of(lowered.timed_bytes.begin(), lowered.timed_bytes.end(),
                                 [](core::Bytes bytes) { return bytes > core::Bytes(0); });
  std::vector<std::pair<network::Tier, std::size_t>> busiest;
  for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
    const network::Tier tier = fabric.link(lowered.fabric_links[l]).tier;
    if (timed && tier == network::Tier::scale_up) {
      continue;
    }
    const auto place = std::find_if(busiest.begin(), busiest.end(),
                                    [&](const auto& each) { return each.first == tier; });
    if (place == busiest.end()) {
      busiest.emplace_back(tier, l);
    } else if (share_of(lowered, run, l) > share_of(lowered, run, place->second)) {
      place->second = l;
    }
  }
  const double ns = 1e9 / core::Clock::step().ticks_per_second();
  std::vector<LinkLoad> loads;
  for (const auto& [tier, link] : busiest) {
    if (!(run.link_bytes[link] > 0)) {
      continue;
    }
    LinkLoad& load = loads.emplace_back();
    load.tier = network::tier_name(tier, fabric.input().scale_up.kind);
    load.capacity = lowered.problem.links[link].capacity;
    load.alike = 0;
    for (std::size_t l = 0; l < lowered.fabric_links.size(); ++l) {
      const bool same = fabric.link(lowered.fabric_links[l]).tier == tier &&
                        share_of(lowered, run, l) == share_of(lowered, run, link);
      load.alike += same ? lowered.link_multiplicity[l] : 0;
    }
    Steps steps = steps_of(users_of(lowered.problem, run, link), run);
    if (steps.size() > kMostLoads) {
      steps = windows_of(steps, run.end, kMostLoads);
      load.mean_of = std::llround(ns * static_cast<double>(run.end) / kMostLoads);
    }
    for (const auto& [at, rate] : steps) {
      load.from.push_back(std::llround(ns * static_cast<double>(at)));
      load.load.push_back(std::llround(rate));
    }
  }
  return loads;
}

}  // namespace headway::training

// Random flows through the engine and through a brute-force simulator in long doubles that shares
// no code.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "sim/network/flow/problem.h"

#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

struct OracleFlow {
  long double start = 0, left = 0, bound = 0, weight = 1, rate = 0, end = -1;
  std::vector<std::uint32_t> links;
};

/// Progressive filling straight from the definition: raise all levels until a link or a bound stops
/// some.
void fill(std::vector<OracleFlow*>& flows, const std::vector<long double>& capacity) {
  std::vector<long double> left = capacity;
  std::vector<OracleFlow*> open = flows;
  while (!open.empty()) {
    long double level = HUGE_VALL;
    std::vector<long double> weight(capacity.size(), 0);
    for (const OracleFlow* flow : open) {
      for (const std::uint32_t link : flow->links) {
        weight[link] += flow->weight;
      }
      level = flow->bound > 0 ? std::min(level, flow->bound / flow->weight) : level;
    }
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      level = weight[link] > 0 ? std::min(level, left[link] / weight[link]) : level;
    }
    const auto stopped = [&](const OracleFlow* flow) {
      const bool at_bound = flow->bound > 0 && flow->bound / flow->weight <= level * (1 + 1e-15L);
      return at_bound ||
             std::any_of(flow->links.begin(), flow->links.end(), [&](std::uint32_t link) {
               return left[link] / weight[link] <= level * (1 + 1e-15L);
             });
    };
    std::vector<OracleFlow*> frozen;
    std::copy_if(open.begin(), open.end(), std::back_inserter(frozen), stopped);
    std::erase_if(open, stopped);
    for (OracleFlow* flow : frozen) {
      flow->rate = level * flow->weight;
      for (const std::uint32_t link : flow->links) {
        left[link] -= flow->rate;
      }
    }
  }
}

void simulate(std::vector<OracleFlow>& flows, const std::vector<long double>& capacity) {
  long double now = 0;
  while (true) {
    std::vector<OracleFlow*> active;
    long double next = HUGE_VALL;
    for (OracleFlow& flow : flows) {
      if (flow.end < 0 && flow.start <= now) {
        active.push_back(&flow);
      } else if (flow.start > now) {
        next = std::min(next, flow.start);
      }
    }
    fill(active, capacity);
    for (const OracleFlow* flow : active) {
      next = std::min(next, now + flow->left / flow->rate);
    }
    if (next == HUGE_VALL) {
      return;
    }
    for (OracleFlow* flow : active) {
      flow->left -= flow->rate * (next - now);
      flow->end = flow->left <= 1e-12L * flow->rate * next ? next : -1;
    }
    now = next;
  }
}

TEST(BruteForce, EndsEveryFlowAtTheSameTime) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    testing::Draw draw(seed);
    Problem problem;
    std::vector<long double> capacity;
    for (std::uint32_t link = 0; link < 12; ++link) {
      problem.links.push_back({core::BytesPerSecond(1e9 * (1 + draw.below(100)))});
      capacity.push_back(static_cast<long double>(problem.links.back().capacity.si()));
    }
    problem.programs = {{{StepCode::arrive}, {StepCode::wait, core::Activity::other, 0, 0, 0}}};
    std::vector<OracleFlow> oracle;
    for (std::uint32_t f = 0; f < 60; ++f) {
      OracleFlow flow;
      const auto first = static_cast<std::uint32_t>(problem.uses.size());
      for (std::uint32_t link = 0; link < 12; ++link) {
        if (draw.chance(25) || (link == 11 && flow.links.empty())) {
          problem.uses.push_back({link, 1});
          flow.links.push_back(link);
        }
      }
      const core::Bytes size(1e6 + draw.below(100'000'000));
      const core::BytesPerSecond bound(draw.chance(20) ? 1e8 * (1 + draw.below(50)) : 0);
      const core::Tick latency = core::Tick{1'000'000} * draw.below(5000);
      const std::uint32_t weight = 1 + draw.below(4);
      problem.flows.push_back({f, size, latency, bound, weight, first,
                               static_cast<std::uint32_t>(flow.links.size()), 1});
      problem.groups.push_back({1, 0, f, 1, core::Activity::data, 0, 1});
      problem.actors.push_back({0, 0, 0, {f}, 1});
      flow.start = static_cast<long double>(latency) * 1e-12L;
      flow.left = static_cast<long double>(size.si());
      flow.bound = static_cast<long double>(bound.si());
      flow.weight = static_cast<long double>(weight);
      oracle.push_back(flow);
    }
    simulate(oracle, capacity);
    const RunResult result = run(problem, {false, false, false});
    for (std::size_t f = 0; f < oracle.size(); ++f) {
      ASSERT_NEAR(static_cast<double>(result.actor_end[f]),
                  static_cast<double>(oracle[f].end * 1e12L),
                  2 + 1e-9 * static_cast<double>(result.actor_end[f]))
          << "flow " << f;
    }
  }
}

}  // namespace
}  // namespace headway::network

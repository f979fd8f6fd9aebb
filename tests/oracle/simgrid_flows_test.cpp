// Random flows through SimGrid and through the flow engine.
//
// SimGrid's CM02 model shares a link in proportion to 1 / route latency (even with TCP-gamma and
// weight-S at zero), so routes of one test have equal latencies.
#ifndef HEADWAY_HAS_SIMGRID
#error \
    "SimGrid was not found at configuration: scripts/setup --tests installs it and configures anew"
#endif

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "sim/network/flow/problem.h"

#include "tests/network/patterns/patterns.h"
#include "tests/property/flow_random_problem.h"

namespace headway::network {
namespace {

namespace sg = simgrid::s4u;

constexpr std::uint32_t kHosts = 12;
constexpr double kLatency_s = 2e-6;  // of a whole route

struct StarTransfer {
  std::uint32_t from, to;
  double bytes, start_s;
};

std::vector<StarTransfer> random_transfers(std::uint64_t seed) {
  testing::Draw draw(seed);
  std::vector<StarTransfer> list;
  for (int i = 0; i < 150; ++i) {
    const std::uint32_t from = draw.below(kHosts);
    const std::uint32_t to = (from + 1 + draw.below(kHosts - 1)) % kHosts;
    list.push_back({from, to, 1e6 + draw.below(50'000'000), 1e-6 * draw.below(3000)});
  }
  return list;
}

/// A star of hosts with one up and one down link each, of different bandwidths, around a shared
/// core link.
struct Star {
  explicit Star(std::uint64_t seed) {
    testing::Draw draw(seed + 1000);
    for (std::uint32_t i = 0; i < kHosts; ++i) {
      up.push_back(1e9 * (5 + draw.below(45)));
      down.push_back(1e9 * (5 + draw.below(45)));
    }
    core = 1e9 * (50 + draw.below(200));
  }
  std::vector<double> up, down;
  double core;
};

std::vector<double> ends_by_engine(const Star& star, const std::vector<StarTransfer>& transfers) {
  Problem problem;
  for (const double rate : star.up) {
    problem.links.push_back({core::BytesPerSecond(rate)});
  }
  for (const double rate : star.down) {
    problem.links.push_back({core::BytesPerSecond(rate)});
  }
  problem.links.push_back({core::BytesPerSecond(star.core)});
  for (const StarTransfer& t : transfers) {
    const auto i = static_cast<std::uint32_t>(problem.flows.size());
    const auto first = static_cast<std::uint32_t>(problem.uses.size());
    problem.uses.insert(problem.uses.end(), {{t.from, 1}, {2 * kHosts, 1}, {kHosts + t.to, 1}});
    problem.flows.push_back(
        {i, core::Bytes(t.bytes), 2'000'000, core::BytesPerSecond(0), 1, first, 3, 1});
    problem.groups.push_back({1, 0, i, 1, core::Activity::data, 0, 1});
    problem.programs.push_back({{StepCode::compute, core::Activity::compute, 0, 0,
                                 static_cast<core::Tick>(t.start_s * 1e12 + 0.5)},
                                {StepCode::arrive, core::Activity::other, 0, 0, 0},
                                {StepCode::wait, core::Activity::other, 0, 0, 0}});
    problem.actors.push_back({i, 0, 0, {i}, 1});
  }
  std::vector<double> ends;
  for (const core::Tick end : run(problem, {}).actor_end) {
    ends.push_back(static_cast<double>(end) * 1e-12);
  }
  return ends;
}

/// One SimGrid engine a process: the ends of all sets, computed at once on disjoint stars.
std::vector<double> ends_by_simgrid(const std::vector<Star>& stars,
                                    const std::vector<std::vector<StarTransfer>>& sets) {
  int argc = 5;
  std::string arguments[] = {"oracle", "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
                             "--cfg=network/crosstraffic:0", "--log=root.thresh:error"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
  sg::Engine engine(&argc, argv);
  auto* zone = sg::create_full_zone("zone");
  std::vector<double> ends;
  for (const auto& set : sets) {
    ends.resize(ends.size() + set.size());
  }
  std::size_t first = 0;
  for (std::size_t s = 0; s < stars.size(); ++s) {
    const std::string name = fmt::format("s{}", s);
    std::vector<sg::Host*> hosts;
    std::vector<sg::Link*> up, down;
    for (std::uint32_t i = 0; i < kHosts; ++i) {
      hosts.push_back(zone->create_host(fmt::format("{}h{}", name, i), 1e9));
      up.push_back(zone->create_link(fmt::format("{}u{}", name, i), stars[s].up[i])
                       ->set_latency(kLatency_s));
      down.push_back(
          zone->create_link(fmt::format("{}d{}", name, i), stars[s].down[i])->set_latency(0));
    }
    auto* middle = zone->create_link(name + "m", stars[s].core)->set_latency(0);
    for (std::uint32_t a = 0; a < kHosts; ++a) {
      for (std::uint32_t b = 0; b < kHosts; ++b) {
        if (a != b) {
          zone->add_route(
              hosts[a]->get_netpoint(), hosts[b]->get_netpoint(), nullptr, nullptr,
              {sg::LinkInRoute(up[a]), sg::LinkInRoute(middle), sg::LinkInRoute(down[b])}, false);
        }
      }
    }
    for (std::size_t i = 0; i < sets[s].size(); ++i) {
      const StarTransfer t = sets[s][i];
      double* end = &ends[first + i];
      sg::Actor::create(fmt::format("{}a{}", name, i), hosts[t.from], [t, end, hosts] {
        sg::this_actor::sleep_until(t.start_s);
        sg::Comm::sendto_init(hosts[t.from], hosts[t.to])
            ->set_payload_size(static_cast<std::uint64_t>(t.bytes))
            ->wait();
        *end = sg::Engine::get_clock();
      });
    }
    first += sets[s].size();
  }
  zone->seal();
  engine.run();
  return ends;
}

TEST(SimGrid, EndsRandomFlowsAtTheSameTimes) {
  std::vector<Star> stars;
  std::vector<std::vector<StarTransfer>> sets;
  std::vector<double> ours;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    stars.emplace_back(seed);
    sets.push_back(random_transfers(seed));
    const std::vector<double> ends = ends_by_engine(stars.back(), sets.back());
    ours.insert(ours.end(), ends.begin(), ends.end());
  }
  const std::vector<double> theirs = ends_by_simgrid(stars, sets);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], 1e-6 * theirs[i] + 1e-9) << "flow " << i;
  }
}

}  // namespace
}  // namespace headway::network

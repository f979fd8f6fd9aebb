// What the busiest links carry, moment by moment.
#include "sim/training/explain/link_loads.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "sim/training/explain/timeline.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// Bytes under the steps [B].
double bytes_of(const LinkLoad& load, double end_s) {
  double bytes = 0;
  for (std::size_t i = 0; i < load.from.size(); ++i) {
    const double until =
        i + 1 < load.from.size() ? 1e-9 * static_cast<double>(load.from[i + 1]) : end_s;
    bytes += static_cast<double>(load.load[i]) * (until - 1e-9 * static_cast<double>(load.from[i]));
  }
  return bytes;
}

// Under the curve of a tier's busiest link are the bytes that the result tells of it.
TEST(LinkLoads, AddUpToTheUseOfTheBusiestLink) {
  const auto checked = check(eight_nodes());
  const StepResult step = simulate_step(checked, {.hash_draws = 0});
  const auto loads = draw_step(checked).loads;
  ASSERT_FALSE(loads.empty());
  bool nic = false;
  for (const LinkLoad& load : loads) {
    const auto use = std::find_if(step.links.begin(), step.links.end(),
                                  [&](const LinkUse& each) { return each.tier == load.tier; });
    ASSERT_NE(use, step.links.end());
    const double room = load.capacity.si() * step.time.si();
    EXPECT_NEAR(bytes_of(load, step.time.si()) / room, use->busiest, 1e-3 * use->busiest);
    EXPECT_GE(load.alike, 1);
    EXPECT_EQ(load.from.front(), 0);
    EXPECT_EQ(load.load.back(), 0) << "nothing moves when the step ends";
    for (const std::int64_t rate : load.load) {
      EXPECT_LE(static_cast<double>(rate), load.capacity.si() * (1 + 1e-9));
    }
    nic = nic || load.tier == "nic";
  }
  EXPECT_TRUE(nic);
}

/// One link of 100 B/s, whose two flows are of classes 0 and 1; the second takes twice its rate.
struct Sample {
  network::Fabric fabric;
  LoweredStep lowered;
  network::RunResult run;
};

Sample sample() {
  network::FabricInput input;
  input.fabric.topology = network::Topology::rail_only;
  input.fabric.tiers = 1;
  input.fabric.link_bandwidth = core::BytesPerSecond(1e9);
  input.nic.bandwidth = core::BytesPerSecond(1e9);
  input.nic.count = 1;
  input.scale_up.bandwidth = core::BytesPerSecond(1e9);
  input.scale_up.domain_gpus = 1;
  input.gpus_per_node = 1;
  input.nodes = 2;
  Sample out{network::Fabric(input), {}, {}};
  out.lowered.problem.links = {{core::BytesPerSecond(100)}};
  out.lowered.problem.flows.resize(2);
  out.lowered.problem.uses = {{0, 1}, {0, 2}};
  out.lowered.problem.flows[0].uses = 1;
  out.lowered.problem.flows[1].first_use = 1;
  out.lowered.problem.flows[1].uses = 1;
  out.lowered.fabric_links = {core::LinkId(0)};
  out.lowered.link_multiplicity = {4};
  out.run.class_of_flow = {0, 1};
  out.run.link_bytes = {1};
  out.run.end = 1'000'000'000;  // 1 ms
  return out;
}

core::BytesPerSecond rate(double bytes) { return core::BytesPerSecond(bytes); }

TEST(LinkLoads, FlowsAddUpByWhatTheyTake) {
  Sample s = sample();
  s.run.rates = {{1000, 0, rate(30)},
                 {2000, 1, rate(20)},
                 {3000, 0, rate(0)},
                 {3000, 1, rate(50)},
                 {4000, 1, rate(0)}};
  const auto loads = link_loads(s.fabric, s.lowered, s.run);
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].from, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(loads[0].load, (std::vector<std::int64_t>{0, 30, 70, 100, 0}));
  EXPECT_EQ(loads[0].alike, 4);
  EXPECT_EQ(loads[0].mean_of, 0);
  EXPECT_EQ(loads[0].capacity, rate(100));
}

// Two flows of one class: the class's rate is that of each.
TEST(LinkLoads, AllFlowsOfAClassCount) {
  Sample s = sample();
  s.run.class_of_flow = {0, 0};
  s.run.rates = {{0, 0, rate(10)}, {5000, 0, rate(0)}};
  const auto loads = link_loads(s.fabric, s.lowered, s.run);
  EXPECT_EQ(loads[0].from, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(loads[0].load, (std::vector<std::int64_t>{30, 0}));
}

// 2,000 pulses of 100 B/s for half of the time: means of 50 B/s, and no byte is lost.
TEST(LinkLoads, OfManyChangesAreMeansOfWindows) {
  Sample s = sample();
  for (int i = 0; i < 2000; ++i) {
    s.run.rates.push_back({i * 500'000, 0, rate(100)});
    s.run.rates.push_back({i * 500'000 + 250'000, 0, rate(0)});
  }
  const auto loads = link_loads(s.fabric, s.lowered, s.run);
  EXPECT_EQ(loads[0].from.size(), kMostLoads);
  EXPECT_EQ(loads[0].mean_of, 1000) << "ns";
  EXPECT_EQ(loads[0].load, std::vector<std::int64_t>(kMostLoads, 50));
}

TEST(LinkLoads, ATierThatCarriesNothingIsLeftOut) {
  Sample s = sample();
  s.run.link_bytes = {0};
  EXPECT_TRUE(link_loads(s.fabric, s.lowered, s.run).empty());
}

}  // namespace
}  // namespace headway::training

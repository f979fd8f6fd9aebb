// A step whose traffic is timed by packets: as long as the fluid step where nothing meets, longer
// by the closed form where it does, the same on any threads, and refused by name where it cannot
// be.
#include "sim/training/packets/time_by_packets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "sim/core/error.h"
#include "sim/network/stepped/stepped.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using namespace core::literals;

/// Data-parallel rings over all nodes, tensor groups inside them.
Scenario rings() {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.model.layers = 4;
  s.model.hidden = 1024;
  s.model.heads = 8;
  s.model.ffn = 4096;
  s.model.vocabulary = 16384;
  return s;
}

StepResult by_packets(const Scenario& s,
                      std::optional<network::Transport> transport = {},
                      int threads = 1,
                      double most_hops = 1e7) {
  StepOptions options;
  options.packets = PacketsOfStep{transport, threads, most_hops};
  return simulate_step(check(s), options);
}

const PacketCollective& of_kind(const StepResult& step, core::CollectiveKind kind) {
  for (const auto& c : step.packets->collectives) {
    if (c.kind == kind) {
      return c;
    }
  }
  throw std::runtime_error("no such collective");
}

// Eight rings of one GPU a node, each on its own rail. A message of a ring takes a head's time
// (64 B at the cable's rate) more at each of its two or four cables' switches:
//     packets - fluid <= rounds x 3 h
// and a cable's time of a KiB is a whole number of ticks, half a tick of 22,755 off at most.
TEST(TimeByPackets, RingsThatMeetNobodyLeaveTheStepAsItIs) {
  const StepResult fluid = simulate_step(check(rings()));
  const StepResult step = by_packets(rings());
  ASSERT_TRUE(step.packets);
  EXPECT_FALSE(fluid.packets);
  EXPECT_EQ(step.packets->fluid_step.si(), fluid.time.si());
  ASSERT_FALSE(step.packets->collectives.empty());
  for (const auto& c : step.packets->collectives) {
    const double rounds = (c.kind == core::CollectiveKind::all_reduce ? 2 : 1) * (c.ranks - 1);
    const double head = 64 / (0.9 * 400e9 / 8);
    if (c.simulated == c.bytes) {
      EXPECT_LE(c.packets.si() - c.fluid.si(), rounds * 3 * head + c.fluid.si() * 2.3e-5) << c.name;
    }
    EXPECT_NEAR(c.times(), 1, 0.01) << c.name;
  }
  EXPECT_NEAR(step.time / fluid.time, 1, 1e-3);
  EXPECT_EQ(of_kind(step, step.packets->collectives.front().kind).groups, 8);
  // What links carry is the same, over a step that is a little longer.
  ASSERT_EQ(step.links.size(), fluid.links.size());
  for (std::size_t l = 0; l < fluid.links.size(); ++l) {
    EXPECT_NEAR(step.links[l].mean * step.time.si(), fluid.links[l].mean * fluid.time.si(),
                1e-9 * fluid.time.si());
  }
}

// Four rings a leaf on one uplink, and rate control that notices late: flows that share it are cut
// by half at every notification and do not fill it again, so the step waits longer than its share.
TEST(TimeByPackets, TrafficThatMeetsMakesTheStepLonger) {
  Scenario s = rings();
  s.parallelism.tensor = 1;
  s.training.global_batch = 64;
  s.cluster.fabric.topology = network::Topology::fat_tree;
  s.cluster.fabric.ports_per_leaf = 16;
  s.cluster.fabric.leaf_oversubscription = 8;
  s.cluster.fabric.routing = network::Routing::ecmp;
  const StepResult controlled = by_packets(s, network::Transport::dcqcn);
  double most = 0;
  for (const auto& c : controlled.packets->collectives) {
    most = std::max(most, c.times());
  }
  EXPECT_GT(controlled.packets->counts.marks, 0U);
  EXPECT_GT(most, 1.05);
  EXPECT_GT(controlled.time, controlled.packets->fluid_step);
  // Less than all of it: what computes, launches and waits inside nodes does not grow.
  EXPECT_LT(controlled.time / controlled.packets->fluid_step, most);
}

// Of a long call a part and half of it are run; a fluid ring is a straight line, so its whole time
// comes out exactly.
TEST(TimeByPackets, APartOfALongCallGoesOnInAStraightLine) {
  Scenario s = rings();
  s.model = eight_nodes().model;
  s.parallelism.tensor = 1;
  s.training.global_batch = 64;
  const StepResult step = by_packets(s);
  const network::Fabric fabric = build_fabric(s.cluster);
  bool part = false;
  for (const auto& c : step.packets->collectives) {
    if (c.simulated < c.bytes && c.groups == 1) {
      part = true;
      std::vector<core::GpuId> members;
      for (std::uint32_t g = 0; g < static_cast<std::uint32_t>(c.ranks); ++g) {
        members.emplace_back(g);
      }
      const network::CollectiveCall call{c.kind, c.bytes, network::Algorithm::ring, {}};
      EXPECT_NEAR(c.fluid / network::stepped_time(fabric, call, members).total, 1, 0.02) << c.name;
    }
  }
  EXPECT_TRUE(part);
}

// 2,048 GPUs: eight rings of 256 of them, each on its own rail, of whose rounds a part is run.
TEST(TimeByPackets, LargeStepsAreSampledMoreThinly) {
  Scenario s = rings();
  s.cluster.nodes = 256;
  s.training.global_batch = 256;
  const StepResult step = by_packets(s);
  const PacketCollective& ring = step.packets->collectives.front();
  EXPECT_EQ(ring.ranks, 256);
  EXPECT_EQ(ring.groups, 8);
  EXPECT_LT(ring.simulated.si(), ring.bytes.si());
  for (const auto& c : step.packets->collectives) {
    EXPECT_NEAR(c.times(), 1, 0.01) << c.name;
  }
  EXPECT_NEAR(step.time / step.packets->fluid_step, 1, 1e-3);
}

TEST(TimeByPackets, IsTheSameOnAnyThreadsAndFolded) {
  const StepResult one = by_packets(rings());
  for (const int threads : {2, 8}) {
    const StepResult many = by_packets(rings(), {}, threads);
    EXPECT_EQ(many.packets->event_digest, one.packets->event_digest);
    EXPECT_EQ(many.result_digest, one.result_digest);
    EXPECT_EQ(many.time.si(), one.time.si());
  }
  StepOptions unfolded;
  unfolded.fold = false;
  unfolded.packets = PacketsOfStep{};
  EXPECT_EQ(simulate_step(check(rings()), unfolded).result_digest, one.result_digest);
}

std::string packet_refusal(const Scenario& s) {
  try {
    (void)by_packets(s);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "it ran";
}

TEST(TimeByPackets, WhatHasNoPacketsIsRefusedByName) {
  Scenario large = rings();
  large.cluster.nodes = 2049;
  large.training.global_batch = 2049;
  EXPECT_NE(
      packet_refusal(large).find("packets of a step are simulated for at most 16,384 GPUs, and "
                                 "this one has 16,392"),
      std::string::npos)
      << packet_refusal(large);
  Scenario apart = rings();
  apart.cluster.fabric.ports_per_leaf = 4;
  apart.cluster.sites = network::SitesSpec{};
  apart.cluster.sites->bandwidth = 100_Gbps;
  apart.cluster.sites->latency = core::Seconds(0.005);
  EXPECT_NE(packet_refusal(apart).find("packets between sites are not modelled"), std::string::npos)
      << packet_refusal(apart);
  Scenario shared = rings();
  shared.cluster.occupancy = OccupancySpec{};
  shared.cluster.occupancy->nodes = 16;
  EXPECT_NE(packet_refusal(shared).find("packets of other jobs"), std::string::npos)
      << packet_refusal(shared);
  Scenario reducing = rings();
  reducing.cluster.fabric.in_switch_reduction = true;
  reducing.parallelism.sharding = workload::Sharding::zero0;
  EXPECT_NE(
      packet_refusal(reducing).find("packets that are added up on their way are not modelled"),
      std::string::npos)
      << packet_refusal(reducing);
}

}  // namespace
}  // namespace headway::training

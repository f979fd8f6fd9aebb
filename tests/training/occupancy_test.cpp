// Steps on a fabric that others are on, too.
#include "sim/training/occupancy/occupancy.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/network/fabric/route.h"
#include "sim/training/occupancy/background.h"
#include "sim/training/step/step.h"

#include "tests/training/answers.h"
#include "tests/training/fixture.h"
#include "tests/training/same_step.h"

namespace headway::training {
namespace {

using namespace core::literals;
using core::Tick;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<std::string>;

/// The eight nodes of the fixture on a fabric of sixteen, four nodes behind a leaf, whose uplinks
/// carry a quarter of that.
Scenario among_sixteen() {
  Scenario s = eight_nodes();
  s.cluster.fabric.ports_per_leaf = 4;
  s.cluster.fabric.leaf_oversubscription = 4;
  s.cluster.occupancy = OccupancySpec{};
  s.cluster.occupancy->nodes = 16;
  return s;
}

OtherJobSpec other(const Words& nodes, core::BytesPerSecond rate = 100_GBps) {
  return {"other", nodes, TrafficPattern::ring, rate};
}

TEST(Occupancy, AFabricOfTheJobsSizeWithNobodyElseIsTheUsualOne) {
  Scenario own = among_sixteen();
  own.cluster.occupancy.reset();
  Scenario alone = among_sixteen();
  alone.cluster.occupancy->nodes = 8;
  for (const Placement placement : {Placement::packed, Placement::random}) {
    own.cluster.placement = alone.cluster.placement = placement;
    const StepResult usual = step_of(own), here = step_of(alone);
    EXPECT_EQ(usual.time, here.time);
    EXPECT_EQ(usual.result_digest, here.result_digest);
  }
}

TEST(Occupancy, ALargerEmptyFabricIsNoSlower) {
  Scenario own = among_sixteen();
  own.cluster.occupancy.reset();
  EXPECT_EQ(step_of(own).time, step_of(among_sixteen()).time);
}

TEST(Occupancy, OthersWhoShareNoLinkChangeNothing) {
  Scenario s = among_sixteen();
  const auto before = step_of(s);
  s.cluster.occupancy->jobs = {other({"8-15"})};
  const auto beside = step_of(s);
  EXPECT_EQ(before.time, beside.time);
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    EXPECT_NEAR(before.breakdown.values[a].si(), beside.breakdown.values[a].si(), 1e-9);
  }
  ASSERT_EQ(before.links.size(), beside.links.size());
  for (std::size_t i = 0; i < before.links.size(); ++i) {
    EXPECT_NEAR(before.links[i].mean, beside.links[i].mean, 1e-6) << before.links[i].tier;
  }
}

// Half of each leaf is another job's, whose ring crosses between the leaves as the job's own does.
TEST(Occupancy, OthersBehindTheSameLeavesCostTime) {
  Scenario s = among_sixteen();
  s.cluster.occupancy->take = {"0-1", "4-5", "8-9", "12-13"};
  const auto silent = step_of(s);
  s.cluster.occupancy->jobs = {other({"2", "6", "3", "7", "10", "14", "11", "15"}, 400_GBps)};
  const auto beside = step_of(s);
  EXPECT_GT(beside.time, silent.time * 1.001);
  expect_the_same_step(s);
  double sum = 0, path = 0;
  for (std::size_t a = 0; a < core::kActivities; ++a) {
    sum += beside.breakdown.values[a].si();
    path += beside.critical_path.values[a].si();
  }
  EXPECT_NEAR(sum, beside.time.si(), 1e-9);
  EXPECT_NEAR(path, beside.time.si(), 1e-9);
  s.cluster.occupancy->jobs.front().rate = 50_GBps;
  const auto gentle = step_of(s);
  EXPECT_LE(gentle.time, beside.time);
  EXPECT_GE(gentle.time, silent.time);
}

/// One transfer of so many bytes over one link.
network::Problem one_transfer(core::Bytes bytes, core::BytesPerSecond link) {
  network::Problem p;
  p.coefficient_unit = network::kCoefficientUnit;
  p.links = {{link}};
  p.uses = {{0, network::kCoefficientUnit}};
  network::Flow flow;
  flow.size = bytes;
  flow.uses = 1;
  p.flows = {flow};
  network::TransferGroup group;
  group.flows = 1;
  p.groups = {group};
  p.programs = {{{network::StepCode::arrive, core::Activity::data, 0, 0, 0},
                 {network::StepCode::wait, core::Activity::data, 0, 0, 0}}};
  p.actors = {{.groups = {0}}};
  return p;
}

// S bytes over a link of C beside another's flow of bound R and coefficient k (k cards send over
// it). Rates are fair by card, so the transfer has max(C / (1 + k), C - k R).
TEST(Occupancy, ATransferHasWhatTheOthersLeaveOrItsShare) {
  const core::Bytes size = 10_GB;
  const core::BytesPerSecond link = 100_GBps;
  for (const double cards : {1.0, 3.0}) {
    for (const double rate : {5e9, 20e9, 80e9}) {
      const network::Problem problem = one_transfer(size, link);
      Background others;
      others.flows = {{"other",
                       core::BytesPerSecond(rate),
                       {{0, static_cast<std::uint32_t>(cards) * network::kCoefficientUnit}}}};
      const auto run = run_beside(problem, others, {.trace = true});
      const double share = std::max(link.si() / (1 + cards), link.si() - cards * rate);
      EXPECT_NEAR(core::Clock::step().to_seconds(run.end).si(), size.si() / share, 1e-9);
      EXPECT_EQ(run.actor_end.size(), 1U);
      EXPECT_NEAR(run.link_bytes.at(0), size.si(), 1);
      EXPECT_TRUE(std::all_of(run.trace.begin(), run.trace.end(),
                              [](const auto& entry) { return entry.actor == 0; }));
    }
  }
}

// What a ring and an all-to-all of n nodes put on a leaf's uplinks, m of them behind it:
// one card's rate of each rail, and m (n - m) / (n - 1) of it.
TEST(Occupancy, PatternsLoadUplinksByTheirAlgebra) {
  Scenario s = among_sixteen();
  s.cluster.fabric.topology = network::Topology::rail_optimized;
  const network::Fabric fabric([&] {
    network::FabricInput input;
    input.fabric = s.cluster.fabric;
    input.scale_up = s.cluster.node.scale_up;
    input.nic = s.cluster.node.nic;
    input.nodes = 16;
    return input;
  }());
  const core::LinkId uplink = fabric.leaf_link(fabric.leaf_of(0, 0, 0), 0, true);
  const auto on_uplink = [&](TrafficPattern pattern) {
    s.cluster.occupancy->jobs = {{"other", {"0-2", "4-6"}, pattern, 80_GBps}};
    const Background others = background_of(s.cluster, fabric, {uplink});
    EXPECT_EQ(others.flows.front().bound, 10_GBps);  // eight cards a node
    double units = 0;
    for (const auto& use : others.flows.front().uses) {
      units += use.link == 0 ? use.coefficient : 0;
    }
    return units / network::kCoefficientUnit;
  };
  EXPECT_NEAR(on_uplink(TrafficPattern::ring), 1, 1e-3);
  EXPECT_NEAR(on_uplink(TrafficPattern::all_to_all), 3 * 3 / 5.0, 1e-3);
}

TEST(Occupancy, ListsOfNodesAreNumbersAndRanges) {
  EXPECT_THAT(node_numbers({"7", "0-2", "9"}), ElementsAre(7U, 0U, 1U, 2U, 9U));
  EXPECT_THAT(node_numbers({"4294967294-4294967295"}), ElementsAre(4294967294U, 4294967295U));
  const std::vector<std::uint32_t> nodes{0, 1, 2, 5, 7, 8};
  EXPECT_THAT(node_ranges(nodes), ElementsAre("0-2", "5", "7-8"));
  EXPECT_EQ(node_numbers(node_ranges(nodes)), nodes);
  for (const char* bad : {"", "-", "3-", "-3", "5-3", "a", "1,2", "1-2-3", "99999999999"}) {
    EXPECT_THROW(node_numbers({bad}), core::Error) << bad;
  }
}

TEST(Occupancy, TheFirstFreeNodesAreTaken) {
  Scenario s = among_sixteen();
  s.cluster.occupancy->down = {"1", "3"};
  s.cluster.occupancy->jobs = {other({"5-6"})};
  EXPECT_EQ(node_ranges(taken_nodes(s.cluster)), (Words{"0", "2", "4", "7-11"}));
  s.cluster.occupancy->take = {"8-15"};
  EXPECT_EQ(node_ranges(taken_nodes(s.cluster)), Words{"8-15"});
}

TEST(Occupancy, WhatCannotBeIsRefusedByName) {
  const auto with = [](const auto& change) {
    Scenario s = among_sixteen();
    change(s, *s.cluster.occupancy);
    return complaint(s);
  };
  using S = Scenario;
  using O = OccupancySpec;
  EXPECT_EQ(with([](S&, O&) {}), "");
  EXPECT_THAT(with([](S&, O& o) { o.nodes = 7; }),
              HasSubstr("this job has 8 nodes, and 7 of the fabric's 7 are free"));
  EXPECT_THAT(with([](S&, O& o) { o.down = {"3-16"}; }),
              HasSubstr("node 16: the fabric has nodes 0 to 15"));
  EXPECT_THAT(with([](S&, O& o) { o.down = {"x"}; }), HasSubstr("'x' names no nodes"));
  EXPECT_THAT(with([](S&, O& o) {
                o.down = {"3"};
                o.jobs = {other({"2-3"})};
              }),
              HasSubstr("node 3 is down, so it cannot be of job 'other'"));
  EXPECT_THAT(with([](S&, O& o) { o.jobs = {other({"2"})}; }),
              HasSubstr("job 'other' has 1 nodes"));
  EXPECT_THAT(with([](S&, O& o) { o.jobs = {other({"2-3"}, 500_GBps)}; }),
              HasSubstr("sends 500 GB/s from each node, whose 8 cards carry 400 GB/s"));
  EXPECT_THAT(with([](S&, O& o) { o.take = {"0-6"}; }),
              HasSubstr("7 nodes are named, and the job has 8"));
  EXPECT_THAT(with([](S&, O& o) {
                o.take = {"0-7", "3"};
              }),
              HasSubstr("node 3 is of this job, so it cannot be of this job; name it once"));
  EXPECT_THAT(with([](S& s, O&) {
                s.run.until = UntilSpec{};
                s.run.until->steps = 10;
              }),
              HasSubstr("weeks on a fabric whose other jobs come and go are not modelled"));
  EXPECT_THAT(with([](S& s, O&) { s.cluster.node.scale_up.domain_gpus = 16; }),
              HasSubstr("NVLink domains of 16 GPUs over nodes of 8"));
}

}  // namespace
}  // namespace headway::training

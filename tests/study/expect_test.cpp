// Acceptance thresholds and verdicts on measured figures.
#include "sim/study/expect/expect.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/study/collective.h"
#include "sim/study/expect/against.h"

namespace headway::study {
namespace {

using testing::HasSubstr;

config::LoadedScenario four_nodes() {
  return config::load_scenario_text(
      "headway: 1\n"
      "name: Four\n"
      "cluster:\n"
      "  nodes: 4\n"
      "  node: {use: dgx-h100}\n"
      "  fabric: {use: rail-optimized-ndr}\n"
      "  storage: {use: lustre}\n"
      "model: {use: llama-3.1-8b}\n"
      "training: {sequence_length: 4096, global_batch: 32}\n"
      "parallelism: {tensor: 2, pipeline: 2, data: auto}\n",
      "four.yaml", {{HEADWAY_SOURCE_DIR "/configs"}, {}});
}

const Threshold& find(const ExpectReport& report, Measure measure, Scope scope) {
  for (const Threshold& threshold : report.thresholds) {
    if (threshold.measure == measure && threshold.scope == scope) {
      return threshold;
    }
  }
  throw core::Error("no such threshold");
}

TEST(Expect, TheLimitIsTheEndOfTheIntervalThatASoundMachineKeeps) {
  const auto report = expect(four_nodes(), {});
  const Threshold& bus = find(report, Measure::bus_bandwidth, Scope::node);
  EXPECT_EQ(bus.collective, core::CollectiveKind::all_reduce);
  // 90 %: exp(1.645 x 0.075) = 1.131 to both sides.
  EXPECT_NEAR(bus.expected / bus.limit(), std::exp(1.6449 * 0.075), 1e-4);
  EXPECT_TRUE(bus.accepts(bus.limit()));
  EXPECT_FALSE(bus.accepts(bus.limit() * 0.999));
  const Threshold& step = find(report, Measure::step_time, Scope::job);
  EXPECT_EQ(step.limit(), step.interval[1]);
  EXPECT_TRUE(step.accepts(step.limit()));
  EXPECT_FALSE(step.accepts(step.limit() * 1.001));
  // tokens = global batch x sequence = rate x GPUs x time
  const Threshold& rate = find(report, Measure::tokens_per_s_per_gpu, Scope::job);
  EXPECT_NEAR(rate.limit() * step.limit() * 32, 32 * 4096, 1e-3);
}

TEST(Expect, SavesAndRestartsAreThoseOfTheStorage) {
  const auto report = expect(four_nodes(), {});
  const double stall = find(report, Measure::save_stall, Scope::job).expected;
  EXPECT_GT(stall, 0);
  EXPECT_GT(find(report, Measure::save_time, Scope::job).expected, stall);
  EXPECT_GT(find(report, Measure::restart_time, Scope::job).expected, 0);
}

TEST(Expect, AGroupOfNodesIsHeldToItsOwnPrediction) {
  const auto report = expect(four_nodes(), {.nodes = 2});
  const Threshold& pair = find(report, Measure::bus_bandwidth, Scope::group);
  EXPECT_EQ(pair.gpus, 16);
  const Machine machine{"Four", four_nodes().scenario.cluster, {}, {}};
  CollectiveRequest request;
  request.gpus = 16;
  request.sizes = {std::uint64_t{64} << 20};
  EXPECT_EQ(pair.expected, predict_collective(machine, request).rows.front().bus_bandwidth.si());
  EXPECT_THROW(expect(four_nodes(), {.nodes = 5}), core::Error);
}

TEST(Expect, OneGpuANodeUsesOneCardANode) {
  // 1 GiB over 4 ranks, one a node: each of 4 nodes sends and receives 2 x 3/4 GiB through one card
  // of 400 Gbps (50 GB/s), so the bus bandwidth is below 50 GB/s; whole nodes use eight cards.
  const Machine machine{"Four", four_nodes().scenario.cluster, {}, {}};
  const auto one = bus_bandwidth_threshold(machine, core::CollectiveKind::all_reduce, 4, 1,
                                           std::uint64_t{1} << 30, Scope::job);
  EXPECT_EQ(one.nodes, 4);
  EXPECT_LT(one.expected, 50e9);
  EXPECT_GT(one.expected, 30e9);
  EXPECT_THROW(bus_bandwidth_threshold(machine, core::CollectiveKind::all_reduce, 8, 1,
                                       std::uint64_t{1} << 30, Scope::job),
               core::Error);
}

config::LoadedScenario gb200_nodes(const std::string& more) {
  return config::load_scenario_text(
      "headway: 1\n"
      "name: Racks\n"
      "cluster:\n"
      "  nodes: 72\n"
      "  node: {use: nvl72-gb200}\n"
      "  fabric: {use: rail-optimized-ndr}\n"
      "  storage: {use: lustre}\n" +
          more +
          "model: {use: llama-3.1-8b}\n"
          "training: {sequence_length: 4096, global_batch: 288}\n"
          "parallelism: {tensor: 4, pipeline: 1, data: auto}\n",
      "racks.yaml", {{HEADWAY_SOURCE_DIR "/configs"}, {}});
}

// A rack of 72 GPUs in nodes of 4 is tested as one: its interval is that of a domain.
TEST(Expect, AnNvlinkDomainOfSeveralNodesIsAGroup) {
  const auto report = expect(gb200_nodes(""), {});
  const Threshold& rack = find(report, Measure::bus_bandwidth, Scope::domain);
  EXPECT_EQ(rack.gpus, 72);
  EXPECT_EQ(rack.nodes, 18);
  EXPECT_NEAR(rack.expected / rack.limit(), std::exp(1.6449 * 0.075), 1e-4);
  for (const Threshold& threshold : expect(four_nodes(), {}).thresholds) {
    EXPECT_NE(threshold.scope, Scope::domain);  // a node is one
  }
}

// Two ranks on two nodes share no NVLink domain, few as they are; those of a rack do.
TEST(Expect, TheErrorIsThatOfADomainWhereItHasAllRanks) {
  struct Call {
    int gpus, per_node;
    bool inside;
  };
  const auto check = [](const config::LoadedScenario& loaded, const std::vector<Call>& calls) {
    const auto& cluster = loaded.scenario.cluster;
    const Machine machine{"m", cluster, {}, {}};
    for (const Call& call : calls) {
      const double error = bus_bandwidth_error(cluster.node, call.gpus, call.per_node);
      EXPECT_EQ(error, call.inside ? 0.075 : 0.20) << call.gpus << " GPUs, " << call.per_node;
      const auto threshold =
          bus_bandwidth_threshold(machine, core::CollectiveKind::all_reduce, call.gpus,
                                  call.per_node, std::uint64_t{1} << 30, Scope::group);
      EXPECT_NEAR(threshold.expected / threshold.limit(), std::exp(1.6449 * error), 1e-4);
    }
  };
  check(four_nodes(), {{8, 0, true},
                       {8, 8, true},
                       {2, 2, true},
                       {4, 8, true},
                       {2, 1, false},
                       {8, 2, false},
                       {8, 4, false},
                       {16, 0, false}});
  check(
      gb200_nodes(""),
      {{72, 0, true}, {18, 1, true}, {2, 1, true}, {19, 1, false}, {76, 0, false}, {38, 2, false}});
}

// Between sites all-to-all has no time: a site stands for it, and it is said.
TEST(Expect, OverSitesWhatIsNotModelledIsLeftOutAndSaidSo) {
  const std::string sites =
      "  sites: {count: 2, bandwidth: 100 Gbps, latency: 10 ms, connections: 64}\n";
  const auto report = expect(gb200_nodes(sites), {});
  int of_job = 0;
  for (const Threshold& threshold : report.thresholds) {
    const bool job = threshold.scope == Scope::job && threshold.collective;
    of_job += job ? 1 : 0;
    EXPECT_FALSE(job && threshold.collective == core::CollectiveKind::all_to_all);
  }
  EXPECT_GT(of_job, 0);
  EXPECT_EQ(find(report, Measure::bus_bandwidth, Scope::site).gpus, 144);
  EXPECT_THAT(report.assumptions,
              testing::Contains(HasSubstr("all_to_all of 72 nodes on 2 sites has no threshold")));
  try {
    expect(gb200_nodes(sites), {.nodes = 50});
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--nodes 50: a site of the scenario has 36"));
  }
}

// 22 bytes a parameter: weights, Adam and the outer state of sites that train apart. A scenario
// without a run takes them, as nobody said otherwise.
TEST(Expect, SavesHoldWhatTheTrainingHas) {
  auto loaded = gb200_nodes("");
  const double usual = find(expect(loaded, {}), Measure::save_time, Scope::job).expected;
  loaded.scenario.training.local_steps.emplace();
  loaded.scenario.cluster.sites.emplace();
  loaded.scenario.cluster.sites->bandwidth = core::BytesPerSecond(12.5e9);
  loaded.scenario.cluster.sites->latency = core::Seconds(0.01);
  const auto apart = expect(loaded, {});
  EXPECT_GT(find(apart, Measure::save_time, Scope::job).expected, 1.2 * usual);
  EXPECT_THAT(apart.assumptions, testing::Contains(HasSubstr("of 22 bytes a parameter")));
}

std::string pair_of(const std::string& nodes, int gigabytes) {
  return "bus_bandwidth," + std::to_string(gigabytes) + " GB/s," + nodes + ",all_reduce,16,8,1G\n";
}

TEST(Expect, TheNodeThatAllFailingPairsShareHasFailed) {
  const auto loaded = four_nodes();
  auto report = expect(loaded, {});
  const std::string heading = "measure,value,nodes,collective,gpus,gpus_per_node,size\n";
  // a-b and a-c fail, b-c passes: nobody but a can be at fault in both.
  hold_against(
      loaded,
      {{"pairs.csv", heading + pair_of("a b", 200) + pair_of("a c", 210) + pair_of("b c", 480)}},
      report);
  ASSERT_EQ(report.nodes.size(), 3U);
  EXPECT_EQ(report.nodes[0].state, NodeState::failed);
  EXPECT_EQ(report.nodes[1].state, NodeState::suspect);
  EXPECT_EQ(report.nodes[2].state, NodeState::suspect);
  EXPECT_EQ(report.status, Status::assert_failed);
  EXPECT_THAT(report.reasons.front(),
              HasSubstr("pairs.csv:2: all_reduce bus_bandwidth of 16 GPUs at 1 GiB"));
  EXPECT_THAT(expect_sentence(report), HasSubstr("2 of 3 measured figures"));
  EXPECT_THAT(expect_sentence(report), HasSubstr("nodes that failed: a."));
}

TEST(Expect, OnePairThatFailsAccusesNeitherAlone) {
  const auto loaded = four_nodes();
  auto report = expect(loaded, {});
  hold_against(
      loaded,
      {{"p.csv", "measure,value,nodes,collective,gpus,gpus_per_node,size\n" + pair_of("a b", 200)}},
      report);
  EXPECT_EQ(report.nodes[0].state, NodeState::suspect);
  EXPECT_EQ(report.nodes[1].state, NodeState::suspect);
}

TEST(Expect, ATableSaysWhatItHoldsAndWhatCannotBeRead) {
  const auto loaded = four_nodes();
  const auto complaint = [&](const std::string& text) -> std::string {
    auto report = expect(loaded, {});
    try {
      hold_against(loaded, {{"m.csv", text}}, report);
    } catch (const core::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("measure,value,shape\ngemm_rate,600 TFLOP/s,large\nstep_time,900 ms,\n"), "");
  EXPECT_THAT(complaint("measure,speed\nstep_time,1\n"), HasSubstr("no column 'speed'"));
  EXPECT_THAT(complaint("measure,value\nstep,1 s\n"), HasSubstr("m.csv:2: there is no measure"));
  EXPECT_THAT(complaint("measure,value\nstep_time,1\n"), HasSubstr("has no unit"));
  EXPECT_THAT(complaint("measure,value\ntokens_per_s_per_gpu,9000 /s\n"), HasSubstr("have none"));
  EXPECT_THAT(
      complaint("measure,value,collective,gpus,size\nbus_bandwidth,1 GB/s,all_reduce,8,1M\n"),
      HasSubstr("64M or more"));
  EXPECT_THAT(complaint("measure,value,shape\ngemm_rate,600 TFLOP/s,tiny\n"),
              HasSubstr("its shapes are 'large: 8192 x 8192 x 8192 bf16'"));
}

TEST(Expect, ATrainingLogIsHeldToTheStep) {
  const auto loaded = four_nodes();
  auto report = expect(loaded, {});
  const double limit = find(report, Measure::step_time, Scope::job).limit();
  const auto log = [](double seconds) {
    return "completed step: 1, seconds: " + std::to_string(seconds) +
           ",\ncompleted step: 2, seconds: " + std::to_string(seconds) + ",\n";
  };
  hold_against(loaded, {{"fast.log", log(limit * 0.9)}, {"slow.log", log(limit * 1.1)}}, report);
  ASSERT_EQ(report.verdicts.size(), 2U);
  EXPECT_TRUE(report.verdicts[0].passed());
  EXPECT_FALSE(report.verdicts[1].passed());
}

TEST(Expect, SmallMessagesOfALogAcceptNothing) {
  const auto loaded = four_nodes();
  auto report = expect(loaded, {});
  const std::string small =
      "# Collective test starting: all_reduce_perf\n"
      "# Rank 0 Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n"
      "# Rank 1 Group 0 Pid 2 on n0 device 1 [0x00] NVIDIA H100\n"
      "1048576 262144 float sum -1 17.99 58.29 58.29 0 17.8 58.9 58.9 0\n";
  EXPECT_THROW(hold_against(loaded, {{"small.log", small}}, report), core::Error);
}

// Fast and wrong is no pass: a node whose test moved wrong data has failed, said once a file, be
// the wrong size a threshold or not.
TEST(Expect, WrongDataFailTheNodeWhateverItsSpeed) {
  const auto loaded = four_nodes();
  const auto log = [](const char* wrong_small, const char* last) {
    std::string text = "# Collective test starting: all_reduce_perf\n";
    for (int r = 0; r < 8; ++r) {
      text += "# Rank " + std::to_string(r) + " Group 0 Pid 1 on n0 device 0 [0x00] NVIDIA H100\n";
    }
    return text + "1048576 262144 float sum -1 10.00 104.86 183.50 " + wrong_small +
           "\n1073741824 268435456 float sum -1 3757.99 285.72 500.00 0\n"
           "2147483648 536870912 float sum -1 7515.98 285.72 500.00 0\n# Out of bounds values : " +
           last + "\n";
  };
  auto sound = expect(loaded, {});
  hold_against(loaded, {{"a.log", log("0", "0 OK")}}, sound);
  EXPECT_EQ(sound.status, Status::ok);
  for (const auto& text : {log("18", "18 FAILED"), log("1e-01", "18 FAILED")}) {
    auto report = expect(loaded, {});
    hold_against(loaded, {{"a.log", text}}, report);
    EXPECT_EQ(report.status, Status::assert_failed);
    ASSERT_EQ(report.reasons.size(), 1U);
    EXPECT_THAT(report.reasons.front(), HasSubstr("a.log: WRONG DATA: "));
    EXPECT_THAT(report.reasons.front(),
                HasSubstr("18 out of bounds of all_reduce over 8 GPUs of n0"));
    EXPECT_EQ(report.nodes.front().state, NodeState::failed);
    EXPECT_THAT(expect_sentence(report),
                HasSubstr("2 of 2 measured figures are beyond their limits or of wrong data; nodes "
                          "that failed: n0."));
  }
}

// 144 GPUs: in two domains of 72 each GPU sends 72 of its 143 parts over its own card of 50 GB/s,
// so the bus bandwidth of all-to-all is below 50 x 143 / 72 = 99 GB/s; in one domain none of them.
TEST(Expect, ADomainOf144CarriesWhatTwoOf72Cannot) {
  const auto rate = [](int domain) {
    Machine machine{"Racks", gb200_nodes("").scenario.cluster, {}, {}};
    machine.cluster.node.scale_up.domain_gpus = domain;
    return bus_bandwidth_threshold(machine, core::CollectiveKind::all_to_all, 144, 4,
                                   std::uint64_t{1} << 30, Scope::group);
  };
  EXPECT_LT(rate(72).expected, 50e9 * 143 / 72);
  EXPECT_GT(rate(144).expected, 4 * rate(72).expected);
  EXPECT_LT(rate(144).expected / rate(144).limit(), rate(72).expected / rate(72).limit());
}

TEST(Expect, ADomainThatNoSourceDescribesIsSaid) {
  auto loaded = gb200_nodes("");
  for (const std::string& assumption : expect(loaded, {}).assumptions) {
    EXPECT_THAT(assumption, Not(HasSubstr("larger than any")));
  }
  loaded.scenario.cluster.node.scale_up.domain_gpus = 144;
  EXPECT_THAT(expect(loaded, {}).assumptions,
              testing::Contains(HasSubstr("a domain of 144 GPUs is larger than any of blackwell "
                                          "GPUs that sources describe (72: ")));
}

}  // namespace
}  // namespace headway::study

// headway compare and headway drill from the outside.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using CompareVerb = ProgramTest;
using DrillVerb = ProgramTest;

constexpr const char* kDrillRun =
    "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, prices: {use: "
    "h100-on-demand-2026-05}, trials: 8, checkpoint: {interval: 15 min, mode: sync}}\n";
constexpr const char* kOther =
    "run: {until: {steps: 20000}, failures: {use: llama-3-54-days}, prices: {use: "
    "h100-on-demand-2026-05}, trials: 8, checkpoint: {interval: 5 min, mode: async}, recovery: "
    "{detection: 5 min, diagnosis: 5 s, container_start: 5 min}}\n";

TEST_F(CompareVerb, ContributionsOfLayersAddUpToTheDifference) {
  write_small("a.yaml", kDrillRun);
  write_small("b.yaml", kOther);
  const auto outcome =
      run("compare a.yaml b.yaml --layers --format json --set cluster.fabric.efficiency=0.8");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["differing_layers"], json({"orchestration", "storage", "observability"}));
  EXPECT_EQ(result["mixtures"].size(), 8U);
  EXPECT_EQ(result["step_simulations"], 1);  // no layer touches the step
  for (const std::string key : {"step_time_s", "ettr", "goodput", "wall_days", "total_usd"}) {
    double sum = 0;
    for (const auto& layer : result["layers"]) {
      sum += layer["figures"][key]["shapley"].get<double>();
    }
    const double a = result["a"]["figures"][key];
    const double b = result["b"]["figures"][key];
    EXPECT_NEAR(sum, b - a, 1e-12 * (std::abs(a) + std::abs(b))) << key;
  }
}

// Each whole is the sum of its parts: sum (b - a) = B - A, and sum of shares = B / A - 1.
TEST_F(CompareVerb, DifferencesOfPartsAddUpToThatOfTheWhole) {
  write_small("a.yaml", kDrillRun);
  write_small("b.yaml", kOther);
  const auto outcome = run("compare a.yaml b.yaml --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  const auto check = [&](const char* parts, const char* figure) {
    double difference = 0, share = 0, before = 1e300;
    for (const json& part : result[parts]) {
      const double own = part["difference"];
      EXPECT_DOUBLE_EQ(own, part["b"].get<double>() - part["a"].get<double>());
      EXPECT_LE(std::abs(own), before) << "the largest first";
      before = std::abs(own);
      difference += own;
      share += part["share"].get<double>();
    }
    const double a = result["a"]["figures"][figure], b = result["b"]["figures"][figure];
    EXPECT_NEAR(share, b / a - 1, 1e-9) << parts;
    return difference - (b - a);
  };
  EXPECT_NEAR(check("step_parts_s", "step_time_s"), 0, 1e-9);
  check("ledger_parts_gpu_s", "wall_days");  // GPU seconds: both have as many GPUs
  EXPECT_FALSE(result["cost_parts_usd"].empty());
  const std::string table = run("compare a.yaml b.yaml").out;
  EXPECT_THAT(table, Not(HasSubstr("Where the step differs"))) << "steps are equal";
  EXPECT_THAT(table, HasSubstr("Where the GPU time of the run differs [GPU h]"));
  EXPECT_THAT(run("compare a.yaml a.yaml").out, Not(HasSubstr("differs [")));
}

TEST_F(CompareVerb, AStepThatDiffersIsDividedIntoItsParts) {
  write_small("a.yaml");
  const std::string both =
      "compare a.yaml " HEADWAY_ROOT
      "/configs/scenarios/small-llama-8b-64-h100.yaml"
      " --set training.global_batch=64 --set training.sequence_length=4096";  // steps of as much
                                                                              // work
  const json result = json::parse(run(both + " --format json").out);
  const json& top = result["step_parts_s"][0];
  EXPECT_GT(std::abs(top["share"].get<double>()), 0.01);
  const std::string table = run(both).out;
  EXPECT_THAT(table, HasSubstr("Where the step differs [s]"));
  EXPECT_THAT(table, HasSubstr("The largest part of that is " + top["words"].get<std::string>()));
  EXPECT_THAT(table, testing::ContainsRegex("\\+{16}|-{16}\n")) << "its bar is the longest";
  EXPECT_TRUE(result["ledger_parts_gpu_s"].empty()) << "A has no run";
}

TEST_F(CompareVerb, ListsTheInputsThatDiffer) {
  write_small("a.yaml", kDrillRun);
  write_small("b.yaml", kOther);
  const json result = json::parse(run("compare a.yaml b.yaml --format json").out);
  EXPECT_EQ(result["differences"][0],
            json({{"key", "run.checkpoint.interval"}, {"a", "900 s"}, {"b", "300 s"}}));
  EXPECT_EQ(result["b"]["name"],
            "Small, with run.checkpoint.interval=300 s, run.checkpoint.mode=async, 3 more");
  const std::string table = run("compare a.yaml b.yaml").out;
  EXPECT_THAT(table, HasSubstr("Inputs that differ"));
  EXPECT_THAT(table, testing::ContainsRegex("run.checkpoint.mode +sync +async"));
  run("compare a.yaml b.yaml --report page.html");
  EXPECT_THAT(read("page.html"), HasSubstr("<h2>Inputs that differ</h2>"));
}

TEST_F(CompareVerb, EqualArchitecturesDifferInNothing) {
  write_small("a.yaml");
  const json result = json::parse(run("compare a.yaml a.yaml --layers --format json").out);
  EXPECT_EQ(result["differing_layers"], json::array());
  EXPECT_EQ(result["a"], result["b"]);
  EXPECT_EQ(result["differences"], json::array());
  EXPECT_THAT(run("compare a.yaml a.yaml").out, HasSubstr("A and B are the same architecture."));
}

TEST_F(CompareVerb, PrintsFiguresSideBySideAndTheLayerThatMatters) {
  write_small("a.yaml", kDrillRun);
  write_small("b.yaml", kOther);
  const auto outcome = run("compare a.yaml b.yaml --layers");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Side by side; of a run, means over its trials"));
  EXPECT_THAT(outcome.out, HasSubstr("all layers"));
  EXPECT_THAT(outcome.out,
              HasSubstr("The largest part of the difference in wall clock comes from "));
  EXPECT_THAT(run("compare a.yaml b.yaml --format json").out,
              HasSubstr("\"verdict\": \"A step takes "));
}

// 128 nodes, each of which fails once in 153.8 d; ways between sites fail beside them.
TEST_F(DrillVerb, AWayBetweenSitesIsNoHost) {
  const auto outcome = run("drill " HEADWAY_ROOT
                           "/configs/scenarios/two-sites-failing-ways-llama-70b-1024-h100.yaml "
                           "--fault hang@node1 --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  for (const json& rate : result["rates"]) {
    if (rate["kind"] == "host-dead") {
      EXPECT_NEAR(rate["per_day"].get<double>(), 128 / 153.8, 1e-9);
      return;
    }
  }
  ADD_FAILURE() << "no rate of hosts";
}

constexpr const char* kTwoSites =
    "drill " HEADWAY_ROOT
    "/configs/scenarios/two-sites-failing-ways-llama-70b-1024-h100.yaml --no-remedies --format "
    "json "
    "--fault ";

// No node is lost, so none is taken from the spares, however many there are: the job stands until
// the fibre is spliced, or the way is there again by itself. A way that is slow lengthens the step,
// and the more the slower it is.
TEST_F(DrillVerb, AWayBetweenSitesIsCutOrSlow) {
  const auto drill = [&](const std::string& fault) {
    const auto outcome = run(kTwoSites + fault);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  const json cut = drill("site-cut@site1,repair='3 h'");
  EXPECT_EQ(cut["fault"]["site"], 1);
  EXPECT_EQ(cut["fault"]["node"], 64);
  EXPECT_GT(cut["running_again_at_s"].get<double>(), 3 * 3600.0);
  EXPECT_LT(cut["running_again_at_s"].get<double>(), 4 * 3600.0);
  EXPECT_EQ(drill("site-cut@node70,repair='3 h'")["lost"], cut["lost"]) << "node 70 is of site 1";
  EXPECT_EQ(drill("site-cut@site1,repair='3 h' --set cluster.spares=200")["lost"]["time_s"],
            cut["lost"]["time_s"]);
  EXPECT_LT(drill("site-cut@site1,lasts='20 min'")["running_again_at_s"].get<double>(), 30 * 60.0);
  const double half = drill("site-slow@site0")["step"]["slowdown"];
  const double tenth = drill("site-slow@site0,factor=0.1")["step"]["slowdown"];
  EXPECT_GT(half, 1);
  EXPECT_GT(tenth, half);
  // It is mended elsewhere, and the job runs on: what is lost is what its steps took longer.
  const json slow = drill("site-slow@site0,factor=0.1,repair='3 h'");
  const json longer = drill("site-slow@site0,factor=0.1,repair='6 h'");
  const double lost = slow["lost"]["time_s"].get<double>();
  EXPECT_NEAR(longer["lost"]["time_s"].get<double>() - lost, 3 * 3600 * (1 - 1 / tenth), 60);
  for (const json& rate : cut["rates"]) {  // of two sites: every 15 and every 180 days
    if (rate["kind"] == "site-cut") {
      EXPECT_NEAR(rate["per_day"].get<double>(), 2 / 15.0 + 2 / 180.0, 1e-9);
    }
  }
}

TEST_F(DrillVerb, WaysNeedSitesThatTrainTogether) {
  const auto refused = [&](const std::string& arguments) {
    const auto outcome = run(arguments);
    EXPECT_NE(outcome.code, 0);
    return outcome.err;
  };
  EXPECT_THAT(refused(kTwoSites + std::string("site-cut@site2")),
              HasSubstr("there is no site 2; the job has sites 0 to 1"));
  EXPECT_THAT(refused(kTwoSites + std::string("site-slow --set training.local_steps.steps=100")),
              HasSubstr("a drill knows no sites that train apart"));
  EXPECT_THAT(refused(kTwoSites + std::string("site-cut@node500")),
              HasSubstr("there is no node 500"));
  const std::string elastic =
      "site-cut --set run.recovery.elastic.fewest_replicas=8 --set parallelism.sharding=hsdp --set "
      "parallelism.shard_group_size=8";
  EXPECT_THAT(refused(kTwoSites + elastic),
              HasSubstr("no elastic job that goes on without a site"));
  write_small("s.yaml", kDrillRun);
  const json sound = json::parse(run("drill s.yaml --fault hang --no-remedies --format json").out);
  for (const json& rate : sound["rates"]) {
    if (rate["kind"] == "site-cut" || rate["kind"] == "site-slow") {
      EXPECT_EQ(rate["per_day"], 0) << "one site has no ways";
    }
  }
  EXPECT_THAT(refused("drill s.yaml --fault site-cut"), HasSubstr("site-cut needs several sites"));
}

TEST_F(DrillVerb, RemovingTheWatchdogChangesTheTimeline) {
  write_small("s.yaml", kDrillRun);
  const auto drill = [&](const std::string& more) {
    const auto outcome = run("drill s.yaml --fault hang --no-remedies --format json " + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  const json with = drill("");
  const json without = drill("--monitor watchdog=off");
  EXPECT_EQ(with["first_symptoms"][3]["symptom"], "collective_timeout");
  EXPECT_EQ(with["first_symptoms"][3]["at_s"], 600.0);
  EXPECT_TRUE(without["first_symptoms"][3]["symptom"].is_null());
  EXPECT_LT(with["lost"]["time_s"].get<double>() + 1000, without["lost"]["time_s"].get<double>());
}

TEST_F(DrillVerb, EveryKindOfTheContractRuns) {
  write_small("s.yaml", kDrillRun);
  for (const std::string kind :
       {"gpu-dead", "hbm-error", "nvme-slow", "nvme-stalled", "nic-down", "link-half-rate",
        "optic-flapping", "leaf-down", "gpu-slow", "hang", "silent-corruption", "loss-spike",
        "storage-slow", "storage-full", "rack-power-loss", "wrong-checkpoint"}) {
    const std::set<std::string> nowhere{"loss-spike", "storage-slow", "storage-full",
                                        "wrong-checkpoint"};
    const bool placed = nowhere.count(kind) == 0;
    const auto outcome = run("drill s.yaml --no-remedies --format json --fault " + kind +
                             (placed ? "@node1/gpu3" : ""));
    ASSERT_EQ(outcome.code, 0) << kind << ": " << outcome.err;
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result["fault"]["kind"], kind);
    EXPECT_EQ(result["fault"]["node"], placed ? 1 : 0);
    double sum = 0;
    for (const auto& seconds : result["lost"]["accounts_s"]) {
      sum += seconds.get<double>();
    }
    EXPECT_NEAR(sum, 86400, 1e-6) << kind;
  }
}

TEST_F(DrillVerb, SaysWhyASlowCardCostsNothing) {
  // Hashed uplinks collide: what crosses the slow card waits for a fuller cable anyway.
  const auto outcome =
      run("drill " HEADWAY_ROOT
          "/configs/scenarios/small-llama-8b-64-h100.yaml --no-remedies "
          "--full --fault link-half-rate --set cluster.fabric.routing=ecmp --set "
          "cluster.fabric.topology=fat_tree --set cluster.fabric.ports_per_leaf=16");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("A step takes no longer: no flow crosses this card, or those "
                                     "that do wait for a fuller link"));
}

TEST_F(DrillVerb, RemediesAreTheSameDrillRunAgain) {
  write_small("s.yaml", kDrillRun);
  const json plain = json::parse(run("drill s.yaml --fault hang --format json").out);
  ASSERT_FALSE(plain["remedies"].empty());
  for (const auto& remedy : plain["remedies"]) {
    if (remedy["name"] == "collective watchdog of 60 s") {
      const json again = json::parse(
          run("drill s.yaml --fault hang --no-remedies --monitor watchdog='60 s' --format json")
              .out);
      EXPECT_EQ(again["lost"]["time_s"], remedy["lost_s"]);
      // 600 - 60 s, less at most one save of 56 GB at 5 GB/s that now falls into the day.
      EXPECT_NEAR(remedy["saved_s"].get<double>(), 540, 12);
      return;
    }
  }
  FAIL() << "a hang is not helped by a shorter watchdog";
}

// All since the oldest save that is kept is thrown away: more than is done within the horizon, and
// its schema allows it.
TEST_F(DrillVerb, WhatIsThrownAwayMayBeMoreThanWhatIsDone) {
  write_small("s.yaml", kDrillRun);
  const json result = json::parse(run("drill s.yaml --fault silent-corruption --no-remedies "
                                      "--format json --set run.checkpoint.archive='3 d'")
                                      .out);
  EXPECT_LT(result["lost"]["accounts_s"]["useful"].get<double>(), 0) << result["lost"].dump(1);
  const json schema = json::parse(read_file(HEADWAY_ROOT "/configs/schema/headway.drill-1.json"));
  const json& accounts = schema["properties"]["lost"]["properties"]["accounts_s"]["properties"];
  EXPECT_FALSE(accounts["useful"].contains("minimum")) << accounts["useful"].dump(1);
  EXPECT_EQ(accounts["lost"]["minimum"], 0);
}

// Of a day's saves every fourth goes to storage, and those are what is kept.
TEST_F(DrillVerb, ADayOfCheckpointsIsOfThoseInStorage) {
  write_small("s.yaml", kDrillRun);
  const json result = json::parse(
      run("drill s.yaml --fault silent-corruption --format json --set 'run.checkpoint={interval: "
          "5 min, mode: async, every: 4, levels: [{place: host, every: 1}]}'")
          .out);
  std::string how;
  for (const auto& remedy : result["remedies"]) {
    if (remedy["name"] == "the checkpoints of a whole day kept") {
      how = remedy["how"];
    }
  }
  EXPECT_EQ(how, "--set run.checkpoint.keep=72");
}

TEST_F(DrillVerb, WhatItCannotReadIsRefusedWithAHint) {
  write_small("s.yaml", kDrillRun);
  const auto complaint = [&](const std::string& fault) {
    const auto outcome = run("drill s.yaml --fault " + fault);
    EXPECT_EQ(outcome.code, 2) << fault;
    EXPECT_EQ(outcome.out, "") << fault;
    return outcome.err;
  };
  EXPECT_THAT(complaint("gpu-ded"),
              HasSubstr("kind 'gpu-ded' is unknown; did you mean 'gpu-dead'?"));
  EXPECT_THAT(complaint("hang,rate=3"), HasSubstr("hang takes since_save, not 'rate=3'"));
  EXPECT_THAT(complaint("nvme-slow,rate=18"), HasSubstr("'18' has no unit"));
  EXPECT_THAT(complaint("gpu-slow,factor=2"), HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(complaint("gpu-dead@node2"),
              HasSubstr("there is no node 2; the job has nodes 0 to 1"));
  EXPECT_THAT(complaint("gpu-dead@pod3"), HasSubstr("place 'pod3' is none"));
  EXPECT_THAT(complaint("rack-power-loss,nodes=3"),
              HasSubstr("nodes=3 are more than the 2 of the job"));
  EXPECT_THAT(complaint("rack-power-loss@rack9"), HasSubstr("there is no rack 9"));
  EXPECT_THAT(complaint("leaf-down@leaf999"), HasSubstr("there is no leaf 999"));
  EXPECT_THAT(complaint("hang,since_save=1h"), HasSubstr("since_save must be below the interval"));
  EXPECT_THAT(complaint("wrong-checkpoint,behind=100000"), HasSubstr("older than the run"));
}

TEST_F(DrillVerb, AJobThatDoesNotFitIsToldSo) {
  write_small("s.yaml", kDrillRun);
  const auto outcome =
      run("drill s.yaml --fault hang --no-remedies --set training.sequence_length=262144 --format "
          "json");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["status"], "infeasible");
  EXPECT_EQ(result["reasons"].size(), 1U);
}

TEST_F(DrillVerb, SaysNothingOfRemediesItHasNotTriedAndOfPlacesThereAreNot) {
  write_small("s.yaml", kDrillRun);
  const auto outcome = run("drill s.yaml --fault storage-full --no-remedies");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("helped")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("at node")));
}

TEST_F(DrillVerb, WithoutSavesTheWorkBeforeTheFaultIsHalfTheDrill) {
  write_small("s.yaml");
  const auto outcome = run("drill s.yaml --fault gpu-dead --no-remedies --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["since_save_s"], 43200);  // half the drill, and no spare: the whole of it
  EXPECT_EQ(result["lost"]["time_s"], 43200 + 86400);
  EXPECT_THAT(result["warnings"].dump(), HasSubstr("taken as half the drill"));
}

TEST_F(DrillVerb, HelpIsShortAndTheListIsLong) {
  const auto help = run("drill --help");
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 30);
  EXPECT_THAT(help.out, HasSubstr("wrong-checkpoint"));
  const auto list = run("drill --list");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, HasSubstr("share of its speed that is left [0.8]"));
}

TEST_F(DrillVerb, TheTimelineIsDrawn) {
  write_small("s.yaml", kDrillRun);
  const auto outcome = run("drill s.yaml --fault gpu-dead@gpu9 --full");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Root cause: gpu-dead (GPU) at node 1, GPU 1."));
  EXPECT_THAT(outcome.out, HasSubstr("* . . . . .  hardware"));
  EXPECT_THAT(outcome.out, HasSubstr("The fault costs "));
}

}  // namespace
}  // namespace headway::apps

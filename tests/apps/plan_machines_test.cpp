// headway plan over several machines, from the outside.
#include <algorithm>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kMachinesRun =
    "run:\n"
    "  until: {steps: 20000}\n"
    "  failures: {use: llama-3-54-days}\n"
    "  recovery: {use: automated-2024}\n"
    "  prices: {use: h100-on-demand-2026-05}\n"
    "  trials: 8\n";

class PlanMachines : public ProgramTest {
 protected:
  PlanMachines() {
    write_small("s.yaml", std::string(kMachinesRun) + "search: {vary: [tensor]}\n");
    write_small("several.yaml",
                std::string(kMachinesRun) +
                    "search:\n"
                    "  vary: [tensor]\n"
                    "  machines:\n"
                    "    - cluster.node=dgx-a100; run.prices=a100-80gb-on-demand-2026-05\n"
                    "    - cluster.node=dgx-h100; run.prices=h100-on-demand-2026-05\n"
                    "    - cluster.node=dgx-b200; run.prices=b200-on-demand-2026-06\n");
  }

  [[nodiscard]] json planned(const std::string& arguments, int code = 0) const {
    const Outcome outcome = run("plan " + arguments + " --format json");
    EXPECT_EQ(outcome.code, code) << outcome.err;
    json result = json::parse(outcome.out);
    result.erase("timing");
    return result;
  }
};

// Sizes that machines differ in are not searched once more within each.
TEST_F(PlanMachines, RefusesSizesNamedTwice) {
  const Outcome twice = run("plan s.yaml --over cluster.nodes=2,4 --nodes 4");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("candidate machines differ in cluster.nodes, which the search "
                                   "of each varies too; keep search.nodes or the machines "
                                   "(--nodes stands for search.nodes)"));
}

// Each machine's best plan is the one of a search of that machine alone; the best of all is first.
TEST_F(PlanMachines, FindsWhatSearchesOfEachFind) {
  const json all = planned("several.yaml --objective dollars");
  ASSERT_EQ(all["machines"].size(), 3U);
  EXPECT_EQ(all["machines"][0]["name"], "dgx-a100, a100-80gb-on-demand-2026-05");
  double least = 1e300;
  std::string best;
  for (const json& machine : all["machines"]) {
    const json& set = machine["changes"];
    const json alone = planned("s.yaml --objective dollars --set cluster.node.use=" +
                               set["cluster.node"].get<std::string>() + " --set run.prices.use=" +
                               set["run.prices"].get<std::string>())["plans"][0];
    EXPECT_EQ(machine["usd"], alone["cost"]["total_usd"]["p50"]) << machine["name"];
    EXPECT_EQ(machine["days"], alone["campaign"]["wall_days"]["p50"]) << machine["name"];
    EXPECT_EQ(machine["gpus"], 16);
    if (machine["usd"].get<double>() < least) {
      least = machine["usd"].get<double>();
      best = machine["name"].get<std::string>();
    }
  }
  EXPECT_EQ(all["plans"][0]["machine"], best);
  EXPECT_EQ(all["plans"][0]["cost"]["total_usd"]["p50"].get<double>(), least);
  for (const json& machine : all["machines"]) {
    const double behind = machine["usd"].get<double>() / least - 1;
    EXPECT_NEAR(machine["behind"].get<double>(), behind, 1e-12);
    EXPECT_EQ(machine["outcome"] == "best by dollars", machine["name"] == best);
  }
}

// A path as a key of `search`, --over and --nodes say the same.
TEST_F(PlanMachines, TakesPathsAsKeysOfSearch) {
  write_small("paths.yaml", std::string(kMachinesRun) +
                                "search:\n"
                                "  vary: [tensor]\n"
                                "  cluster.nodes: [1, 2]\n"
                                "  cluster.node: [dgx-a100, dgx-h100]\n");
  const json paths = planned("paths.yaml");
  EXPECT_EQ(paths["plans"], planned("s.yaml --nodes 1,2 --over "
                                    "cluster.node=dgx-a100,dgx-h100")["plans"]);
  ASSERT_EQ(paths["machines"].size(), 2U);
  EXPECT_EQ(paths["machines"][1]["name"], "dgx-h100");
  write_small("sizes.yaml",
              std::string(kMachinesRun) + "search: {vary: [tensor], cluster.nodes: [1, 2]}\n");
  json sizes = planned("sizes.yaml");
  json listed = planned("s.yaml --nodes 1,2");
  EXPECT_NE(sizes["resolved"], listed["resolved"]) << "the file says it, or the command";
  for (json* plan : {&sizes, &listed}) {
    plan->erase("resolved");
  }
  EXPECT_EQ(sizes, listed);
  EXPECT_TRUE(sizes["machines"].empty());
  write_small("range.yaml", std::string(kMachinesRun) +
                                "search:\n"
                                "  vary: [tensor]\n"
                                "  cluster.node.gpu.power: {from: 400 W, to: 700 W, points: 2}\n");
  const json range = planned("range.yaml");
  ASSERT_EQ(range["machines"].size(), 2U);
  EXPECT_EQ(range["machines"][0]["name"], "power 400 W");
  EXPECT_EQ(range["plans"][0]["machine"], "power 700 W");
}

// At its break-even price the run of a machine that lost costs as much as that of the best, median
// by median as in the table; how a run of median dollars divides is taken from the mean one. Of
// machines that are owned electricity is billed apart, whatever a GPU-hour costs.
TEST_F(PlanMachines, BreaksEvenAtThePriceItNames) {
  const auto total = [](const json& cost) { return cost["total_usd"]["p50"].get<double>(); };
  const auto compare = [&](const std::string& words, int losers) {
    const json all = planned(words + " --objective dollars --force --save plans");
    int compared = 0;
    for (std::size_t i = 0; i < all["plans"].size(); ++i) {
      const auto machine =
          std::find_if(all["machines"].begin(), all["machines"].end(),
                       [&](const json& m) { return m["name"] == all["plans"][i]["machine"]; });
      if (machine->at("outcome") == "best by dollars" ||
          machine->at("usd") != total(all["plans"][i]["cost"])) {
        continue;
      }
      const std::string price = machine->at("break_even_usd_per_gpu_hour").dump();
      const json again =
          json::parse(run("run plans/plan-" + std::to_string(i + 1) +
                          ".yaml --format json --set 'run.prices.gpu_hour=" + price + " USD/h'")
                          .out);
      EXPECT_NEAR(total(again["cost"]) / total(all["plans"][0]["cost"]), 1, 1e-3)
          << machine->at("name");
      ++compared;
    }
    EXPECT_EQ(compared, losers) << words;
  };
  compare("several.yaml", 2);
  compare(
      "several.yaml --machine 'run.prices.gpu_hour=0.9 USD/h' --machine run.prices=h100-owned-2024",
      1);
}

// Spot is the servers at another price that are taken back now and then: the run is longer by what
// that costs, and at its break-even price it costs as much as the cheapest other.
TEST_F(PlanMachines, WeighsSpotAgainstItsInterruptions) {
  const std::string scenario = HEADWAY_ROOT "/configs/scenarios/spot-llama-8b.yaml";
  const json all = planned("'" + scenario + "' --objective dollars --top 4");
  ASSERT_EQ(all["machines"].size(), 4U);
  const json& asked = all["machines"][0];
  const json& spot = all["machines"][3];
  EXPECT_EQ(asked["name"], "h100-on-demand-2026-05");
  EXPECT_EQ(spot["name"], "gpu_hour 1.20 USD/h, other hazards, repair 1 h");
  EXPECT_GT(spot["days"], asked["days"]);
  EXPECT_LT(spot["usd"], asked["usd"]);
  const double even = spot["break_even_usd_per_gpu_hour"];
  const json dear = planned("'" + scenario +
                            "' --objective dollars --top 4 --machine "
                            "'run.prices=h100-owned-2024' --machine 'run.prices.gpu_hour=" +
                            std::to_string(even) +
                            " USD/h; run.failures.hazards=[{name: server, component: host, per: "
                            "node, mtbf: 300 d}, {name: taken back, component: unknown, per: node, "
                            "effect: preemption, notice: 2 min, mtbf: 4 d}]; run.recovery.repair=1 "
                            "h'");
  EXPECT_GT(dear["machines"][0]["usd"], 0);
  EXPECT_NEAR(dear["machines"][1]["usd"].get<double>() / dear["machines"][0]["usd"].get<double>(),
              1, 1e-3);
}

// By step as many spares as the run's advice has, and the saved plan is that run.
TEST_F(PlanMachines, ChoosesSpares) {
  write_small(
      "spares.yaml",
      std::string(kMachinesRun) +
          "search: {vary: [tensor], cluster.spares: auto, run.checkpoint.interval: auto}\n");
  const json plan = planned(
      "spares.yaml --set cluster.nodes=256 --set training.global_batch=2048 "
      "--save plans")["plans"][0];
  const json again = json::parse(run("run plans/plan-1.yaml --format json").out);
  EXPECT_GT(plan["spares"].get<int>(), 0);
  EXPECT_EQ(again["campaign"]["advice"]["spares"], plan["spares"]);
  EXPECT_EQ(again["cost"]["total_usd"], plan["cost"]["total_usd"]);
  EXPECT_THAT(read("plans/plan-1.yaml"),
              HasSubstr("spares: " + std::to_string(plan["spares"].get<int>())));
}

// By dollars a spare that saves less than it costs is left out: none of 0, 1, 2, ... is better.
TEST_F(PlanMachines, SparesServeTheObjective) {
  write_small("spares.yaml",
              std::string(kMachinesRun) + "search: {vary: [tensor], cluster.spares: auto}\n");
  const std::string large = " --set cluster.nodes=256 --set training.global_batch=2048";
  const std::string words = "spares.yaml --top 1" + large;
  const int needed = planned(words)["plans"][0]["spares"];
  const json plan = planned(words + " --objective dollars --save plans")["plans"][0];
  const auto usd = [&](int spares) {
    const auto again = json::parse(
        run("run plans/plan-1.yaml --format json --set cluster.spares=" + std::to_string(spares))
            .out);
    return again["cost"]["total_usd"]["p50"].get<double>();
  };
  ASSERT_GT(needed, 1);
  int best = 0;
  for (int spares = 1; spares <= needed; ++spares) {
    best = usd(spares) < usd(best) ? spares : best;
  }
  EXPECT_EQ(plan["spares"], best);
  EXPECT_LT(best, needed);
  const std::string days = std::to_string(
      1.0001 * planned(words)["plans"][0]["campaign"]["wall_days"]["p50"].get<double>());
  // A budget that the spares it needs exceed is kept by fewer, whatever the objective.
  const json cheap =
      planned(words + " --limit 'budget=" + std::to_string(1.0001 * usd(best)) + " USD'");
  EXPECT_EQ(cheap["plans"][0]["spares"], best);
  const json soon = planned(words + " --objective dollars --limit 'deadline=" + days + " d'");
  EXPECT_GE(soon["plans"][0]["spares"], best) << "as many as the deadline needs";
}

// Plans of several batches train as many tokens, on several machines too, and so do the saved ones.
TEST_F(PlanMachines, RunsOfSeveralBatchesAreAsManyTokensLong) {
  const json own = json::parse(run("run s.yaml --format json").out);
  for (const std::string several :
       {"--set 'search.global_batch=[32, 64]'", "--set 'search.sequence_length=[2048, 4096]'",
        "--over training.global_batch=32,64"}) {
    const json all = planned("s.yaml --objective dollars --top 50 --force --save plans " + several);
    std::set<std::pair<int, int>> sizes;
    for (const json& plan : all["plans"]) {
      EXPECT_NEAR(
          plan["campaign"]["tokens"].get<double>() / own["campaign"]["tokens"].get<double>(), 1,
          1e-3)
          << several;
      sizes.emplace(plan["global_batch"].get<int>(), plan["sequence_length"].get<int>());
    }
    EXPECT_EQ(sizes.size(), 2U) << several;
    const json again = json::parse(run("run plans/plan-1.yaml --format json").out);
    EXPECT_EQ(again["cost"]["total_usd"], all["plans"][0]["cost"]["total_usd"]);
  }
  EXPECT_THAT(run("plan s.yaml --set 'search.global_batch=[32, 64]' --full").out,
              HasSubstr("what the scenario's own steps train"));
}

// What the command line lists stands in place of what the file lists, in whatever words.
TEST_F(PlanMachines, TheCommandLinesMachinesStandInPlaceOfTheFiles) {
  write_small("nested.yaml", std::string(kMachinesRun) +
                                 "search: {vary: [tensor], cluster: {node: [dgx-h100, dgx-a100]}, "
                                 "cluster.node.gpu.power: [500 W, 700 W]}\n");
  EXPECT_EQ(planned("nested.yaml")["machines"].size(), 4U);
  const json power = planned("nested.yaml --over 'cluster.node.gpu.power=400 W,600 W'");
  ASSERT_EQ(power["machines"].size(), 2U);
  EXPECT_EQ(power["machines"][1]["name"], "power 600 W");
  const json one = planned("nested.yaml --over cluster.node=dgx-b200");
  ASSERT_EQ(one["machines"].size(), 1U);
  EXPECT_EQ(one["machines"][0]["name"], "dgx-b200") << "a machine alone has a name";
}

TEST_F(PlanMachines, SaysWhyAMachineLost) {
  const json all = planned("several.yaml --objective dollars");
  double slowest = 0, fastest = 1e300;
  for (const json& machine : all["machines"]) {
    slowest = std::max(slowest, machine["days"].get<double>());
    fastest = std::min(fastest, machine["days"].get<double>());
  }
  const std::string limit = " --limit 'deadline=" + std::to_string((slowest + fastest) / 2) + " d'";
  const Outcome table = run("plan several.yaml --full --objective dollars" + limit);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("deadline: takes longer than the deadline"));
  EXPECT_THAT(table.out, HasSubstr("Candidate machines, each on its best plan"));
  const std::string last = all["machines"][2]["name"].get<std::string>();
  EXPECT_THAT(table.out, HasSubstr("  machine 3: " + last + "\n"));
  EXPECT_THAT(run("plan several.yaml --format csv").out, HasSubstr(last)) << "not numbers";
  const json none = planned("several.yaml --limit 'deadline=1 h'", 3);
  EXPECT_TRUE(none["plans"].empty());
  for (const json& machine : none["machines"]) {
    EXPECT_THAT(machine["outcome"].get<std::string>(), HasSubstr("nearest: at least"));
  }
  const json power = planned("several.yaml --limit 'power=25 kW'");
  EXPECT_THAT(power["machines"][2]["outcome"].get<std::string>(), HasSubstr("power: 2 nodes draw"));
}

TEST_F(PlanMachines, GivesTheSameBytesForAnyNumberOfThreads) {
  json one = planned("several.yaml --threads 1"), three = planned("several.yaml --threads 3");
  EXPECT_EQ(one, three);
}

TEST_F(PlanMachines, FindsSlipsBeforeAnythingIsSearched) {
  const std::pair<std::string, const char*> slips[] = {
      {"s.yaml --over cluster.nods=1,2", "search, cluster.nods=1: unknown key 'nods'"},
      {"s.yaml --over cluster.node=dgx-h10,dgx-b200", "dgx-h10"},
      {"s.yaml --over cluster.node", "argument --over cluster.node: write KEY=VALUE,VALUE"},
      {"s.yaml --machine cluster.node", "in a row of a sweep is not KEY=VALUE"},
      {"s.yaml --over cluster.node=dgx-h100,dgx-h100", "machines 1 and 2 are the same (dgx-h100)"},
      {"s.yaml --over parallelism.tensor=2,4",
       "candidate machines differ in parallelism.tensor, which the search of each varies too; hold "
       "it (--hold tensor), or list its values as search.tensor"},
      {"s.yaml --limit gpus=63.5", "gpus=63.5"},
      {"s.yaml --over parallelism.recompute=none,full --vary recompute",
       "hold it (--hold recompute)"},
      {"s.yaml --set search.nodes=[1,2] --over cluster.nodes=1,2",
       "cluster.nodes, which the search of each varies too; keep search.nodes or the machines"},
      {"s.yaml --over 'cluster.node.gpu.power=700 W,0.7 kW'", "machines 1 and 2 are the same"},
      {"s.yaml --over cluster.node=dgx-h100,dgx-h200 --nodes 2,2",
       "--nodes names 2 more than once"},
      {"several.yaml --set run.prices=null --set 'search.machines=[cluster.node=dgx-h100]' "
       "--objective dollars",
       "the scenario has no run.prices"}};
  for (const auto& [words, message] : slips) {
    const Outcome outcome = run("plan " + words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << words;
  }
  write_small("twice.yaml",
              std::string(kMachinesRun) + "search:\n  nodes: [1, 2]\n  cluster.nodes: [2, 4]\n");
  const Outcome twice = run("plan twice.yaml");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("'cluster.nodes' is 'search.nodes', which is there too"));
  EXPECT_THAT(run("plan s.yaml --machine 'cluster.nodes=8; cluster.nodes=16'").err,
              HasSubstr("a point changes 'cluster.nodes' twice"));
  write_small("empty.yaml", std::string(kMachinesRun) + "search: {cluster.node: []}\n");
  const Outcome empty = run("plan empty.yaml");
  EXPECT_EQ(empty.code, 2);
  EXPECT_THAT(empty.err, testing::ContainsRegex("empty.yaml:[0-9]+:[0-9]+: axis 'cluster.node'"));
}

// Machines without prices of their own are billed at that of the first: it is said beside the
// table, and once.
TEST_F(PlanMachines, APriceOfAnotherGpuIsSaid) {
  const std::string words = "s.yaml --over cluster.node=dgx-h100,dgx-b200 --objective dollars";
  const std::string bills =
      "run.prices bills B200 180 GB SXM at 2.75 USD a GPU-hour, which is a price of H100";
  const json all = planned(words);
  ASSERT_EQ(all["warnings"].size(), 1U);
  EXPECT_THAT(all["warnings"][0].get<std::string>(), testing::StartsWith(bills));
  const std::string text = run("plan --full " + words).out;
  EXPECT_LT(text.find("Warning: " + bills), text.find("Candidate machines"));
  EXPECT_EQ(planned("several.yaml")["warnings"], json::array());
  const std::string other = " --set cluster.node.use=dgx-b200";
  EXPECT_THAT(run("run s.yaml --trials 2 --full" + other).out, HasSubstr("Warning: " + bills));
  EXPECT_THAT(run("sweep s.yaml --sweep cluster.node.use=dgx-h100,dgx-b200 --sweep "
                  "parallelism.tensor=1,2 --trials 2")
                  .out,
              HasSubstr("Warning: " + bills));
  EXPECT_THAT(
      run("run s.yaml --trials 2 --set run.prices.use=b200-on-demand-2026-06 --full" + other).out,
      testing::Not(HasSubstr(bills)));
}

TEST_F(PlanMachines, TheHeadingNamesTheNodesThatWereLookedAt) {
  EXPECT_THAT(run("plan s.yaml --nodes 2,4 --full").out, HasSubstr("  2, 4 nodes of DGX H100"));
}

}  // namespace
}  // namespace headway::apps

// Power of a run from the outside.
#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Power = ProgramTest;

const std::string kBuilding = HEADWAY_ROOT "/configs/scenarios/power-llama-70b-576-gb200.yaml";

TEST_F(Power, ATableOverTheStepIsWritten) {
  write_small("s.yaml");
  const auto done = run("run s.yaml --power p.csv --format json");
  ASSERT_EQ(done.code, 0) << done.err;
  const json power = json::parse(done.out)["power"];
  std::istringstream lines(read("p.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "time_s,gpu_kw,it_kw,facility_kw,state");
  double most = 0, sum = 0;
  int rows = 0;
  while (std::getline(lines, line)) {
    double time = 0, gpu = 0, it = 0, facility = 0;
    char comma = 0;
    std::istringstream(line) >> time >> comma >> gpu >> comma >> it >> comma >> facility;
    EXPECT_TRUE(line.ends_with(",step"));  // nothing is saved without a run
    most = std::max(most, it);
    sum += it;
    ++rows;
  }
  EXPECT_GE(rows, 100);
  EXPECT_NEAR(most * 1000, power["peak_w"].get<double>(), 1);
  EXPECT_NEAR(sum / rows * 1000 / power["mean_w"].get<double>(), 1, 1e-4);
  EXPECT_NEAR(power["swing_w"].get<double>(),
              power["peak_w"].get<double>() - power["least_w"].get<double>(), 1e-6);
  EXPECT_GT(power["ramp_w_per_s"], 0);
  EXPECT_THAT(run("run s.yaml --show power").out, HasSubstr("peak"));
  EXPECT_FALSE(json::parse(run("run s.yaml --format json").out).contains("power"));
}

// A synchronous save follows the step: boards wait, so all draw what a cluster draws at rest, as
// long as training stands still. An asynchronous one has its snapshot first and is then written
// beside steps, whose power it leaves as it is.
TEST_F(Power, ASaveFollowsTheStep) {
  for (const bool synchronous : {true, false}) {
    write_small("s.yaml", fmt::format("run: {{until: {{steps: 1000}}, trials: 2, checkpoint: "
                                      "{{interval: 1 h, mode: {}}}}}\n",
                                      synchronous ? "sync" : "async"));
    const auto done = run("run s.yaml --power p.csv --force --format json");
    ASSERT_EQ(done.code, 0) << done.err;
    const json result = json::parse(done.out);
    const double standing = result["power"]["standing_w"];
    const double stall = result["campaign"]["checkpoint_stall_s"];
    std::istringstream lines(read("p.csv"));
    double first = -1, last = -1;
    int beside = 0;
    for (std::string line; std::getline(lines, line);) {
      double time = 0, gpu = 0, it = 0;
      char comma = 0;
      std::istringstream(line) >> time >> comma >> gpu >> comma >> it;
      if (line.ends_with(",save")) {
        EXPECT_NEAR(it * 1000, standing, 1e-3);
        first = first < 0 ? time : first;
        last = time;
      }
      beside += line.ends_with(",save_beside") ? 1 : 0;
    }
    EXPECT_GT(first, 0);
    EXPECT_NEAR(last - first + result["power"]["window_s"].get<double>(), stall, 1e-6);
    EXPECT_EQ(beside > 0, !synchronous);
    EXPECT_THAT(run("run s.yaml --show power").out,
                HasSubstr(synchronous ? "a save takes off" : "a save's snapshot takes off"));
  }
}

/// Tokens a joule of the building with boards limited to so many watts.
double tokens_a_joule(const ProgramTest&, const json& result) {
  return 1 / result["power"]["joules_per_token"].get<double>();
}

/// Meta's provisioning (arXiv 2605.24461): 960 W a GPU of 1,200, performance per watt of the
/// cluster at its best near 1,000 W. By the law alone, f as the root of what is above idle, and
/// 847 W a GPU beside the boards, a step of nothing but products is best at 2 x 165 + 847 = 1,177
/// W; a step that also waits gains less from watts, so its best is lower.
TEST_F(Power, TokensAJouleAreBestInsideAndNearWhatMetaFound) {
  double best = 0, at = 0, first = 0, last = 0;
  for (int watts = 500; watts <= 1200; watts += 50) {
    const auto done =
        run("run " + kBuilding + " --show power --format json --set 'cluster.node.gpu.power=" +
            std::to_string(watts) + " W'");
    ASSERT_EQ(done.code, 0) << done.err;
    const double tokens = tokens_a_joule(*this, json::parse(done.out));
    first = watts == 500 ? tokens : first;
    last = tokens;
    if (tokens > best) {
      best = tokens;
      at = watts;
    }
  }
  EXPECT_GT(best, first);
  EXPECT_GT(best, last);
  // Found here; Meta's model is at 1,000 W, which this misses by what docs/power.md says.
  EXPECT_GE(at, 800);
  EXPECT_LE(at, 1000);
}

const std::string kPowerRun =
    " --set 'run={until: {steps: 200}, trials: 4, failures: {use: llama-3-54-days}, recovery: "
    "{use: "
    "automated-2024, rack_nodes: 2}, prices: {use: h100-owned-2024}}'";
const std::string kRack = " --set 'cluster.power={rack: 17.2 kW}'";

// Two DGX H100 in a rack draw 16 x 70 + 2 x 4,600 = 10,320 W at rest. Of 17.2 kW 430 W a GPU are
// left: boards at 500 W. From there on all is as with the key: step, memory, run, cost.
TEST_F(Power, ALimitOfARackIsThatOfItsBoards) {
  write_small("s.yaml");
  const json capped =
      json::parse(run("run s.yaml --show power --format json" + kPowerRun + kRack).out);
  const json keyed = json::parse(run("run s.yaml --show power --format json" + kPowerRun +
                                     " --set 'cluster.node.gpu.power=500 W'")
                                     .out);
  for (const char* part : {"memory", "campaign", "cost"}) {
    EXPECT_EQ(capped[part], keyed[part]) << part;
  }
  EXPECT_EQ(capped["step"]["time_s"], keyed["step"]["time_s"]);
  EXPECT_FALSE(capped["step"]["breakdown_s"].is_null());
  EXPECT_EQ(capped["step"]["breakdown_s"], keyed["step"]["breakdown_s"]);
  json power = capped["power"];
  const json limits = power["limits"];
  EXPECT_TRUE(keyed["power"]["limits"].is_null());
  power["limits"] = nullptr;
  EXPECT_EQ(power, keyed["power"]);
  EXPECT_DOUBLE_EQ(limits["board_w"], 500);
  EXPECT_DOUBLE_EQ(limits["own_board_w"], 700);
  EXPECT_EQ(limits["lowered_by"], "rack");
  EXPECT_EQ(limits["rack"]["nodes"], 2);
  EXPECT_DOUBLE_EQ(limits["rack"]["limit_w"], 17'200);
  EXPECT_DOUBLE_EQ(limits["rack"]["drawn_w"], 17'200);
  EXPECT_DOUBLE_EQ(limits["rack"]["headroom_w"], 0);
  EXPECT_DOUBLE_EQ(limits["rack"]["swing_w"], 16 * 430);
  EXPECT_TRUE(limits["facility"].is_null());
}

// The rack that swings most over the step, beside what it could swing at most.
TEST_F(Power, ALimitedRackIsAColumnOfTheTable) {
  write_small("s.yaml");
  const auto done = run("run s.yaml --power p.csv --format json" + kPowerRun + kRack);
  ASSERT_EQ(done.code, 0) << done.err;
  const json rack = json::parse(done.out)["power"]["limits"]["rack"];
  std::istringstream lines(read("p.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "time_s,gpu_kw,it_kw,facility_kw,rack_kw,state");
  double least = 1e9, most = 0;
  while (std::getline(lines, line)) {
    ASSERT_EQ(std::count(line.begin(), line.end(), ','), 5);
    line.resize(line.rfind(','));
    const double drawn = std::stod(line.substr(line.rfind(',') + 1));
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_GE(least, 10.32 - 1e-6);
  EXPECT_LE(most, 17.2 + 1e-6);
  EXPECT_GT(most, least);
  EXPECT_LE((most - least) * 1000, rack["swing_w"].get<double>() + 1e-3);
}

TEST_F(Power, LimitsArePrinted) {
  write_small("s.yaml");
  const std::string building = " --set 'cluster.power.facility=50 kW'";
  const auto done = run("run s.yaml --show power,assumptions" + kPowerRun + kRack + building);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("boards limited to 500 W of 700 W"));
  EXPECT_THAT(done.out, HasSubstr("a rack of 2 nodes draws 17.2 of 17.2 kW; the building draws"));
  EXPECT_THAT(done.out, HasSubstr("left of what feeds a rack of 2 nodes"));
  EXPECT_THAT(done.out, HasSubstr("left of what feeds the building"));
  // 16 GPUs x 200 W more would be fed.
  EXPECT_THAT(
      json::parse(run("run s.yaml --format json" + kPowerRun + kRack).out)["remedies"].dump(),
      HasSubstr("3.2 kW more for each rack: boards at 700 W, not 500 W"));
  EXPECT_THAT(run("explain cluster.power.facility").out, HasSubstr("What the utility feeds"));
}

TEST_F(Power, WhatIsNotFedIsRefused) {
  write_small("s.yaml");
  const auto refused = run("run s.yaml" + kPowerRun + kRack + " --set cluster.power.excess=refuse");
  EXPECT_EQ(refused.code, 2);
  // 16 x 700 + 9,200 W, 10.2 kW a node
  EXPECT_THAT(
      refused.err,
      HasSubstr("a rack of 2 nodes draws 20.4 kW with boards at 700 W, and 17.2 kW feed it: "
                "limit boards to 500 W (cluster.node.gpu.power), as 'excess: cap' does, or "
                "put at most 1 node in a rack (run.recovery.rack_nodes)"));
  EXPECT_EQ(run("check s.yaml").code, 0);
}

// What the step needs of a building: the smallest feed with which it takes no longer than with
// boards at 500 W, which draw 16 x 500 + 2 x 4,600 W and 48 ports x 25 W.
TEST_F(Power, SolveFindsTheFeedThatIsEnough) {
  write_small("s.yaml");
  const json keyed =
      json::parse(run("run s.yaml --format json --set 'cluster.node.gpu.power=500 W'").out);
  const double time = keyed["step"]["time_s"];
  const json found = json::parse(
      run("solve s.yaml cluster.power.facility --set 'cluster.power={facility: 20 kW}' --for "
          "'step.time_s <= " +
          std::to_string(time * 1.0001) +
          "' --within '17 kW:22 kW' --precision 0.001 --format json")
          .out);
  EXPECT_EQ(found["status"], "ok");
  EXPECT_EQ(found["edge"], "smallest");
  EXPECT_TRUE(found["monotone"].get<bool>());
  EXPECT_NEAR(std::stod(found["answer"]["value"].get<std::string>()), 18.4, 0.03);
}

// 1.2 MW over N nodes of 3,388 W and four boards: (1.2 MW / N - 3,388 W) / 4 a board. More nodes at
// lower boards have the best inside (docs/power.md); sizes whose boards go below 2/7 are left out.
TEST_F(Power, APlanSharesABuildingByTheSizeThatIsBest) {
  const json found =
      json::parse(run("plan " HEADWAY_ROOT
                      "/configs/scenarios/power-1.2-mw-llama-70b-gb200.yaml --top 20 --format json")
                      .out);
  double best = 1e300, before = 0;
  int nodes = 0;
  for (const json& plan : found["plans"]) {
    const int here = plan["nodes"];
    const double board = std::min(1200.0, (1.2e6 / here - 3388) / 4);
    EXPECT_NEAR(plan["board_w"].get<double>(), board, 1e-6) << here;
    EXPECT_GE(plan["step"]["time_s"].get<double>(), before);
    before = plan["step"]["time_s"];
    if (before < best) {
      best = before;
      nodes = here;
    }
  }
  EXPECT_EQ(nodes, found["plans"][0]["nodes"]);
  EXPECT_GT(nodes, 144);  // the most that run at 1,200 W
  EXPECT_LT(nodes, 252);  // the most that run at all
  EXPECT_THAT(found["rejected"].dump(), HasSubstr("the building of 280 nodes"));
}

}  // namespace
}  // namespace headway::apps

// headway solve from the outside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SolveVerb : public ProgramTest {
 protected:
  SolveVerb() { write_small("s.yaml"); }

  [[nodiscard]] json solved(const std::string& arguments) const {
    return json::parse(run("solve s.yaml " + arguments + " --format json").out);
  }
};

// The witness is the sweep of every value: of those that work and meet it, the smallest.
TEST_F(SolveVerb, FindsTheValueThatASweepOfAllFinds) {
  std::istringstream lines(
      run("sweep s.yaml --sweep cluster.nodes=1:32:1 --figures step.tokens_per_s --format jsonl")
          .out);
  std::string line;
  json smallest, below;
  while (std::getline(lines, line)) {
    const json row = json::parse(line);
    if (row["status"] != "ok") {
      continue;
    }
    if (row["figures"]["step.tokens_per_s"].get<double>() >= 300'000) {
      smallest = row;
      break;
    }
    below = row;
  }
  ASSERT_FALSE(smallest.is_null());
  ASSERT_FALSE(below.is_null());
  for (const char* within : {" --within 1:32", ""}) {
    const json found =
        solved(std::string("cluster.nodes --for 'step.tokens_per_s >= 3e5'") + within);
    EXPECT_EQ(found["status"], "ok");
    EXPECT_EQ(found["edge"], "smallest");
    EXPECT_EQ(found["answer"]["value"], smallest["changes"]["cluster.nodes"]) << within;
    EXPECT_EQ(found["answer"]["figure"], smallest["figures"]["step.tokens_per_s"]) << within;
    EXPECT_EQ(found["answer"]["digest"], smallest["digest"]) << within;
    EXPECT_EQ(found["beside"]["value"], below["changes"]["cluster.nodes"]) << within;
    EXPECT_TRUE(found["monotone"].get<bool>()) << within;
  }
}

// Two replicas a node and 72 sequences: 4 nodes have 9 each, 8 nodes break the rule, 9 nodes
// have 4, 18 have 2. Who doubles and is refused takes the nearest and goes on from there, and what
// no cluster can have is not looked at.
TEST_F(SolveVerb, DoublesOnBeyondWhatARuleRefuses) {
  const std::string set = " --set training.global_batch=72 --set cluster.nodes=";
  const auto figure = [&](int nodes) {
    return json::parse(run(fmt::format("run s.yaml{}{} --format json", set, nodes))
                           .out)["step"]["tokens_per_s"]
        .get<double>();
  };
  ASSERT_EQ(run("check s.yaml" + set + "8").code, 2);
  for (const int nodes : {9, 18}) {
    const json found = solved(
        fmt::format("cluster.nodes --for 'step.tokens_per_s >= {}'{}4", 0.99 * figure(nodes), set));
    EXPECT_EQ(found["status"], "ok");
    EXPECT_EQ(found["answer"]["value"], std::to_string(nodes));
    for (const json& point : found["points"]) {
      EXPECT_GE(std::stoi(point.at("value").get<std::string>()), 1);
    }
  }
}

// A step is longer the more sequences it has: the largest batch that a limit allows, a multiple of
// the four replicas.
TEST_F(SolveVerb, FindsTheLargestWhereSmallerOnesMeetIt) {
  const json at_96 = json::parse(
      run("run s.yaml --format json --set training.global_batch=96").out)["step"]["time_s"];
  const json found = solved(
      "global_batch --for 'step.time_s <= " + std::to_string(at_96.get<double>() * 1.001) + "'");
  EXPECT_EQ(found["key"], "training.global_batch");  // no other field ends so
  EXPECT_EQ(found["edge"], "largest");
  EXPECT_EQ(found["answer"]["value"], "96");
  EXPECT_EQ(found["beside"]["value"], "100");
}

// A quantity keeps the unit of its value; the answer is as exact as was asked for.
TEST_F(SolveVerb, HalvesAQuantityToThePrecision) {
  for (const double precision : {0.05, 0.001}) {
    const json found = solved(
        "cluster.node.gpu.power --for 'step.tokens_per_s >= 130000' --within '300 W:700 W' "
        "--precision " +
        std::to_string(precision));
    const std::string answer = found["answer"]["value"], beside = found["beside"]["value"];
    EXPECT_TRUE(answer.ends_with(" W")) << answer;
    const double high = std::stod(answer), low = std::stod(beside);
    EXPECT_LT(low, high);
    EXPECT_LE(high - low, precision * high * 1.0001);
    EXPECT_GE(found["answer"]["figure"].get<double>(), 130'000);
    EXPECT_LT(found["beside"]["figure"].get<double>(), 130'000);
  }
}

// Where any number will do, a rule is broken from some value on, and that is an edge like any
// other: with less power the building does not feed its hosts.
TEST_F(SolveVerb, ARuleThatIsBrokenIsAnEdge) {
  const json found = solved(
      "cluster.power.facility --set cluster.power.facility='1 MW' --for 'step.time_s <= 1000'");
  EXPECT_EQ(found["edge"], "smallest");
  EXPECT_EQ(found["beside"]["status"], "refused");
  const std::string answer = found["answer"]["value"], beside = found["beside"]["value"];
  EXPECT_LT(std::stod(beside), std::stod(answer));
  EXPECT_NEAR(std::stod(beside) / std::stod(answer), 1, 0.02);
  EXPECT_EQ(run("run s.yaml --set cluster.power.facility='" + answer + "'").code, 0);
  const json none = solved("cluster.power.facility --for 'step.time_s <= 1000' --within '1 W:2 W'");
  EXPECT_THAT(none["sentences"].dump(), HasSubstr("1 W does not work: "));
  // What the field itself cannot be is no edge.
  const json share = solved("cluster.fabric.efficiency --for 'step.time_s <= 1000'");
  EXPECT_EQ(share["edge"], "any");
  EXPECT_NE(run("run s.yaml --set cluster.power.facility='" + beside + "'").code, 0);
}

// Every oversubscription in the range is good enough: the largest is the cheapest fabric.
TEST_F(SolveVerb, WhereEveryValueMeetsItTheOneNearestToMissingItIsNamed) {
  const std::string words = HEADWAY_ROOT
      "/configs/scenarios/gpt-3-175b-1024-a100.yaml "
      "cluster.fabric.leaf_oversubscription --set run.until=null --within 1:8 "
      "--format json --for 'step.time_s ";
  const json all = json::parse(run("solve " + words + "<= 70'").out);
  EXPECT_EQ(all["edge"], "any");
  EXPECT_EQ(all["answer"]["value"], "8");
  EXPECT_THAT(all["sentences"].dump(),
              HasSubstr("looked at, from 1 to 8, meets step.time_s <= 70"));
  EXPECT_THAT(all["sentences"].dump(), HasSubstr("The largest, 8, is nearest to missing it"));
  const json slow = json::parse(run("solve " + words + ">= 7'").out);
  EXPECT_EQ(slow["answer"]["value"], "1");
}

// An edge at zero is found to what is small beside the values looked at, in a few steps.
TEST_F(SolveVerb, AnEdgeAtZeroIsNotHalvedForEver) {
  const json found =
      json::parse(run("solve " HEADWAY_ROOT "/configs/scenarios/small-llama-8b-64-h100.yaml "
                      "run.prices.spare_share --for 'cost.spares_usd > 0' --trials 1 "
                      "--format json")
                      .out);
  EXPECT_EQ(found["edge"], "smallest");
  EXPECT_EQ(found["beside"]["value"], "0");
  EXPECT_LT(std::stod(found["answer"]["value"].get<std::string>()), 1e-4);
  EXPECT_LT(found["points"].size(), 60U);
}

// Saves cost more the more often they are, and lose more the rarer: the best lies between.
TEST_F(SolveVerb, SaysThatAFigureIsNotMonotone) {
  write("run.yaml",
        read_file(HEADWAY_SOURCE_DIR "/configs/scenarios/llama-3.1-405b-16k-h100.yaml"));
  const Outcome outcome =
      run("solve run.yaml run.checkpoint.interval --for 'campaign.ettr.p50 >= 0.95' --within "
          "'10 s:3600 s' --trials 20");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("is not monotone in run.checkpoint.interval: it rises up to"));
  EXPECT_THAT(outcome.out, HasSubstr("The condition is met from"));
  EXPECT_THAT(outcome.out, HasSubstr("The smallest run.checkpoint.interval that meets"));
}

TEST_F(SolveVerb, AUnitThatOneEndHasIsThatOfBoth) {
  const std::string words =
      "solve s.yaml cluster.node.gpu.power --for 'step.tokens_per_s >= 130000' ";
  const Outcome both = run(words + "--within '300 W:700 W' --format json");
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(run(words + "--within '300:700 W' --format json").out, both.out);
  EXPECT_EQ(run(words + "--within '300 W:700' --format json").out, both.out);
  // Ends in units of their own are in that of the upper end.
  EXPECT_EQ(run(words + "--within '0.3 kW:700 W' --format json").out, both.out);
  for (const char* wrong : {"300 W:1 s", "0.7 kW:300 W", "1 parsec:2 W"}) {
    EXPECT_EQ(run(words + "--within '" + wrong + "'").err,
              std::string("argument --within ") + wrong +
                  ": write the lower end first, both in units of one kind\n");
  }
}

TEST_F(SolveVerb, GivesTheSameBytesForAnyNumberOfThreads) {
  const std::string words =
      "solve s.yaml cluster.nodes --set run.until.steps=2000 --for "
      "'campaign.wall_days.p95 <= 0.02' --format json --threads ";
  const Outcome one = run(words + "1");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(run(words + "3").out, one.out);
}

// Spares only help: where none does, that is found at once, not after a thousand.
TEST_F(SolveVerb, LooksAtTheLowerEndOfAFieldFirst) {
  const std::string failing =
      "cluster.spares --set run.until.steps=2000 --set run.failures.use=llama-3-54-days --set "
      "run.recovery.use=automated-2024 --set run.trials=20 ";
  for (const char* start : {"0", "8"}) {
    const json found =
        solved(failing + "--set cluster.spares=" + start + " --for 'campaign.ettr.p5 >= 0.5'");
    EXPECT_EQ(found["edge"], "smallest") << start;
    EXPECT_EQ(found["answer"]["value"], "0") << start;
    EXPECT_LE(found["points"].size(), 6U) << start;
    EXPECT_THAT(found["sentences"].back().get<std::string>(),
                HasSubstr("is 0, the least that it can be"));
  }
}

TEST_F(SolveVerb, EndsWithThreeWhereNothingMeetsTheCondition) {
  const Outcome outcome = run("solve s.yaml cluster.nodes --for 'step.time_s <= 1e-3'");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("No value of cluster.nodes looked at meets"));
  EXPECT_THAT(outcome.out, HasSubstr("Nearest is"));
}

TEST_F(SolveVerb, SaysWhyAValueDoesNotWork) {
  const json found = solved(
      "cluster.node.gpu.memory --for 'step.tokens_per_s >= 1' --within "
      "'4 GiB:80 GiB'");
  EXPECT_EQ(found["edge"], "smallest");
  EXPECT_EQ(found["beside"]["status"], "infeasible");
  EXPECT_THAT(found["sentences"].back().get<std::string>(),
              HasSubstr("does not work: stage 0 needs"));
}

TEST_F(SolveVerb, FindsSlipsBeforeAnythingIsSimulated) {
  const std::pair<const char*, const char*> slips[] = {
      {"cluster.nods --for 'step.time_s < 1'",
       "a scenario has no field 'cluster.nods'; did you mean 'cluster.nodes'?"},
      {"power --for 'step.time_s < 1'", "'power' may be cluster.node.gpu.sustained.power, "},
      {"cluster.node.name --for 'step.time_s < 1'", "'cluster.node.name' is no number"},
      {"cluster.nodes --for 'step.tim < 1'", "the result has no number 'step.tim'"},
      {"cluster.nodes --for 'step.time_s == 1'", "write <, <=, > or >="},
      {"cluster.nodes --for 'step.time_s < 1' --within 4", "write LO:HI"},
      {"cluster.nodes --for 'step.time_s < 1' --within 8:4", "the lower end first"},
      {"cluster.nodes --for 'step.time_s < 1' --within 1:many", "'many' is not a number"},
      {"cluster.nodes --for 'step.time_s < 1' --within 1.5:4", "takes whole numbers"},
      {"cluster.nodes --for 'step.time_s < 1' --within 1:4e9",
       "--within, cluster.nodes=4000000000: nodes '4000000000' must be from 1 to 16,777,216"},
      {"cluster.node.gpu.power --for 'step.time_s < 1' --within 300:700",
       "--within, cluster.node.gpu.power=300: power '300' has no unit"},
      {"cluster.nodes --for 'cost.total_usd.p50 <= 1000'",
       "no run of this scenario has cost.total_usd.p50, for want of run.until"},
      {"cluster.nodes --set run.until.steps=10 --for 'cost.total_usd.p50 <= 1000'",
       "no run of this scenario has cost.total_usd.p50, for want of run.prices"},
      {"parallelism.data --for 'step.time_s < 1'", "no value of 'parallelism.data' to start from"},
      {"cluster.nodes", "--for is required"}};
  for (const auto& [words, message] : slips) {
    const Outcome outcome = run(std::string("solve s.yaml ") + words);
    EXPECT_EQ(outcome.code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << words;
  }
}

// An answer whose allocator has no room is marked, as `run` would warn of it.
TEST_F(SolveVerb, WarnsOfAnAnswerWithoutRoomInItsMemory) {
  const std::string question =
      "solve s.yaml training.sequence_length --for 'memory.peak_bytes <= 83e9' ";
  const json found = solved("training.sequence_length --for 'memory.peak_bytes <= 83e9'");
  const std::string warning = found["answer"]["memory_warning"];
  EXPECT_THAT(warning, HasSubstr("an allocator that finds no room"));
  EXPECT_THAT(found["warnings"][0].get<std::string>(), HasSubstr(warning));
  const std::string table = run(question).out;
  EXPECT_THAT(table, HasSubstr("ok, memory nearly full"));
  EXPECT_THAT(table, HasSubstr("Warning: at " + found["answer"]["value"].get<std::string>()));
  const json roomy = solved("training.sequence_length --for 'memory.peak_bytes <= 70e9'");
  EXPECT_EQ(roomy["answer"]["memory_warning"], "");
  EXPECT_TRUE(roomy["warnings"].empty());
}

// A figure of a block that the scenario does not have is no value that none meets.
TEST_F(SolveVerb, SaysWhichPartOfTheScenarioIsMissing) {
  write_small("t.yaml", "run: {until: {steps: 1000}}\n");
  const auto outcome =
      run("solve t.yaml cluster.spares --for 'campaign.time_to_market.ready_days.p95 <= 120'");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("for want of run.bring_up; add it ('headway explain "
                                     "run.bring_up')"));
}

}  // namespace
}  // namespace headway::apps

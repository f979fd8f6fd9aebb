// Jobs on nodes of several kinds from the outside.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

using Unequal = ProgramTest;

const std::string kScenario =
    HEADWAY_ROOT "/configs/scenarios/unequal-llama-70b-256-h100-a100.yaml";

TEST_F(Unequal, AStepIsSimulatedOnBothKinds) {
  const auto done = run("run " + kScenario);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("256 GPUs: 32 nodes (16 of DGX H100, 16 of DGX A100)"),
                              HasSubstr("on the fullest GPU (stage 0)")));
  const auto even = run("run " + kScenario + " --set parallelism.chunk_layers=[] --format json");
  ASSERT_EQ(even.code, 0) << even.err;
  const auto proportional = run("run " + kScenario + " --format json");
  EXPECT_LT(json::parse(proportional.out)["step"]["time_s"].get<double>(),
            0.6 * json::parse(even.out)["step"]["time_s"].get<double>());
}

TEST_F(Unequal, APlanHasLayersInProportion) {
  const auto done = run("plan " + kScenario + " --set search.tensor=[8] --format json --save .");
  ASSERT_EQ(done.code, 0) << done.err;
  const json layout = json::parse(done.out)["plans"][0]["layout"];
  EXPECT_FALSE(layout["chunk_layers"].empty());
  EXPECT_EQ(run("run plan-1.yaml").code, 0);
  EXPECT_THAT(
      run("plan --full " + kScenario + " --set search.tensor=[8]").out,
      AllOf(HasSubstr("32 nodes (16 of DGX H100, 16 of DGX A100)"), HasSubstr("layers 59, 21"),
            HasSubstr("even, and in proportion to the speed of each stage's GPUs")));
}

TEST_F(Unequal, AStepIsExplainedByTheKernelsOfTheGpusItWaitsFor) {
  const auto done = run("run " + kScenario + " --explain --report page.html");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("matrix product, on A100 80 GB SXM"));
  EXPECT_THAT(read("page.html"), HasSubstr("16 of DGX A100"));
}

TEST_F(Unequal, WhatIsNotModelledIsRefusedWithItsPlace) {
  write("train.log", "iteration 1/ 10 | elapsed time per iteration (ms): 3000.0 |\n");
  for (const auto& [verb, rest] : {std::pair("expect ", ""),
                                   {"collective all_reduce --cluster ", ""},
                                   {"topo ", ""},
                                   {"diagnose ", " train.log"}}) {
    const auto done = run(verb + kScenario + rest);
    EXPECT_EQ(done.code, 2) << verb;
    EXPECT_THAT(done.err, HasSubstr("nodes of several kinds is not modelled; leave 'other_nodes' "
                                    "out"))
        << verb;
  }
}

// The same nodes under two names have the drill of one name, and a slow GPU of a slow stage that is
// slower than the other stage holds up a step for longer than itself.
TEST_F(Unequal, AFaultStrikesANodeOfEitherKind) {
  const auto drilled = [&](const std::string& more) {
    const auto done = run("drill " + kScenario + more + " --format json");
    EXPECT_EQ(done.code, 0) << done.err;
    json result = json::parse(done.out);
    result.erase("scenario");
    result.erase("resolved");
    return result;
  };
  const std::string fault = " --fault gpu-slow@node20 --set parallelism.chunk_layers=[]";
  EXPECT_EQ(drilled(fault + " --set 'cluster.other_nodes=[{nodes: 16, node: {use: dgx-h100, name: "
                            "other}}]'"),
            drilled(fault + " --set cluster.other_nodes=[]"));
  const auto step = [&](const char* node) {
    const auto done = run("drill " + kScenario + " --fault gpu-slow@" + node);
    EXPECT_EQ(done.code, 0) << done.err;
    return done.out;
  };
  EXPECT_THAT(step("node20"), HasSubstr("at node 20"));
  EXPECT_NE(step("node20"), step("node1"));
}

TEST_F(Unequal, EachKindHasItsPriceOfAGpuHour) {
  const std::string priced =
      " --set run.prices=h100-owned-2024 --set 'run.until={steps: 1000}'"
      " --set run.trials=2 --format json";
  const auto dollars = [&](const std::string& price) {
    const auto done = run("run " + kScenario + priced + price);
    EXPECT_EQ(done.code, 0) << done.err;
    return json::parse(done.out)["cost"]["gpus_usd"].get<double>();
  };
  const auto other = [](const std::string& price) {
    return " --set 'cluster.other_nodes=[{nodes: 16, node: {use: dgx-a100}, gpu_hour: " + price +
           "}]'";
  };
  const double one = dollars(" --set 'run.prices.gpu_hour=2 USD/h'");
  // Half of the GPUs at 1 USD instead of 2.
  EXPECT_NEAR(dollars(" --set 'run.prices.gpu_hour=2 USD/h'" + other("1 USD/h")) / one, 0.75,
              1e-12);
  EXPECT_EQ(dollars(" --set 'run.prices.gpu_hour=2 USD/h'" + other("2 USD/h")), one);
  const auto alone = run("run " + kScenario + other("1 USD/h"));
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("without one of the others in 'run.prices.gpu_hour'"));
  EXPECT_EQ(
      run("run " + kScenario + priced + " --set 'run.prices.gpu_hour=0 USD/h'" + other("1 USD/h"))
          .code,
      2);
}

TEST_F(Unequal, ARuleOfAnotherKindsGpuNamesItsPlace) {
  const auto done = run("check " + kScenario + " --set training.precision=fp8");
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("A100"));
  const auto power =
      run("check " + kScenario +
          " --set 'cluster.other_nodes=[{nodes: 16, node: {use: dgx-a100, gpu: {power: 40 W}}}]'");
  EXPECT_EQ(power.code, 2);
  EXPECT_THAT(power.err, HasSubstr("a power limit of 40 W leaves nothing above the"));
}

}  // namespace
}  // namespace headway::apps

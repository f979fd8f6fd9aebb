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
      run("plan " + kScenario + " --set search.tensor=[8]").out,
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
  for (const char* verb : {"drill ", "expect ", "collective all_reduce --cluster "}) {
    const std::string fault = std::string(verb) == "drill " ? " --fault gpu-slow@node1" : "";
    const auto done = run(verb + kScenario + fault);
    EXPECT_EQ(done.code, 2) << verb;
    EXPECT_THAT(done.err, HasSubstr("nodes of several kinds is not modelled; leave 'other_nodes' "
                                    "out"))
        << verb;
  }
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

// `headway run --network packet` from the outside.
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using PacketStepVerb = ProgramTest;

const std::string kFast = " --set training.global_batch=16 --set model.layers=2 ";

TEST_F(PacketStepVerb, TimesTheStepByPackets) {
  write_small("s.yaml", "run: {until: {steps: 10}}\n");
  const std::string verb = "run s.yaml" + kFast + "--format json --network ";
  const auto done = run(verb + "packet");
  ASSERT_EQ(done.code, 0) << done.err;
  const json result = json::parse(done.out);
  const json& packets = result["step"]["packets"];
  EXPECT_EQ(packets["transport"], "credits");
  EXPECT_GT(packets["packet_hops"], 1000);
  ASSERT_FALSE(packets["collectives"].empty());
  for (const json& c : packets["collectives"]) {
    EXPECT_NEAR(c["times"].get<double>(),
                c["packet_time_s"].get<double>() / c["fluid_time_s"].get<double>(), 1e-9);
    EXPECT_LE(c["simulated_bytes"], c["bytes"]);
  }
  const json fluid = json::parse(run(verb + "fluid").out);
  EXPECT_FALSE(fluid["step"].contains("packets"));
  EXPECT_EQ(packets["fluid_step_s"], fluid["step"]["time_s"]);
  EXPECT_NEAR(result["step"]["time_s"].get<double>() / fluid["step"]["time_s"].get<double>(), 1,
              0.01);
  EXPECT_TRUE(result["campaign"].is_null());
  EXPECT_FALSE(fluid["campaign"].is_null());
  EXPECT_THAT(done.out, HasSubstr("packets (sampled per collective)"));
  EXPECT_THAT(done.out, HasSubstr("all is training's traffic, of one class"));
  for (const char* threads : {"1", "8"}) {
    const json again = json::parse(run(verb + "packet --threads " + threads).out);
    EXPECT_EQ(again["step"], result["step"]) << threads;
  }
}

TEST_F(PacketStepVerb, SaysWhatPacketsSay) {
  write_small("s.yaml");
  const auto screen = run("run s.yaml" + kFast + "--network packet:dcqcn");
  ASSERT_EQ(screen.code, 0) << screen.err;
  EXPECT_THAT(screen.out, HasSubstr("network  packets (sampled per collective) under dcqcn"));
  const auto table = run("run s.yaml" + kFast + "--network packet --show packets");
  EXPECT_THAT(table.out, HasSubstr("Collectives by packets"));
  EXPECT_THAT(table.out, HasSubstr("Network: packets (sampled per collective) under credits"));
  EXPECT_THAT(table.out, HasSubstr("stalls for credits; the longest queue had"));
}

// A table of the user's own says that packets take 1.5 times as long in rings on this fabric: the
// upper end of the interval moves by 1.5 to the power of the share that waits for them.
TEST_F(PacketStepVerb, TheFlowModelsErrorWidensTheIntervalOfFluidSteps) {
  write_small("s.yaml");
  std::filesystem::create_directories(folder_ / "own/validation");
  write("own/validation/flow_model.csv",
        "fabric,transport,gpus,traffic,message_bytes,times\n"
        "\"rail-optimized NDR InfiniBand, 64 x DGX H100\",credits,64,all_reduce,65536,1.5\n");
  const std::string verb = "run s.yaml --set training.global_batch=8 --format json";
  const json plain = json::parse(run(verb).out)["step"];
  const json result = json::parse(run(verb, "HEADWAY_CONFIGS=own").out);
  const json& step = result["step"];
  EXPECT_EQ(step["time_s"], plain["time_s"]);
  EXPECT_EQ(step["time_interval_s"][0], plain["time_interval_s"][0]);
  const double share = step["breakdown_s"]["data"].get<double>() / step["time_s"].get<double>();
  ASSERT_GT(share, 0.005);
  EXPECT_NEAR(step["time_interval_s"][1].get<double>() / plain["time_interval_s"][1].get<double>(),
              std::pow(1.5, share), 1e-9);
  EXPECT_THAT(result["assumptions"].dump(), HasSubstr("flow_model.csv"));
  EXPECT_THAT(result["warnings"].dump(), HasSubstr("takes 1.50 times as long by packets"));
  const json packets = json::parse(run(verb + " --network packet", "HEADWAY_CONFIGS=own").out);
  EXPECT_THAT(packets["warnings"].dump(), testing::Not(HasSubstr("fluid flows are")));
}

TEST_F(PacketStepVerb, RefusesByName) {
  write_small("s.yaml");
  const auto err = [&](const std::string& more) {
    const auto done = run("run s.yaml" + kFast + "--network " + more);
    EXPECT_EQ(done.code, 2) << more;
    return done.err;
  };
  EXPECT_THAT(
      err("flit"),
      HasSubstr("there is no network 'flit'; there are fluid, packet and packet:TRANSPORT"));
  EXPECT_THAT(err("packet:tcp"),
              HasSubstr("there is no transport 'tcp'; there are credits pauses dcqcn"));
  EXPECT_THAT(err("packet --explain"), HasSubstr("--network packet times one step"));
  EXPECT_THAT(err("packet --power p.csv"), HasSubstr("--network packet times one step"));
  EXPECT_THAT(err("packet --keep kept"), HasSubstr("--keep keeps trials of a run"));
  const auto large = err("packet --set cluster.nodes=2050 --set training.global_batch=4100");
  EXPECT_THAT(large, HasSubstr("--set cluster.nodes=2050"));
  EXPECT_THAT(large, HasSubstr("at most 16,384 GPUs, and this one has 16,400"));
}

}  // namespace
}  // namespace headway::apps

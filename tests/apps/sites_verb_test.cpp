// Clusters on several sites from the outside.
#include <gmock/gmock.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Sites : public ProgramTest {
 protected:
  static std::string scenario(const std::string& name) {
    return HEADWAY_ROOT "/configs/scenarios/" + name + ".yaml";
  }
  json result(const std::string& arguments) const {
    const auto done = run(arguments + " --format json");
    EXPECT_EQ(done.code, 0) << done.err;
    return json::parse(done.out);
  }
};

TEST_F(Sites, AWiderWayIsFasterAndItsFiguresAreTold) {
  const std::string file = scenario("two-sites-llama-70b-1024-h100");
  const json narrow = result("run " + file + " --set 'cluster.sites.bandwidth=100 Gbps'");
  const json wide = result("run " + file + " --set 'cluster.sites.bandwidth=800 Gbps'");
  EXPECT_GT(narrow["step"]["time_s"], 1.3 * wide["step"]["time_s"].get<double>());
  EXPECT_EQ(narrow["step"]["sites"]["step_bytes"], wide["step"]["sites"]["step_bytes"]);
  const auto shown = run("run " + file + " --show sites");
  EXPECT_THAT(shown.out, HasSubstr("payload of one into the wide area"));
  EXPECT_EQ(result("run " + file + " --set cluster.sites=null")["step"]["sites"], nullptr);
}

TEST_F(Sites, FoldedAndUnfoldedStepsAreTheSame) {
  const std::string small = scenario("two-sites-llama-70b-1024-h100") +
                            " --set cluster.nodes=16 --set training.global_batch=64 ";
  for (const std::string& more : {std::string(), std::string("--set cluster.sites.collective=flat"),
                                  std::string("--set training.local_steps.steps=100")}) {
    const json folded = result("run " + small + more + " --fold on");
    const json whole = result("run " + small + more + " --fold off");
    EXPECT_EQ(folded["step"]["result_digest"], whole["step"]["result_digest"]) << more;
    EXPECT_EQ(folded["step"]["sites"], whole["step"]["sites"]) << more;
  }
}

TEST_F(Sites, ThatTrainApartSayWhatIsOutsideTheModel) {
  const json apart = result("run " + scenario("two-sites-diloco-llama-70b-1024-h100"));
  EXPECT_NEAR(apart["step"]["sites"]["exchange"]["bytes"].get<double>(), 70.55e9 / 2 / 4, 2e7);
  EXPECT_THAT(apart["assumptions"].dump(), HasSubstr("changes the loss of a token"));
}

TEST_F(Sites, WhatIsNotModelledIsRefusedByName) {
  const std::string file = scenario("two-sites-llama-70b-1024-h100");
  const auto stages = run("check " + file + " --set parallelism.rank_order=tp-cp-dp-pp");
  EXPECT_EQ(stages.code, 2);
  EXPECT_THAT(stages.err, HasSubstr("stages of one pipeline on different sites"));
  const auto packets =
      run("collective all_reduce --cluster " + file + " --gpus 1024 --granularity stepped");
  EXPECT_EQ(packets.code, 2);
  EXPECT_THAT(packets.err, HasSubstr("use --granularity fluid"));
  const auto fluid = run("collective all_reduce --cluster " + file + " --gpus 1024 -b 1G -e 1G");
  EXPECT_EQ(fluid.code, 0) << fluid.err;
}

TEST_F(Sites, APlanKeepsReplicasOnSites) {
  const json plan = result("plan " + scenario("two-sites-llama-70b-1024-h100") +
                           " --set cluster.nodes=16 --set training.global_batch=128"
                           " --set search.tensor='[8]' --set search.pipeline='[2,4]'");
  ASSERT_FALSE(plan["plans"].empty());
  for (const json& entry : plan["plans"]) {
    EXPECT_EQ(entry["layout"]["rank_order"], "tp-cp-pp-dp");
  }
}

// Of two sites each way is cut every 15 days for L = 5 minutes; training apart feels a cut at the
// next of its exchanges only, E = 100 steps of 16.1 s apart: L / E (1 - e^(-E / L)) = 0.185 of
// them.
TEST_F(Sites, CutWaysStopEveryStepOfAllAndFewOfThoseThatTrainApart) {
  const std::string file = scenario("two-sites-failing-ways-llama-70b-1024-h100");
  const json together = result("run " + file)["campaign"];
  const auto of = [](const json& campaign, const std::string& name) {
    for (const auto& hazard : campaign["interruptions_by_hazard"]) {
      if (hazard["hazard"] == name) {
        return hazard["mean"].get<double>();
      }
    }
    return -1.0;
  };
  // 2 ways x 30 d / 15 d.
  EXPECT_NEAR(of(together, "Short interruption"), 4, 0.6);
  EXPECT_GT(together["ledger_gpu_s"]["degraded"], 0);
  const json apart =
      result("run " + file +
             " --set training.local_steps.steps=100 --set run.checkpoint.bytes_per_parameter=22")
          ["campaign"];
  EXPECT_NEAR(of(apart, "Short interruption"), 4 * 0.185, 0.2);
  const auto shown = run("run " + file + " --show assumptions");
  EXPECT_THAT(shown.out, HasSubstr("ends, waits for the way and restarts"));
}

// How long a way is gone, or slow, is drawn from an exponential law: said of each hazard with its
// mean, and of no hazard of another job.
TEST_F(Sites, HowLongWaysAreGoneIsAmongTheAssumptions) {
  const auto of = [](const json& result) {
    std::map<std::string, std::string> told;
    for (const json& one : result["assumptions"]) {
      if (one["key"].get<std::string>().ends_with(".lasts")) {
        EXPECT_EQ(one["value"], "an exponential time");
        told[one["key"]] = one["why"];
      }
    }
    return told;
  };
  const auto told = of(result("run " + scenario("two-sites-failing-ways-llama-70b-1024-h100") +
                              " --set run.trials=2"));
  ASSERT_EQ(told.size(), 3U);
  EXPECT_THAT(told.at("run.failures.Short interruption.lasts"), HasSubstr("of 5 min in the mean"));
  EXPECT_THAT(told.at("run.failures.Cut fibre.lasts"), HasSubstr("of 720 min in the mean"));
  EXPECT_THAT(told.at("run.failures.One of two fibres.lasts"), HasSubstr("of 720 min"));
  EXPECT_TRUE(of(result("run " + scenario("small-llama-8b-64-h100"))).empty());
}

// From the first hour on some way has half its rate: steps are those of half the
// bandwidth, with exchanges of sites that train apart as without.
TEST_F(Sites, ASlowWayMakesTheStepThatLessBandwidthMakes) {
  const std::string hazard =
      " --set 'run.failures={name: slow, hazards: [{name: slow, component: wide_area, per: site, "
      "effect: slow_site, keeps: 0.5, mtbf: 1 h, lasts: 20 h}]}' --set run.trials=1";
  for (const std::string& more :
       {std::string(" --set 'cluster.sites.bandwidth=100 Gbps'"),
        std::string(" --set 'cluster.sites.bandwidth=4 Gbps' --set training.local_steps.steps=20 "
                    "--set run.checkpoint.bytes_per_parameter=22")}) {
    const std::string words =
        "run " + scenario("two-sites-failing-ways-llama-70b-1024-h100") + more + hazard;
    const json slow = result(words);
    const json narrow = result(words + (more.find("100 Gbps") != std::string::npos
                                            ? " --set 'cluster.sites.bandwidth=50 Gbps'"
                                            : " --set 'cluster.sites.bandwidth=2 Gbps'"));
    const json& ledger = slow["campaign"]["ledger_gpu_s"];
    const double steps = ledger["useful"].get<double>() + ledger["degraded"].get<double>();
    const double longer =
        narrow["step"]["time_s"].get<double>() / slow["step"]["time_s"].get<double>();
    EXPECT_GT(longer, 1.1) << more;
    EXPECT_NEAR(steps / ledger["useful"].get<double>(), longer, 2e-3 * longer) << more;
  }
}

}  // namespace
}  // namespace headway::apps

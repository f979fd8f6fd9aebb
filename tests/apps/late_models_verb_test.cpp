// Hybrids, sparse attention, optimizers and ways to stay up, from the command line.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class LateModels : public ProgramTest {
 protected:
  json of(const std::string& arguments) const {
    const auto outcome = run("run " + arguments + " --format json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out) : json();
  }
  /// One of 2 nodes fails every 12 h and is back after 1 h; 30 days.
  void write_failing(const std::string& name) const {
    write_small(
        name,
        "run:\n"
        "  until: {wall: 30 d}\n"
        "  trials: 4\n"
        "  failures: {name: f, hazards: [{name: node, component: gpu, per: node, mtbf: 1 d}]}\n"
        "  recovery: {repair: 1 h}\n");
  }
  json failing(const std::string& set) const {
    return of("s.yaml --set cluster.spares=2 --set parallelism.sharding=zero0 " + set)["campaign"];
  }
};

double ettr(const json& campaign) { return campaign["ettr"]["p50"].get<double>(); }

TEST_F(LateModels, OfShippedScenariosRun) {
  for (const char* name :
       {"qwen3-next-80b-64-b200", "gemma-4-31b-64-h100", "deepseek-v3.2-2048-h800",
        "muon-moonlight-16b-64-h100", "packing-llama-8b-64-h100",
        "domain-144-deepseek-v3-512-gb300", "diagnose-llama-8b-64-h100"}) {
    const json result =
        of(std::string(HEADWAY_ROOT "/configs/scenarios/") + name + ".yaml --set run.trials=2");
    EXPECT_EQ(result["status"], "ok") << name;
  }
}

// What 128 ranks of experts exchange is a sixth of the step in one domain. In domains of 64 half of
// it passes cards of 92 GB/s in place of NVLink's 722 GB/s: 7.8 / 2 = 3.9 times as long, and the
// step 1 + 2.9 / 6 = 1.5 times, less what NVLink and cards carry beside one another. 64 ranks fit
// again, and a token visits as many experts.
TEST_F(LateModels, ADomainThatHoldsAllExpertsIsFaster) {
  const auto step = [this](const std::string& set) {
    return of(HEADWAY_ROOT "/configs/scenarios/domain-144-deepseek-v3-512-gb300.yaml " + set +
              " --set run.trials=2")["step"]["time_s"]
        .get<double>();
  };
  const std::string rack = "--set cluster.node.scale_up.domain_gpus=64 ";
  const double whole = step("");
  EXPECT_GT(step(rack), 1.3 * whole);
  EXPECT_LT(step(rack), 1.5 * whole);
  EXPECT_NEAR(step(rack + "--set parallelism.expert=64") / whole, 1, 0.02);
}

TEST_F(LateModels, MatricesBesideAnEncoderOnItsOwnStageAreRefusedByName) {
  for (const char* state : {"muon", "soap"}) {
    const auto refused = run(std::string("run " HEADWAY_ROOT
                                         "/configs/scenarios/qwen2.5-vl-7b-own-stage-48-h100.yaml "
                                         "--set training.optimizer_state=") +
                             state);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr(std::string("optimizer_state ") + state +
                                       " of an encoder of images is not simulated"));
  }
}

TEST_F(LateModels, HeadsThatNoFlashKernelTakesAreSaid) {
  const std::string gemma = "run " HEADWAY_ROOT "/configs/scenarios/gemma-4-31b-64-h100.yaml ";
  const auto assumed = run(gemma + "--show assumptions --set run.trials=2");
  EXPECT_EQ(assumed.code, 0);
  EXPECT_THAT(assumed.out, HasSubstr("flash kernels take heads of up to 256"));
  const std::string narrow = " --set model.full_attention.head_dim=256";
  EXPECT_THAT(run(gemma + "--show assumptions --set run.trials=2" + narrow).out,
              Not(HasSubstr("flash kernels take heads of up to 256")));
  // Ten layers with heads half as wide: less work, and an interval that is narrower by more.
  const json wide = of(gemma.substr(4) + "--set run.trials=2")["step"];
  const json slim = of(gemma.substr(4) + "--set run.trials=2" + narrow)["step"];
  const auto width = [](const json& step) {
    return step["time_interval_s"][1].get<double>() / step["time_s"].get<double>();
  };
  EXPECT_GT(wide["time_s"], slim["time_s"]);
  EXPECT_GT(width(wide), width(slim));
}

TEST_F(LateModels, OptimizersThatOwnMatricesRefuseShardedGradients) {
  write_small("s.yaml");
  EXPECT_EQ(run("run s.yaml --set training.optimizer_state=muon").code, 0);
  const auto sharded =
      run("check s.yaml --set training.optimizer_state=muon --set parallelism.sharding=zero2 --set "
          "parallelism.pipeline=1");
  EXPECT_EQ(sharded.code, 2);
  EXPECT_THAT(sharded.err, HasSubstr("optimizer_state muon with sharding zero2"));
}

TEST_F(LateModels, AMoveToASpareCostsLessThanARestartAndATaxEveryStep) {
  write_failing("s.yaml");
  const double plain = ettr(failing(""));
  EXPECT_GT(ettr(failing("--set 'run.recovery.migration={stall: 30 s}'")), plain);
  const json taxed = failing("--set 'run.recovery.step_tax={coordination: 100 ms}'");
  EXPECT_LT(ettr(taxed), plain);
  EXPECT_GT(taxed["ledger_gpu_s"]["protection"].get<double>(), 0);
  const auto alone = run(
      "check s.yaml --set 'run.recovery.migration={stall: 30 s}' --set parallelism.sharding=zero1");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("the lost node's part of the state is nowhere else"));
}

TEST_F(LateModels, WarmStandbysTakeOverFasterAndAreRefusedBesideOthers) {
  write_failing("s.yaml");
  const std::string slow =
      "--set run.recovery.replacement='10 min' --set run.recovery.container_start='5 min' --set "
      "run.recovery.in_process_start='10 s' ";
  const double cold = ettr(failing(slow));
  const double warm =
      ettr(failing(slow + "--set 'run.recovery.standby={nodes: 1, takeover: 15 s}'"));
  EXPECT_GT(warm, cold);
  const auto many =
      run("check s.yaml --set cluster.spares=1 --set 'run.recovery.standby={nodes: 2, takeover: 15 "
          "s}'");
  EXPECT_EQ(many.code, 2);
  EXPECT_THAT(many.err, HasSubstr("2 spares are kept warm, but cluster.spares has 1"));
  const auto racks =
      run("check s.yaml --set cluster.spares=1 --set 'run.recovery={rack_nodes: 2, rack_spares: 1, "
          "standby: {nodes: 1, takeover: 15 s}}'");
  EXPECT_EQ(racks.code, 2);
  EXPECT_THAT(racks.err, HasSubstr("is not modelled beside 'rack_spares'"));
}

TEST_F(LateModels, NodesAreRetiredByAScore) {
  write_failing("s.yaml");
  const std::string rule =
      "--set run.recovery.retired_back='1 d' "
      "--set 'run.recovery.retire_score={limit: 2, ";
  // Two failures of a node within ten days are frequent, within a minute there are none.
  EXPECT_GT(failing(rule + "window: 10 d}'")["nodes_retired"].get<double>(), 1);
  EXPECT_EQ(failing(rule + "window: 1 min}'")["nodes_retired"].get<double>(), 0);
  const auto both =
      run("check s.yaml --set 'run.recovery.retire_score={limit: 2, window: 1 d, half_life: 1 d}'");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("a score forgets failures in one way"));
}

TEST_F(LateModels, LengthsOfDocumentsComeFromAFile) {
  write_small("s.yaml");
  write("lengths.csv", "tokens,share\n256,9\n4096,1\n");
  const auto outcome = run("run s.yaml --show assumptions --set training.documents=lengths.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("training.documents"));
}

}  // namespace
}  // namespace headway::apps

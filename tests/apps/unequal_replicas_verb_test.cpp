// Jobs whose replicas go on with a part missing, from the outside.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class UnequalReplicas : public ProgramTest {
 protected:
  /// Weeks of a job of 8B on 64 H100 whose GPUs and nodes break often; eight replicas of a node.
  static std::string narrows() {
    return std::string("run ") + HEADWAY_ROOT +
           "/configs/scenarios/small-llama-8b-64-h100.yaml --set cluster.spares=0 --set "
           "'parallelism={tensor: 8, pipeline: 1, data: 8, sharding: zero0}' --set "
           "training.global_batch=128 --set 'run={until: {wall: 20 d}, trials: 40, checkpoint: "
           "{interval: 10 min}, failures: {name: f, hazards: [{name: GPU, component: gpu, per: "
           "gpu, mtbf: 100 d}]}, recovery: {use: automated-2024, repair: 1 d, eviction: gpu, "
           "elastic: {stall: 60 s, rejoin: 60 s, broken_replica: narrows}}}'";
  }
  /// The same over pipelines of two stages of two nodes each.
  static std::string reroutes() {
    return narrows() +
           " --set 'parallelism={tensor: 8, pipeline: 2, data: 4, sharding: zero0}' --set "
           "'run.failures.hazards[0].mtbf=50 d' --set "
           "run.recovery.eviction=node --set run.recovery.elastic.broken_replica=reroutes";
  }
  json result(const std::string& arguments) const {
    const auto done = run(arguments + " --format json");
    EXPECT_EQ(done.code, 0) << done.err;
    return json::parse(done.out);
  }
  static double share(const json& result, const char* account) {
    const json& ledger = result["campaign"]["ledger_gpu_s"];
    double all = 0;
    for (const auto& [name, value] : ledger.items()) {
      all += name == "spare_idle" ? 0 : value.get<double>();
    }
    return ledger[account].get<double>() / all;
  }
};

TEST_F(UnequalReplicas, NarrowInsteadOfLeaving) {
  const json narrow = result(narrows());
  const json leave = result(narrows() +
                            " --set run.recovery.eviction=node --set "
                            "run.recovery.elastic.broken_replica=leaves");
  EXPECT_GT(narrow["campaign"]["ettr"]["p50"], leave["campaign"]["ettr"]["p50"]);
  // 64 GPUs, each out for a day of 101: 0.64 of them at a time.
  EXPECT_GT(share(narrow, "degraded"), 0.002);
  EXPECT_LT(share(narrow, "degraded"), share(leave, "degraded"));
  EXPECT_EQ(share(narrow, "wait"), 0);
  EXPECT_THAT(narrow["assumptions"].dump(), HasSubstr("with 7 of 8 tensor ranks it does"));
  const auto shown = run(narrows() +
                         " --set run.recovery.elastic.boost=1.3 --set "
                         "run.recovery.elastic.pack=true --show assumptions");
  EXPECT_THAT(shown.out, HasSubstr("run.recovery.elastic.boost"));
  EXPECT_THAT(shown.out, HasSubstr("run.recovery.elastic.pack"));
}

TEST_F(UnequalReplicas, RerouteInsteadOfLeaving) {
  const json around = result(reroutes());
  const json leave = result(reroutes() + " --set run.recovery.elastic.broken_replica=leaves");
  EXPECT_GT(share(around, "degraded"), 0.01);
  EXPECT_LT(share(around, "degraded"), share(leave, "degraded"));
  EXPECT_GT(around["campaign"]["step_simulations"], 0);
  EXPECT_THAT(around["assumptions"].dump(), HasSubstr("d / (d - f), f lost of d"));
}

TEST_F(UnequalReplicas, AreTheSameOnAnyNumberOfThreads) {
  const std::string few = reroutes() + " --set run.trials=8 --threads ";
  EXPECT_EQ(result(few + "1")["campaign"], result(few + "3")["campaign"]);
}

TEST_F(UnequalReplicas, APlanKeepsLayoutsThatHaveStages) {
  std::string words = reroutes();
  words.replace(0, 3, "plan");
  const json plan = result(words + " --set search.tensor='[8]' --set search.pipeline='[1,2]'");
  ASSERT_FALSE(plan["plans"].empty());
  for (const json& entry : plan["plans"]) {
    EXPECT_EQ(entry["layout"]["pipeline"], 2);
    EXPECT_EQ(entry["layout"]["sharding"], "zero0");
  }
}

TEST_F(UnequalReplicas, AreRefusedByNameWhereTheyAreNotModelled) {
  std::string words = narrows();
  words.replace(0, 3, "drill");
  const auto drill = run(words + " --fault gpu-dead@node1");
  EXPECT_EQ(drill.code, 2);
  EXPECT_THAT(drill.err, HasSubstr("a drill knows no replicas that go on with a part missing"));
  const auto sharded = run(narrows() +
                           " --set parallelism.sharding=hsdp --set "
                           "parallelism.shard_group_size=2");
  EXPECT_EQ(sharded.code, 2);
  EXPECT_THAT(sharded.err, HasSubstr("do not hold all of their state"));
}

TEST_F(UnequalReplicas, PublishedThroughputIsAmongTheCases) {
  const json rows = result("validate --goodput " + std::string(HEADWAY_ROOT) +
                           "/configs/validation/goodput_cases.csv")["rows"];
  int found = 0;
  for (const json& row : rows) {
    if (row["case_id"].get<std::string>().find("-ntp-") != std::string::npos) {
      ++found;
      EXPECT_EQ(row["agrees"], true) << row.dump();
      EXPECT_LT(std::abs(row["error"].get<double>()), 0.02);
    }
  }
  EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace headway::apps

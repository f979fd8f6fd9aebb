#include "sim/report/run_json.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/report/sample_report.h"

namespace headway::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) {
    out.push_back(key);
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(RunJson, HasTheKeysOfTheContractInItsOrder) {
  const Json json = Json::parse(run_json(sample_report_with_campaign()));
  EXPECT_EQ(keys(json),
            (Names{"schema", "version", "status", "reasons", "scenario", "step", "memory",
                   "campaign", "cost", "limit", "assumptions", "warnings", "timing"}));
  EXPECT_EQ(keys(json["scenario"]), (Names{"name", "digest", "seed"}));
  EXPECT_EQ(keys(json["step"]),
            (Names{"time_s", "time_interval_s", "tokens_per_s", "tokens_per_s_per_gpu", "mfu",
                   "mfu_causal", "hfu", "model_tflops_per_gpu", "breakdown_s", "critical_path_s",
                   "links", "event_digest", "result_digest"}));
  EXPECT_EQ(
      keys(json["step"]["breakdown_s"]),
      (Names{"compute", "launch", "tensor", "pipeline_bubble", "stage_imbalance", "pipeline_p2p",
             "data", "context", "expert", "optimizer", "input", "checkpoint", "other"}));
  EXPECT_EQ(keys(json["step"]["critical_path_s"]),
            (Names{"compute", "launch", "tensor", "pipeline_p2p", "data", "context", "expert",
                   "optimizer", "input", "checkpoint", "other"}));
  EXPECT_EQ(keys(json["memory"]),
            (Names{"fits", "peak_bytes", "capacity_bytes", "peak_stage", "by_kind_bytes"}));
  EXPECT_EQ(
      keys(json["memory"]["by_kind_bytes"]),
      (Names{"weights", "gradients", "optimizer", "activations", "logits", "buffers", "slack"}));
  EXPECT_EQ(keys(json["campaign"]),
            (Names{"trials", "wall_days", "ettr", "goodput", "interruptions", "ledger_gpu_s",
                   "replicas_hit", "step_simulations", "advice", "closed_form_ettr"}));
  EXPECT_EQ(keys(json["campaign"]["ledger_gpu_s"]),
            (Names{"useful", "lost", "checkpoint", "detect", "diagnose", "restart", "load", "wait",
                   "degraded", "spare_idle", "maintenance"}));
  EXPECT_EQ(keys(json["campaign"]["ettr"]), (Names{"p5", "p50", "p95", "mean"}));
}

TEST(RunJson, KeepsEveryBitOfANumber) {
  RunReport report = sample_report();
  report.step.time = core::Seconds(4.0 / 3.0);
  report.step.mfu = std::numeric_limits<double>::denorm_min();
  const Json json = Json::parse(run_json(report));
  EXPECT_EQ(json["step"]["time_s"].get<double>(), 4.0 / 3.0);
  EXPECT_EQ(json["step"]["mfu"].get<double>(), std::numeric_limits<double>::denorm_min());
}

TEST(RunJson, WritesWhatIsAbsentOrNotFiniteAsNull) {
  RunReport report = sample_report();
  report.step.hfu = std::numeric_limits<double>::quiet_NaN();
  report.step.tokens_per_s = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(run_json(report));
  EXPECT_TRUE(json["step"]["hfu"].is_null());
  EXPECT_TRUE(json["step"]["tokens_per_s"].is_null());
  EXPECT_TRUE(json["campaign"].is_null());
  EXPECT_TRUE(json["cost"].is_null());
}

TEST(RunJson, CostIsInDollarsAndKilowattHours) {
  RunReport report = sample_report();
  price::Bill bill;
  bill.energy = core::Joules(7.2e6);
  bill.usd_per_million_tokens = 0.5;
  report.cost = CostReport{{1, 2, 3, 2, 0}, bill, "list: a page, 2025"};
  const Json cost = Json::parse(run_json(report))["cost"];
  EXPECT_EQ(keys(cost), (Names{"total_usd", "usd_per_million_tokens", "usd_per_useful_gpu_hour",
                               "energy_kwh", "price_source"}));
  EXPECT_EQ(cost["energy_kwh"].get<double>(), 2);  // 7.2 MJ / 3.6 MJ
  EXPECT_EQ(cost["total_usd"]["p95"].get<double>(), 3);
}

TEST(RunJson, NamesThatAreNoUtf8DoNotBreakTheOutput) {
  RunReport report = sample_report();
  report.scenario.name = "bad \xff byte";
  EXPECT_NO_THROW({ const Json json = Json::parse(run_json(report)); });
}

TEST(RunCsv, ListsTheLeavesWithThePathsOfAssert) {
  const std::string csv = run_csv(sample_report());
  EXPECT_EQ(csv.rfind("key,value\nschema,headway.run/1\n", 0), 0U);
  EXPECT_NE(csv.find("\nstep.time_s,4.0\n"), std::string::npos);
  EXPECT_NE(csv.find("\nstep.time_interval_s[1],4.5\n"), std::string::npos);
  EXPECT_NE(csv.find("\ncampaign,\n"), std::string::npos);
}

}  // namespace
}  // namespace headway::report

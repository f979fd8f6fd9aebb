#include "sim/report/run_json.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/study/sample_report.h"

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
  const Json json = Json::parse(run_json(study::sample_report_with_campaign()));
  EXPECT_EQ(keys(json),
            (Names{"schema", "version", "status", "reasons", "scenario", "asked", "model", "step",
                   "memory", "campaign", "cost", "published", "limit", "remedies", "compared",
                   "stage_advice", "assumptions", "warnings", "timing"}));
  EXPECT_EQ(keys(json["scenario"]), (Names{"name", "digest", "seed", "calibration"}));
  EXPECT_EQ(keys(json["step"]),
            (Names{"time_s", "time_interval_s", "tokens_per_s", "tokens_per_s_per_gpu", "mfu",
                   "mfu_causal", "hfu", "model_tflops_per_gpu", "breakdown_s", "critical_path_s",
                   "links", "sites", "event_digest", "result_digest"}));
  EXPECT_EQ(keys(json["step"]["breakdown_s"]),
            (Names{"compute", "launch", "tensor", "pipeline_bubble", "stage_imbalance",
                   "pipeline_p2p", "data", "rank_imbalance", "context", "expert", "optimizer",
                   "input", "checkpoint", "other"}));
  EXPECT_EQ(keys(json["step"]["critical_path_s"]),
            (Names{"compute", "launch", "tensor", "pipeline_p2p", "data", "rank_imbalance",
                   "context", "expert", "optimizer", "input", "checkpoint", "other"}));
  EXPECT_EQ(keys(json["memory"]),
            (Names{"fits", "peak_bytes", "capacity_bytes", "peak_stage", "by_kind_bytes",
                   "stage_peak_bytes", "host_peak_bytes", "host_capacity_bytes", "allocated_bytes",
                   "reserved_bytes"}));
  EXPECT_EQ(
      keys(json["memory"]["by_kind_bytes"]),
      (Names{"weights", "gradients", "optimizer", "activations", "logits", "buffers", "slack"}));
  EXPECT_EQ(keys(json["campaign"]), (Names{"trials",
                                           "mean_within",
                                           "wall_days",
                                           "time_to_market",
                                           "ettr",
                                           "goodput",
                                           "interruptions",
                                           "interruptions_by_hazard",
                                           "steps",
                                           "tokens",
                                           "ledger_gpu_s",
                                           "nodes_retired",
                                           "replicas_hit",
                                           "logits_stored_bytes",
                                           "input_bytes_per_s",
                                           "step_simulations",
                                           "checkpoint_interval_s",
                                           "optimal_interval_s",
                                           "checkpoint_stall_s",
                                           "checkpoint_persist_s",
                                           "checkpoint_load_s",
                                           "mean_time_between_interruptions_s",
                                           "downtime_s",
                                           "advice",
                                           "closed_form_ettr"}));
  EXPECT_EQ(keys(json["campaign"]["ledger_gpu_s"]),
            (Names{"useful", "lost", "checkpoint", "detect", "diagnose", "restart", "load", "wait",
                   "cut_off", "protection", "input", "degraded", "spare_idle", "maintenance"}));
  EXPECT_EQ(keys(json["campaign"]["ettr"]), (Names{"p5", "p50", "p95", "mean"}));
}

TEST(RunJson, KeepsEveryBitOfANumber) {
  study::RunReport report = study::sample_report();
  report.step.time = core::Seconds(4.0 / 3.0);
  report.step.mfu = std::numeric_limits<double>::denorm_min();
  const Json json = Json::parse(run_json(report));
  EXPECT_EQ(json["step"]["time_s"].get<double>(), 4.0 / 3.0);
  EXPECT_EQ(json["step"]["mfu"].get<double>(), std::numeric_limits<double>::denorm_min());
}

TEST(RunJson, WritesWhatIsAbsentOrNotFiniteAsNull) {
  study::RunReport report = study::sample_report();
  report.step.hfu = std::numeric_limits<double>::quiet_NaN();
  report.step.tokens_per_s = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(run_json(report));
  EXPECT_TRUE(json["step"]["hfu"].is_null());
  EXPECT_TRUE(json["step"]["tokens_per_s"].is_null());
  EXPECT_TRUE(json["campaign"].is_null());
  EXPECT_TRUE(json["cost"].is_null());
}

// What the tables alone had: red before the field lists.
TEST(RunJson, HasWhatTheTablesSayOfCheckpointsAndFailures) {
  study::RunReport report = study::sample_report_with_campaign();
  auto& c = *report.campaign;
  c.checkpoint_interval = core::Seconds(600);
  c.downtime = core::Seconds(42);
  c.by_hazard = {{"gpu", 2}};
  c.tokens = 5e9;
  const Json json = Json::parse(run_json(report))["campaign"];
  EXPECT_EQ(json["checkpoint_interval_s"].get<double>(), 600);
  EXPECT_EQ(json["downtime_s"].get<double>(), 42);
  EXPECT_TRUE(json["optimal_interval_s"].is_null());  // nothing fails
  EXPECT_EQ(json["checkpoint_persist_s"].get<double>(), 0);
  EXPECT_EQ(json["interruptions_by_hazard"][0]["hazard"], "gpu");
  EXPECT_EQ(json["tokens"].get<double>(), 5e9);
  EXPECT_NE(run_csv(report).find("\ncampaign.checkpoint_interval_s,600.0\n"), std::string::npos);
}

TEST(RunJson, CostIsInDollarsAndKilowattHours) {
  study::RunReport report = study::sample_report();
  price::Bill bill;
  bill.energy = core::Joules(7.2e6);
  bill.usd_per_million_tokens = 0.5;
  report.cost = study::CostReport{{1, 2, 3, 2, 0}, bill, "list: a page, 2025"};
  const Json cost = Json::parse(run_json(report))["cost"];
  EXPECT_EQ(keys(cost), (Names{"total_usd", "usd_per_million_tokens", "usd_per_useful_gpu_hour",
                               "energy_kwh", "price_source", "gpus_usd", "spares_usd",
                               "storage_usd", "electricity_usd", "bring_up_usd", "co2_kg"}));
  EXPECT_EQ(cost["energy_kwh"].get<double>(), 2);  // 7.2 MJ / 3.6 MJ
  EXPECT_EQ(cost["total_usd"]["p95"].get<double>(), 3);
}

TEST(RunJson, NamesThatAreNoUtf8DoNotBreakTheOutput) {
  study::RunReport report = study::sample_report();
  report.scenario.name = "bad \xff byte";
  EXPECT_NO_THROW({ const Json json = Json::parse(run_json(report)); });
}

TEST(RunCsv, ListsTheLeavesWithThePathsOfAssert) {
  const std::string csv = run_csv(study::sample_report());
  EXPECT_EQ(csv.rfind("key,value\nschema,headway.run/1\n", 0), 0U);
  EXPECT_NE(csv.find("\nstep.time_s,4.0\n"), std::string::npos);
  EXPECT_NE(csv.find("\nstep.time_interval_s[1],4.5\n"), std::string::npos);
  EXPECT_NE(csv.find("\ncampaign,\n"), std::string::npos);
}

}  // namespace
}  // namespace headway::report

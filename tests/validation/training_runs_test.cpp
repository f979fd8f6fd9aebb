#include "sim/validation/training_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

namespace headway::validation {
namespace {

constexpr const char* kRunsHeader =
    "id,source,year,era,gpu,n_gpus,gpus_per_node,nics_per_node,nic_gbps,nvlink_domain,model,arch,n_"
    "layers,d_model,n_heads,n_kv_heads,"
    "head_dim,d_ffn,gated_mlp,vocab,seq_len,global_batch,micro_batch,tp,sequence_parallel,pp,vpp,"
    "cp,ep,sharding,recompute,precision,"
    "tp_comm_overlap,cuda_graph,not_stated,group,weight,measured_tokens_per_s_per_gpu,"
    "attention,d_ffn_dense,moe_routing,n_dense_layers,n_experts,n_shared_experts,recompute_detail,"
    "release,top_k\n";

std::string row(const std::string& id,
                const std::string& arch,
                const std::string& layers,
                const std::string& not_stated) {
  return id + ",a source,2024,megatron-core-2024+,H100-80G-SXM,64,8,8,400,8,Llama," + arch + "," +
         layers + ",4096,32,8,128,14336,yes,128256,4096,64,1,8,yes,4,1,1,1,1,none,bf16,yes,," +
         not_stated + ",g,1,2000,gqa,,,,,,,,\n";
}

Catalogue catalogue() { return load_catalogue({HEADWAY_SOURCE_DIR "/configs"}); }

TEST(TrainingRuns, ARowBecomesAScenario) {
  const import::CsvTable table(kRunsHeader + row("a-1", "dense", "32", ""), "t.csv");
  const RowScenario built = row_scenario(table, 0, catalogue());
  ASSERT_TRUE(built.scenario.has_value());
  EXPECT_EQ(built.scenario->cluster.nodes, 8);
  EXPECT_EQ(built.scenario->cluster.node.nic.bandwidth.si(), 50e9);  // 400 Gbit/s
  EXPECT_EQ(built.scenario->parallelism.tensor, 8);
  EXPECT_EQ(built.scenario->model.head_dim, 128);
  EXPECT_TRUE(built.assumed.empty());
}

TEST(TrainingRuns, RowsInFp32AndTf32ArePredicted) {
  std::string rows = row("a-1", "dense", "32", "") + row("a-2", "dense", "32", "");
  rows.replace(rows.find("bf16"), 4, "fp32");
  rows.replace(rows.find(",2000,"), 6, ",500,");  // 2,000 are more than fp32 multiplies
  rows.replace(rows.find("bf16"), 4, "tf32");
  const auto predicted = predict_runs(import::CsvTable(kRunsHeader + rows, "t.csv"), catalogue());
  ASSERT_EQ(predicted.size(), 2U);
  EXPECT_EQ(predicted[0].status, "ok");
  EXPECT_EQ(predicted[1].status, "ok");
  EXPECT_LT(*predicted[0].predicted, *predicted[1].predicted);
}

// 32 layers in 4 stages of 8: three of each are offloaded; twenty are not there, so all but the
// last.
TEST(TrainingRuns, StatedLayersOfOffloadedActivationsAreOffloaded) {
  std::string header = kRunsHeader;
  header.insert(header.size() - 1, ",cpu_offload_layers");
  const auto built = [&](const std::string& layers) {
    std::string text = row("a-1", "dense", "32", "");
    text.insert(text.size() - 1, "," + layers);
    return row_scenario(import::CsvTable(header + text, "t.csv"), 0, catalogue());
  };
  EXPECT_EQ(built("0").scenario->parallelism.offload, workload::Offload::none);
  const RowScenario three = built("3");
  EXPECT_EQ(three.scenario->parallelism.offload, workload::Offload::activations);
  EXPECT_EQ(three.scenario->parallelism.offload_layers.value, 3);
  EXPECT_TRUE(three.assumed.empty());
  const RowScenario twenty = built("20");
  EXPECT_TRUE(twenty.scenario->parallelism.offload_layers.is_auto());
  EXPECT_THAT(twenty.assumed, testing::ElementsAre("cpu_offload_layers"));
}

// 126 layers, 16 stages: (126 + 2) / 16 = 8 layers a stage, the first and the last have one fewer.
TEST(TrainingRuns, EmbeddingAndLossMayCountAsLayers) {
  const import::CsvTable table(kRunsHeader + row("a-1", "dense", "14", ""), "t.csv");
  const RowScenario built = row_scenario(table, 0, catalogue());
  EXPECT_EQ(built.scenario->parallelism.first_stage_layers, 3);  // (14 + 2) / 4 - 1
  EXPECT_EQ(built.scenario->parallelism.last_stage_layers, 3);
}

TEST(TrainingRuns, EveryRowHasAStatus) {
  const import::CsvTable table(kRunsHeader + row("a-1", "dense", "32", "") +
                                   row("a-2", "dense", "32", "micro_batch") +
                                   row("a-3", "dense", "0", ""),
                               "t.csv");
  const auto rows = predict_runs(table, catalogue());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].status, "ok");
  EXPECT_EQ(rows[1].status, "ok-assumed");
  EXPECT_THAT(rows[2].status, testing::StartsWith("skipped:"));
  EXPECT_NEAR(*rows[0].error, *rows[0].predicted / 2000 - 1, 1e-12);
  EXPECT_LT(rows[0].low, *rows[0].predicted);
  EXPECT_GT(rows[0].high, *rows[0].predicted);
  EXPECT_FALSE(rows[2].predicted.has_value());
}

// Rows of several tables are taken together, and are what each table alone has.
TEST(TrainingRuns, TablesAreCountedTogether) {
  const import::CsvTable first(kRunsHeader + row("a-1", "dense", "32", ""), "a.csv");
  const import::CsvTable second(
      kRunsHeader + row("b-1", "dense", "0", "") + row("b-2", "dense", "32", "micro_batch"),
      "b.csv");
  std::mutex mutex;
  std::size_t most = 0;
  const auto rows = predict_tables({{&first, {0}}, {&second, {1, 0}}}, catalogue(),
                                   OpenFlags::both_ways, [&](std::size_t done, std::size_t total) {
                                     const std::lock_guard lock(mutex);
                                     EXPECT_EQ(total, 3U);
                                     most = std::max(most, done);
                                   });
  EXPECT_EQ(most, 3U);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0].predicted, predict_runs(first, catalogue())[0].predicted);
  EXPECT_EQ(rows[1][0].id, "b-2");
  EXPECT_EQ(rows[1][0].predicted, predict_runs(second, catalogue())[1].predicted);
  EXPECT_FALSE(rows[1][1].predicted);
}

// 128,256 entries over 8 tensor ranks: 128 x 8 = 1,024 goes into it 125.25 times, so 126 x 1,024
// are trained.
TEST(TrainingRuns, MegatronPadsTheVocabulary) {
  const import::CsvTable table(kRunsHeader + row("a-1", "dense", "32", ""), "t.csv");
  EXPECT_EQ(row_scenario(table, 0, catalogue()).scenario->model.vocabulary, 126 * 1024);
}

// What a mixture's recipe of a release is known to do: full graphs and overlap in racks from 26.06
// on.
TEST(TrainingRuns, AReleaseSaysWhatItsMixturesDo) {
  const auto framework = [](const std::string& release, const std::string& domain) {
    std::string text = row("a-1", "moe", "32", "");
    text.replace(text.find(",8,400,8,"), 9, ",8,400," + domain + ",");
    text.replace(text.find(",gqa,,,,,,,,"), 12, ",gqa,,,,8,,," + release + ",2");
    const import::CsvTable table(kRunsHeader + text, "t.csv");
    return row_scenario(table, 0, catalogue()).scenario->training.framework;
  };
  EXPECT_TRUE(framework("26.06", "72").expert_overlap);
  EXPECT_TRUE(framework("26.06", "72").cuda_graphs);
  EXPECT_FALSE(framework("26.06", "8").expert_overlap);
  EXPECT_FALSE(framework("26.04", "72").cuda_graphs);
  EXPECT_EQ(framework("26.04", "72").expert_dispatch, workload::ExpertDispatch::deduplicated);
  EXPECT_EQ(framework("v25.05", "72").expert_dispatch, workload::ExpertDispatch::all_to_all);
}

TEST(TrainingRuns, AnUnknownGpuIsSkippedByName) {
  std::string text = kRunsHeader + row("a-1", "dense", "32", "");
  text.replace(text.find("H100-80G-SXM"), 12, "TPU-9");
  const import::CsvTable table(text, "t.csv");
  EXPECT_EQ(predict_runs(table, catalogue())[0].status, "skipped:unknown GPU TPU-9");
}

RunPrediction with_error(double error, const std::string& gpu) {
  RunPrediction p;
  p.gpu = gpu;
  p.measured = 100;
  p.predicted = 100 * (1 + error);
  p.error = error;
  p.low = *p.predicted * 0.9;
  p.high = *p.predicted * 1.1;
  return p;
}

// Absolute errors 2, 4, 8, 20 %: median 6 %, mean 8.5 %; 90th percentile at 2.7 of 0..3: 8 + 0.7 x
// 12 = 16.4 %.
TEST(TrainingRuns, SummariesAreWhatTheySay) {
  std::vector<RunPrediction> rows{with_error(0.02, "A"), with_error(-0.04, "B"),
                                  with_error(0.08, "A"), with_error(-0.20, "B")};
  rows.emplace_back().gpu = "A";  // skipped
  const RunSummary all = summarize(rows);
  EXPECT_EQ(all.n, 4U);
  EXPECT_EQ(all.n_skipped, 1U);
  EXPECT_NEAR(all.median_abs_error, 0.06, 1e-12);
  EXPECT_NEAR(all.mean_abs_error, 0.085, 1e-12);
  EXPECT_NEAR(all.p90_abs_error, 0.164, 1e-12);
  EXPECT_EQ(all.within_5, 0.5);
  EXPECT_EQ(all.within_10, 0.75);
  EXPECT_EQ(all.coverage_90, 0.75);  // 80 x 1.1 < 100
  const auto parts = summarize_by(rows, &RunPrediction::gpu);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].first, "A");
  EXPECT_NEAR(parts[0].second.mean_abs_error, 0.05, 1e-12);
}

}  // namespace
}  // namespace headway::validation

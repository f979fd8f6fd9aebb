#include "sim/validation/compared/run_checks.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::validation {
namespace {

RunPrediction run(const std::string& model, double measured, double predicted) {
  RunPrediction row;
  row.source = "s";
  row.model = model;
  row.measured = measured;
  row.predicted = predicted;
  row.error = predicted / measured - 1;
  return row;
}

// One configuration measured at 100, 104 and 90: median 100, deviations 0, 4 and 10 %; the fourth
// row has no repeat.
TEST(RepeatNoise, IsTheMeanDeviationFromTheMedian) {
  const auto noise =
      repeat_noise({run("a", 100, 95), run("a", 104, 95), run("a", 90, 95), run("a", 50, 60)});
  EXPECT_EQ(noise.groups, 1U);
  EXPECT_EQ(noise.rows, 3U);
  EXPECT_NEAR(noise.mean_deviation, (0.0 + 0.04 + 0.10) / 3, 1e-12);
}

// Pairs of model a: 100-120 (right), 100-150 (right), 120-150 (wrong); 100-105 of model b differ by
// too little.
TEST(LayoutOrdering, CountsPairsThatDifferByMoreThanATenth) {
  const auto ordering = layout_ordering({run("a", 100, 90), run("a", 120, 140), run("a", 150, 130),
                                         run("b", 100, 90), run("b", 105, 80)});
  EXPECT_EQ(ordering.pairs, 3U);
  EXPECT_NEAR(ordering.right, 2.0 / 3, 1e-12);
}

// Of a's layouts the one predicted fastest (140) was measured at 120 of 150: 20 % lost. Of b's the
// best is chosen; c has nothing to choose: both are predicted alike.
TEST(LayoutChoice, CostsWhatTheBestLayoutWouldHaveGained) {
  const auto choice =
      layout_choice({run("a", 100, 90), run("a", 120, 140), run("a", 150, 130), run("b", 100, 90),
                     run("b", 105, 95), run("c", 10, 20), run("c", 20, 20)});
  EXPECT_EQ(choice.groups, 2U);
  EXPECT_NEAR(choice.mean_regret, 0.10, 1e-12);
  EXPECT_NEAR(choice.worst_regret, 0.20, 1e-12);
}

// The layout predicted fastest has no room in memory, so `headway plan` would not name it: the next
// one is taken, which was measured at 120 of 150.
TEST(LayoutChoice, TakesALayoutThatFits) {
  RunPrediction full = run("a", 60, 150);
  full.offered = false;
  const auto choice = layout_choice({full, run("a", 120, 140), run("a", 150, 130)});
  EXPECT_NEAR(choice.mean_regret, 0.20, 1e-12);
  RunPrediction other = run("b", 100, 160);
  other.offered = false;
  full.model = other.model;
  EXPECT_NEAR(layout_choice({full, other}).mean_regret, 0, 1e-12);  // none fits
}

// Repeats of the chosen layout count by their mean: (100 + 80) / 2 of 120.
TEST(LayoutChoice, TakesTheMeanOfRepeats) {
  const auto choice = layout_choice({run("a", 100, 90), run("a", 80, 90), run("a", 120, 70)});
  EXPECT_NEAR(choice.mean_regret, 0.25, 1e-12);
}

// The choice of a costs 60 of 150 with the contradictory row and 30 without; nothing is said twice
// of a source without such rows, and "all" is of two sources.
TEST(LayoutsBySource, AreToldWithAndWithoutContradictoryRows) {
  RunPrediction odd = run("a", 90, 160);
  odd.status_class = "ok-contradictory";
  std::vector<RunPrediction> rows{odd, run("a", 120, 140), run("a", 150, 130)};
  auto layouts = layouts_by_source(rows);
  ASSERT_EQ(layouts.size(), 2U);
  EXPECT_FALSE(layouts[0].consistent);
  EXPECT_NEAR(layouts[0].choice.mean_regret, 0.4, 1e-12);
  EXPECT_TRUE(layouts[1].consistent);
  EXPECT_NEAR(layouts[1].choice.mean_regret, 0.2, 1e-12);
  for (RunPrediction row : {run("b", 100, 90), run("b", 120, 140)}) {
    row.source = "t";
    rows.push_back(row);
  }
  layouts = layouts_by_source(rows);
  ASSERT_EQ(layouts.size(), 4U);
  EXPECT_EQ(layouts.back().source, "all");
}

/// Two layouts in bf16 and one in fp8; %s is what the first was measured at.
constexpr const char* kTable =
    "id,source,year,era,gpu,n_gpus,gpus_per_node,nics_per_node,nic_gbps,nvlink_domain,model,arch,n_"
    "layers,d_model,n_heads,n_kv_heads,"
    "head_dim,d_ffn,gated_mlp,vocab,seq_len,global_batch,micro_batch,tp,sequence_parallel,pp,vpp,"
    "cp,ep,sharding,recompute,precision,"
    "tp_comm_overlap,cuda_graph,not_stated,group,weight,measured_tokens_per_s_per_gpu,"
    "attention,d_ffn_dense,moe_routing,n_dense_layers,n_experts,n_shared_experts,recompute_detail,"
    "release,top_k\n"
    "a-1,a "
    "source,2024,megatron-core-2024+,H100-80G-SXM,8,8,8,400,8,Llama,dense,8,4096,32,8,128,14336,"
    "yes,128256,4096,16,1,2,yes,1,1,1,1,1,"
    "none,bf16,,,,g,1,%s,gqa,,,,,,,,\n"
    "a-2,a "
    "source,2024,megatron-core-2024+,H100-80G-SXM,8,8,8,400,8,Llama,dense,8,4096,32,8,128,14336,"
    "yes,128256,4096,16,1,4,yes,1,1,1,1,1,"
    "none,bf16,,,,g,1,35000,gqa,,,,,,,,\n"
    "a-3,a "
    "source,2024,megatron-core-2024+,H100-80G-SXM,8,8,8,400,8,Llama,dense,8,4096,32,8,128,14336,"
    "yes,128256,4096,16,1,4,yes,1,1,1,1,1,"
    "none,fp8,,,,g,1,35000,gqa,,,,,,,,\n";

using import::CsvTable;

CsvTable table_with(double measured) {
  return CsvTable(
      std::string(kTable).replace(std::string(kTable).find("%s"), 2, std::to_string(measured)),
      "t.csv");
}

// A machine 10 % slower than predicted: products are slower by more than that, since they are not
// all of the step.
TEST(AnchorRuns, MatchesItsRowAndMovesTheOthersOfItsKind) {
  const Catalogue catalogue = load_catalogue({HEADWAY_SOURCE_DIR "/configs"});
  const double predicted = *predict_runs(table_with(1), catalogue, {0}).front().predicted;
  const auto anchor = anchor_runs(table_with(0.9 * predicted), catalogue, "a-1");
  ASSERT_EQ(anchor.before.size(), 2U);  // the fp8 row is of another kind
  EXPECT_NEAR(*anchor.before[0].error, 1 / 0.9 - 1, 1e-6);
  EXPECT_NEAR(*anchor.after[0].error, 0, 0.0011);
  EXPECT_LT(anchor.gemm_factor, 0.9);
  EXPECT_LT(*anchor.after[1].error, *anchor.before[1].error);
}

TEST(AnchorRuns, RefusesARowThatIsNotThere) {
  const import::CsvTable table = table_with(40000);
  EXPECT_THROW(anchor_runs(table, load_catalogue({HEADWAY_SOURCE_DIR "/configs"}), "b-1"),
               core::Error);
}

}  // namespace
}  // namespace headway::validation

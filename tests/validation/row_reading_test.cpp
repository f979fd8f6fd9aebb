// Rows with blank, odd or contradictory cells: each becomes a prediction that says what was taken,
// or a refusal by name.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(RowReading, AStatedRunIsOk) {
  const RunPrediction p = predicted({});
  EXPECT_EQ(p.status, "ok");
  EXPECT_THAT(p.assumed, IsEmpty());
}

// No measured figure, however it is written, may abort the table or reach the summary.
TEST(RowReading, ABadMeasuredFigureSkipsItsRowOnly) {
  std::vector<Cells> rows{stated_run()};
  for (const char* text : {"", "nan", "n/a", "0", "-5", "inf", "fast"}) {
    rows.push_back(with({{"measured_tokens_per_s_per_gpu", text}}));
  }
  const auto all = predict_runs(table_of(rows), catalogue());
  EXPECT_EQ(all[0].status, "ok");
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_THAT(all[i].status, StartsWith("skipped:")) << i;
    EXPECT_FALSE(all[i].error.has_value());
  }
  EXPECT_EQ(summarize(all).n, 1U);
  EXPECT_TRUE(std::isfinite(summarize(all).mean_abs_error));
}

TEST(RowReading, ATableNeedsRowsIdsAndFiguresButNoGroups) {
  EXPECT_THROW(predict_runs(import::CsvTable("id,gpu\n", "t.csv"), catalogue()), core::Error);
  EXPECT_THROW(predict_runs(import::CsvTable("id,gpu\na,b\n", "t.csv"), catalogue()), core::Error);
  EXPECT_EQ(predicted({}).weight, 1);  // the table has no column of that name
}

TEST(RowReading, ACellThatIsNoNumberIsNamed) {
  EXPECT_EQ(predicted({{"tp", "8x"}}).status,
            "skipped:line 2: '8x' in column 'tp' is not a number; state one, as in 3700, 9.4k, "
            "4,096 or 340 +/- 5");
}

TEST(RowReading, WhatIsNotModelledIsRefusedByName) {
  for (const char* kind : {"hybrid", "mamba", "vlm", "encoder"}) {
    EXPECT_EQ(predicted({{"arch", kind}}).status,
              std::string("skipped:unmodelled: architecture '") + kind + "'");
  }
  EXPECT_EQ(predicted({{"attention", "gqa, linear on 3 of 4 layers"}}).status,
            "skipped:unmodelled: attention 'gqa, linear on 3 of 4 layers'");
  EXPECT_THAT(predicted({{"model", "Mamba-2 8B"}}).status, HasSubstr("layers of state spaces"));
  EXPECT_EQ(predicted({{"recompute", "sometimes"}}).status,
            "skipped:unknown recompute 'sometimes'");
  EXPECT_EQ(predicted({{"sharding", "5"}}).status, "skipped:unknown sharding '5'");
}

// Every field that matters can be blank; the row then says so and its interval is wider.
TEST(RowReading, ABlankFieldIsAssumedAndWidensTheInterval) {
  const double narrow = predicted({}).own_error;
  for (const char* field :
       {"micro_batch", "vpp", "recompute", "sequence_parallel", "sharding", "era", "precision",
        "vocab", "n_kv_heads", "gpus_per_node", "d_ffn", "gated_mlp"}) {
    const RunPrediction p = predicted({{field, ""}});
    EXPECT_EQ(p.status, "ok-assumed") << field;
    EXPECT_THAT(p.assumed, Contains(field));
    EXPECT_GT(p.own_error, narrow) << field;
  }
}

TEST(RowReading, ADegreeFollowsFromTheOthersOrIsAssumed) {
  EXPECT_EQ(scenario({{"tp", ""}}).parallelism.tensor, 2);  // 16 GPUs / (4 replicas x 2 stages)
  EXPECT_EQ(predicted({{"tp", ""}}).status, "ok");
  const RunPrediction open = predicted({{"tp", ""}, {"pp", ""}, {"dp", ""}});
  EXPECT_EQ(open.status, "ok-assumed");
  EXPECT_THAT(open.assumed, testing::IsSupersetOf({"tp", "pp"}));
}

// 70 billion parameters in two bytes, and their gradients in two, are 260 GiB: at least four GPUs
// of 80 GiB hold them, and with activations eight.
TEST(RowReading, AnOpenDegreeIsWhatMemoryAsksFor) {
  const Cells large{
      {"n_layers", "80"}, {"d_model", "8192"}, {"n_heads", "64"}, {"d_ffn", "28672"},
      {"tp", ""},         {"pp", ""},          {"dp", ""},        {"global_batch", "64"},
      {"n_gpus", "64"}};
  const auto s = scenario(large);
  EXPECT_GE(s.parallelism.tensor * s.parallelism.pipeline, 8);
}

TEST(RowReading, DefaultsAreThoseOfTheEra) {
  const Cells early{{"era", "unfused-megatron-2021"},
                    {"gpu", "A100-80G-SXM"},
                    {"recompute", ""},
                    {"micro_batch", ""},
                    {"seq_len", "2048"},
                    {"precision", ""},
                    {"sequence_parallel", "no"},
                    {"global_batch", "64"}};
  const auto first = scenario(early);
  EXPECT_EQ(first.parallelism.recompute, workload::Recompute::full);
  EXPECT_EQ(first.parallelism.micro_batch, 2);  // 4,096 tokens
  EXPECT_EQ(first.training.precision, core::Precision::fp16);
  Cells sequence = early;
  sequence["sequence_parallel"] = "yes";
  EXPECT_EQ(scenario(sequence).parallelism.recompute, workload::Recompute::selective);
  const auto sharded = scenario({{"era", "pytorch-fsdp"},
                                 {"tp", "1"},
                                 {"pp", "1"},
                                 {"dp", "16"},
                                 {"micro_batch", ""},
                                 {"sharding", ""},
                                 {"seq_len", "2048"},
                                 {"global_batch", "256"}});
  EXPECT_EQ(sharded.parallelism.micro_batch, 4);  // 8,192 tokens
  EXPECT_EQ(sharded.parallelism.sharding, workload::Sharding::zero3);
  EXPECT_TRUE(scenario({{"sequence_parallel", ""}}).parallelism.sequence);
}

// 8 layers of 218 M weights and a head of 525 M, as 2.4 layers: two stages are full at 5.2.
TEST(RowReading, SoftwareThatDividesLayersByCostDoesSo) {
  EXPECT_THAT(scenario({{"era", "nanotron-2025"}}).parallelism.chunk_layers,
              testing::ElementsAre(6, 2));
  EXPECT_THAT(scenario({}).parallelism.chunk_layers, IsEmpty());
}

// How context groups exchange keys and values is the trainer's, not the document's.
TEST(RowReading, ContextExchangeIsTheProfiles) {
  const Cells context{{"cp", "2"}, {"dp", "2"}, {"seq_len", "32768"}};
  Cells llama = context;
  llama["era"] = "meta-llama3-2024";
  Cells other = context;
  other["source"] = "The Llama 3 Herd of Models";
  EXPECT_EQ(scenario(llama).parallelism.context_kind, workload::ContextKind::all_gather);
  EXPECT_EQ(scenario(other).parallelism.context_kind, workload::ContextKind::ring);
}

// A flag that is open is read both ways: half the distance is part of the interval.
TEST(RowReading, AnOpenFlagIsReadBothWays) {
  const auto open = predicted({{"tp_comm_overlap", ""}});
  EXPECT_THAT(open.assumed, Contains("tp_comm_overlap"));
  const double on = *predicted({{"tp_comm_overlap", "yes"}}).predicted;
  const double off = *predicted({{"tp_comm_overlap", "no"}}).predicted;
  EXPECT_DOUBLE_EQ(*open.predicted, on);
  const double stated = predicted({{"tp_comm_overlap", "yes"}}).own_error;
  EXPECT_NEAR(open.own_error, std::hypot(stated, std::log(on / off) / 2), 1e-9);
}

// Without a batch: one micro-batch a replica, or four a stage in a pipeline (4 replicas x 2 x 4).
TEST(RowReading, ABatchThatIsNotStatedIsOfMicroBatches) {
  // Two million tokens: 512 sequences of 4,096; more where replicas take more at once.
  EXPECT_EQ(scenario({{"global_batch", ""}}).training.global_batch, 512);
  EXPECT_EQ(scenario({{"global_batch", ""}, {"pp", "1"}, {"dp", "8"}}).training.global_batch, 512);
  EXPECT_EQ(scenario({{"global_batch", ""}, {"micro_batch", "64"}}).training.global_batch, 2048);
  // Software that accumulates nothing, and runs that say so.
  EXPECT_EQ(
      scenario({{"global_batch", ""}, {"notes", "no gradient accumulation"}}).training.global_batch,
      32);
  EXPECT_EQ(scenario({{"global_batch", ""},
                      {"era", "torchtitan-2025"},
                      {"sharding", "fsdp2"},
                      {"pp", "1"},
                      {"dp", "8"}})
                .training.global_batch,
            8);
  EXPECT_THAT(predicted({{"global_batch", ""}}).assumed, Contains("global_batch"));
}

// A measured run fits its GPU: a plan that does not is told to, and micro-batches that nobody
// stated are halved first.
TEST(RowReading, MoreMemoryThanThereIsIsTold) {
  const Cells large{{"n_layers", "80"}, {"d_model", "8192"}, {"n_heads", "64"}, {"d_ffn", "28672"}};
  EXPECT_THAT(predicted(large).status, HasSubstr("of the GPU's memory"));
  EXPECT_THAT(predicted(large).assumed, Contains("memory"));
}

// Tensors decide: what the allocator holds in gaps it gives back before a run stops.
// 70 billion parameters on two GPUs: nothing fits, and what needs least is taken.
TEST(RowReading, WhereNothingFitsRecomputationIsTheStrongest) {
  const Cells huge{{"n_layers", "80"},
                   {"d_model", "8192"},
                   {"n_heads", "64"},
                   {"d_ffn", "28672"},
                   {"n_gpus", "2"},
                   {"gpus_per_node", "2"},
                   {"nvlink_domain", "2"},
                   {"tp", ""},
                   {"pp", ""},
                   {"dp", ""},
                   {"recompute", ""},
                   {"global_batch", "8"},
                   {"era", "pytorch-fsdp"},
                   {"sharding", "fsdp"}};
  EXPECT_EQ(scenario(huge).parallelism.recompute, workload::Recompute::full);
  EXPECT_THAT(predicted(huge).status, HasSubstr("of the GPU's memory"));
}

// 27,308 is 4 x 6,827: over eight ranks it does not divide, so that stages follow four.
TEST(RowReading, OpenTensorRanksAreThoseThatDivideTheWidths) {
  const Cells odd{
      {"n_layers", "80"}, {"d_model", "10240"}, {"n_heads", "128"}, {"n_kv_heads", "128"},
      {"d_ffn", "27308"}, {"n_gpus", "800"},    {"head_dim", "80"}, {"tp", ""},
      {"pp", ""},         {"dp", ""},           {"sharding", "0"},  {"global_batch", "1536"}};
  const auto p = scenario(odd).parallelism;
  EXPECT_EQ(p.tensor, 4);
  EXPECT_GT(p.pipeline, 1);
  EXPECT_THAT(predicted(odd).status, testing::Not(HasSubstr("of the GPU's memory")));
}

TEST(RowReading, GapsOfTheAllocatorAreNoNeed) {
  auto s = scenario({});
  auto& slack = s.training.framework.allocation.slack;
  slack = 0;
  const double tensors = memory_need(s).value();
  slack = 0.1;
  EXPECT_GT(memory_need(s).value(), tensors * 1.05);
  EXPECT_DOUBLE_EQ(least_memory_need(s).value(), tensors);
}

// DeepSeek-V3's prediction module is not taken for a cut of four of its layers.
TEST(RowReading, AShortenedModelHasNoSilentPredictionModule) {
  const Cells cut{{"model", "cut"},
                  {"arch", "moe"},
                  {"n_layers", "4"},
                  {"d_model", "7168"},
                  {"n_heads", "128"},
                  {"n_kv_heads", "128"},
                  {"head_dim", ""},
                  {"d_ffn", "2048"},
                  {"d_ffn_dense", "18432"},
                  {"n_experts", "256"},
                  {"top_k", "8"},
                  {"n_shared_experts", "1"},
                  {"n_dense_layers", "1"},
                  {"attention", "mla"},
                  {"vocab", "129280"},
                  {"pp", "1"},
                  {"tp", "1"},
                  {"ep", "8"},
                  {"dp", "16"},
                  {"release", "26.02"}};
  EXPECT_EQ(scenario(cut).model.multi_token_prediction, 0);
  EXPECT_THAT(predicted(cut).assumed, Contains("multi_token_prediction"));
}

// A cell that no run can have is no blank: the row says which, and the table goes on.
TEST(RowReading, ACellOutOfRangeIsAnErrorOfItsRow) {
  const std::pair<const char*, const char*> wrong[] = {
      {"tp", "1e7"},        {"head_dim", "2e9"},    {"nic_gbps", "1e308"},
      {"n_experts", "2e9"}, {"gated_mlp", "maybe"}, {"cpu_offload_layers", "2000000000"}};
  for (const auto& [column, cell] : wrong) {
    const auto all = predict_runs(table_of({with({{column, cell}}), stated_run()}), catalogue());
    EXPECT_THAT(all[0].status, StartsWith("skipped:line 2: ")) << column;
    EXPECT_THAT(all[0].status, HasSubstr(fmt::format("'{}' in column '{}'", cell, column)));
    EXPECT_EQ(all[1].status, "ok") << column;
  }
  EXPECT_EQ(
      predicted({{"tp", "1e7"}, {"pp", "x"}}).status,
      "skipped:line 2: '1e7' in column 'tp' must be from 1 to a million; 'x' in column 'pp' is "
      "not a number; state one, as in 3700, 9.4k, 4,096 or 340 +/- 5");
}

TEST(RowReading, DegreesBeyondTheGpusAreRefused) {
  EXPECT_EQ(predicted({{"tp", "1000000"}, {"cp", "1000000"}}).status,
            "skipped:tp 1000000 x pp 2 x cp 1000000 are more ranks than 16 GPUs");
}

// 4,194,304 sequences of 4,096 tokens are 17 thousand million; 1,024 of them are as many tokens.
TEST(RowReading, ABatchOfTokensIsReadAsSequences) {
  const Cells tokens{{"global_batch", "4194304"}};
  EXPECT_EQ(scenario(tokens).training.global_batch, 1024);
  EXPECT_EQ(predicted(tokens).status,
            "ok-assumed: global_batch of 4194304 is read as tokens: 1024 sequences");
  EXPECT_THAT(predicted(tokens).assumed, Contains("global_batch"));
  const Cells small{{"global_batch", "524288"}, {"seq_len", "1024"}};
  EXPECT_EQ(scenario(small).training.global_batch, 512);
  EXPECT_EQ(scenario({{"global_batch", "8192"}}).training.global_batch, 8192);
  EXPECT_EQ(predicted({{"global_batch", "3000"}, {"seq_len", "1000000"}}).status,
            "skipped:global_batch is 3000: 3e+09 tokens a step; it counts sequences, not tokens");
}

TEST(RowReading, NumbersAreReadHoweverTheyAreWritten) {
  struct Case {
    const char* column;
    const char* text;
    int sequence, batch;
    const char* assumed;  ///< nullptr: nothing
  };
  for (const Case& c :
       {Case{"seq_len", "4096.0", 4096, 32, nullptr}, Case{"seq_len", "4k", 4096, 32, nullptr},
        Case{"seq_len", "4K", 4096, 32, nullptr}, Case{"seq_len", "4,096", 4096, 32, nullptr},
        Case{"seq_len", "4096 tokens", 4096, 32, nullptr},
        Case{"seq_len", "10k", 10240, 32, "seq_len"},
        Case{"seq_len", "8192 (packed)", 8192, 32, "documents"},
        Case{"global_batch", "~64", 4096, 64, "global_batch"},
        Case{"global_batch", "about 64", 4096, 64, "global_batch"},
        Case{"global_batch", "1,024 sequences", 4096, 1024, nullptr},
        Case{"global_batch", "2k", 4096, 2048, "global_batch"},
        Case{"global_batch", "4M tokens", 4096, 1024, "global_batch"},
        Case{"global_batch", "0.5M", 4096, 128, "global_batch"},
        Case{"global_batch", "512K", 4096, 128, "global_batch"}}) {
    const auto run = scenario({{c.column, c.text}}).training;
    EXPECT_EQ(run.sequence_length, c.sequence) << c.text;
    EXPECT_EQ(run.global_batch, c.batch) << c.text;
    const auto assumed = predicted({{c.column, c.text}}).assumed;
    EXPECT_TRUE(c.assumed == nullptr ? assumed.empty()
                                     : testing::Matches(Contains(c.assumed))(assumed))
        << c.text;
  }
  for (const char* none : {"4k-8k", "4096x", "64 x 8", "4,09", "1,2,3"}) {
    EXPECT_THAT(predicted({{"global_batch", none}}).status, StartsWith("skipped:line 2: '"))
        << none;
  }
  EXPECT_EQ(scenario({{"vocab", "128,256"}}).model.vocabulary, 128256);
}

TEST(RowReading, WidthsOfHeadsAreReadHoweverTheyAreWritten) {
  for (const char* text : {"64", "64.0", "head_dim 64"}) {
    EXPECT_EQ(scenario({{"head_dim", text}}).model.head_dim, 64) << text;
    EXPECT_EQ(predicted({{"head_dim", text}}).status, "ok") << text;
  }
  const auto apart = scenario({{"head_dim", "192 qk, 128 v"}}).model;
  EXPECT_EQ(apart.head_dim, 192);
  EXPECT_EQ(apart.value_dim, 128);
  for (const char* text : {"128/64", "wide"}) {
    EXPECT_THAT(predicted({{"head_dim", text}}).status, HasSubstr("in column 'head_dim'")) << text;
  }
}

TEST(RowReading, ABatchThatDoesNotDivideIsTheNearestThatDoes) {
  const Cells odd{{"global_batch", "30"}};  // over 4 replicas
  EXPECT_EQ(scenario(odd).training.global_batch, 32);
  EXPECT_THAT(predicted(odd).assumed, Contains("global_batch"));
}

TEST(RowReading, TooFewMicroBatchesAreNotInterleaved) {
  const Cells few{{"global_batch", "4"}, {"vpp", ""}};  // one micro-batch of each replica
  EXPECT_EQ(scenario(few).parallelism.virtual_stages, 1);
  Cells stated = few;
  stated["vpp"] = "2";
  EXPECT_EQ(scenario(stated).parallelism.virtual_stages, 1);
  EXPECT_THAT(predicted(stated).assumed, Contains("vpp"));
}

TEST(RowReading, ADenseModelHasNoExpertRanks) {
  EXPECT_EQ(scenario({{"ep", "8"}}).parallelism.expert, 1);
  EXPECT_THAT(predicted({{"ep", "8"}}).assumed, Contains("ep"));
}

TEST(RowReading, WidthsThatAreNotStatedAreAligned) {
  EXPECT_EQ(scenario({{"d_model", "5632"}, {"n_heads", "44"}, {"n_kv_heads", "4"}, {"d_ffn", ""}})
                .model.ffn,
            15104);  // 8/3 x 5,632 = 15,018, up to a multiple of 256
}

// DeepSeek's models differ: what a name begins with says nothing of prediction modules, routing or
// ranks.
TEST(RowReading, DeepSeekIsKnownByItsShapeNotByItsName) {
  const auto dense = scenario({{"model", "DeepSeek 67B"}}).model;
  EXPECT_EQ(dense.multi_token_prediction, 0);
  const Cells lite{{"model", "DeepSeek-V2-Lite"},
                   {"arch", "moe"},
                   {"attention", "mla"},
                   {"n_layers", "26"},
                   {"d_model", "2048"},
                   {"n_heads", "16"},
                   {"n_kv_heads", "16"},
                   {"d_ffn", "1408"},
                   {"d_ffn_dense", "10944"},
                   {"n_experts", "64"},
                   {"top_k", "6"},
                   {"n_shared_experts", "2"},
                   {"n_dense_layers", "1"},
                   {"vocab", "102400"}};
  const auto small = scenario(lite).model;
  EXPECT_EQ(small.latent->query_rank, 0);
  EXPECT_EQ(small.multi_token_prediction, 0);
  EXPECT_EQ(small.moe->routing_groups, 1);
  Cells third = lite;
  for (const auto& [column, text] : Cells{{"model", "a proxy"},
                                          {"n_layers", "8"},
                                          {"d_model", "7168"},
                                          {"n_heads", "128"},
                                          {"n_kv_heads", "128"},
                                          {"d_ffn", "2048"},
                                          {"n_experts", "256"},
                                          {"top_k", "8"}}) {
    third[column] = text;
  }
  const auto large = scenario(third).model;
  EXPECT_EQ(large.multi_token_prediction, 0);  // a cut of 8 of its 61 layers
  EXPECT_EQ(large.moe->group_limit, 4);
  EXPECT_EQ(large.latent->query_rank, 1536);
}

TEST(RowReading, EarlySoftwareHasNoFusedLatentAttentionOnBlackwell) {
  const auto fused = [](const char* gpu, const char* release, const char* attention) {
    return scenario({{"gpu", gpu},
                     {"release", release},
                     {"attention", attention},
                     {"d_model", "7168"},
                     {"n_heads", "128"},
                     {"n_kv_heads", "128"}})
        .training.framework.fuses_attention();
  };
  EXPECT_FALSE(fused("GB200", "v25.05.04", "mla"));
  EXPECT_FALSE(fused("B200", "25.04", "mla"));
  EXPECT_TRUE(fused("GB200", "25.09", "mla"));
  EXPECT_TRUE(fused("H100-80G-SXM", "v25.05.04", "mla"));
  EXPECT_TRUE(fused("GB200", "v25.05.04", "mha"));
  EXPECT_TRUE(fused("GB200", "", "mla"));
}

// 8 layers of 4096 x (2 x 4096 + 2 x 1024) + 3 x 4096 x 14336 = 218.1 million, and one or two
// tables of 128,256 x 4096 = 525.3 million: 2.270 or 2.796 billion.
TEST(RowReading, StatedParametersSayWhetherTheHeadIsTheEmbedding) {
  EXPECT_TRUE(scenario({{"params_b", "2.27"}}).model.tied_embeddings);
  EXPECT_FALSE(scenario({{"params_b", "2.796"}}).model.tied_embeddings);
  EXPECT_FALSE(scenario({{"params_b", "2.5"}}).model.tied_embeddings);  // near neither: as Llama 3
  EXPECT_FALSE(scenario({}).model.tied_embeddings);
  // Models of GPT's kind share the table, whoever made them.
  EXPECT_TRUE(scenario({{"gated_mlp", "no"}, {"d_ffn", "16000"}}).model.tied_embeddings);
  EXPECT_THAT(predicted({{"gated_mlp", "no"}, {"d_ffn", "16000"}}).assumed, Contains("params_b"));
  EXPECT_THAT(predicted({}).assumed, IsEmpty());
  // Two stages hold a table each either way; one stage holds one or two.
  const auto memory = [](const char* parameters) {
    return predicted({{"params_b", parameters}, {"pp", "1"}, {"dp", "8"}}).predicted_memory;
  };
  EXPECT_LT(memory("2.27"), memory("2.796"));
}

TEST(RowReading, ParametersThatTheColumnsDoNotGiveAreTold) {
  EXPECT_THAT(predicted({{"params_b", "4"}}).status,
              HasSubstr("columns give 2.8e9 parameters, 4e9 stated"));
  EXPECT_EQ(predicted({{"params_b", "2.8"}}).status, "ok");
}

TEST(RowReading, PeakMemoryIsComparedWhereItIsStated) {
  const RunPrediction p = predicted({{"measured_peak_mem_gib", "40"}});
  EXPECT_EQ(p.measured_memory, 40);
  EXPECT_GT(p.predicted_memory, 5);
  const RunSummary summary = summarize({p, predicted({})});
  EXPECT_EQ(summary.n_memory, 1U);
  EXPECT_NEAR(summary.median_abs_memory_error, std::abs(p.predicted_memory / 40 - 1), 1e-12);
}

TEST(RowReading, PartsOfTheHeadlineAreKeptApart) {
  EXPECT_EQ(predicted({}).part, "dense NVIDIA");
  EXPECT_EQ(predicted({{"gpu", "MI300X"}}).part, "AMD");
  EXPECT_EQ(predicted({{"arch", "moe"}, {"n_experts", "8"}, {"top_k", "2"}}).part,
            "mixtures of experts");
  EXPECT_EQ(predicted({{"arch", "hybrid"}}).part, "other kinds");
}

// A quarter of the blocks recomputes, one of four, and neither more nor fewer: of eight layers two.
TEST(RowReading, SharesOfTheBlocksAreRecomputedWhole) {
  const auto layout = [](const char* detail) {
    return scenario({{"recompute", "selective"}, {"recompute_detail", detail}}).parallelism;
  };
  for (const char* detail : {"25% of the blocks", "every 4 whole blocks"}) {
    EXPECT_EQ(layout(detail).recompute, workload::Recompute::full) << detail;
    EXPECT_EQ(layout(detail).recompute_period, 100) << detail;
    EXPECT_EQ(layout(detail).recompute_layers, 25) << detail;
  }
  EXPECT_EQ(layout("100% of the blocks").recompute_layers,
            scenario({}).parallelism.recompute_layers);
}

// nanotron's allocator makes steps slow where it is short of memory: whoever chose a micro-batch
// that nobody stated did not stay there. Other software may need a tenth more than is counted.
TEST(RowReading, AnOpenMicroBatchLeavesASlowAllocatorItsRoom) {
  const auto most_need = [](const char* era) {
    double most = 0;
    for (int layers = 16; layers <= 400; layers += 8) {
      const RowScenario built = row_scenario(table_of({with({{"era", era},
                                                             {"micro_batch", ""},
                                                             {"n_layers", std::to_string(layers)},
                                                             {"d_model", "2048"},
                                                             {"d_ffn", "8192"},
                                                             {"head_dim", "64"},
                                                             {"global_batch", "512"}})}),
                                             0, catalogue());
      for (const OtherReading& reading : built.readings) {
        if (reading.column == "micro_batch") {
          most = std::max(most, memory_need(reading.scenario).value());
        }
      }
    }
    return most;
  };
  const double slow = most_need("nanotron-2025"), other = most_need("megatron-core-2024+");
  EXPECT_GT(slow, 0.8);
  EXPECT_LT(slow, 1);
  EXPECT_GT(other, 1);
  EXPECT_LT(other, 1.1);
}

}  // namespace
}  // namespace headway::validation

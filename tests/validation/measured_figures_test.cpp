// Published figures that are no tokens a second of a step, that follow from others, or that the
// table does not have.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/import/even_rows.h"
#include "sim/validation/run_row.h"
#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// 2.27e9 parameters that multiply: 16 GFLOP a token; the GPU's 989 TFLOP/s are 60,000 tokens/s.
TEST(MeasuredFigures, ImpossibleOnesDoNotCount) {
  const auto of = [](const char* figure) {
    return predicted({{"measured_tokens_per_s_per_gpu", figure}});
  };
  EXPECT_THAT(of("1600000").status, StartsWith("ok-contradictory: 1.6e+06 tokens/s/GPU are "));
  EXPECT_THAT(of("1600000").status, HasSubstr("times what the GPU can multiply"));
  EXPECT_THAT(of("0.52").status, HasSubstr("another quantity?"));
  for (const char* figure : {"1600000", "0.52", "0.9", "100"}) {
    EXPECT_EQ(of(figure).status_class, "ok-contradictory") << figure;
    EXPECT_FALSE(of(figure).error.has_value()) << figure;
    EXPECT_TRUE(of(figure).predicted.has_value()) << figure;
  }
  const RunSummary summary = summarize({of("10000"), of("0.52"), of("1600000")});
  EXPECT_EQ(summary.n, 1U);
  EXPECT_EQ(summary.n_skipped, 0U);
  EXPECT_EQ(of("1000").status, "ok");
  EXPECT_EQ(of("40000").status, "ok");
}

TEST(MeasuredFigures, TflopsAreComparedWithTheModelsOwn) {
  // 10,000 tokens/s of 17 GFLOP each are 170 TFLOP/s; recomputation and attention are conventions.
  for (const char* tflops : {"130", "160", "200"}) {
    EXPECT_EQ(predicted({{"tflops_per_gpu", tflops}}).status, "ok") << tflops;
  }
  for (const char* tflops : {"60", "400"}) {
    EXPECT_THAT(predicted({{"tflops_per_gpu", tflops}}).status,
                StartsWith(fmt::format("ok-contradictory: {} TFLOP/s stated", tflops)));
  }
}

// 32 x 4,096 tokens on 16 GPUs in 0.8192 s are 10,000 tokens/s/GPU.
TEST(MeasuredFigures, FollowFromAStepTimeOrTflops) {
  Cells cells = with({{"step_time_s", "0.8192"}});
  cells.erase("measured_tokens_per_s_per_gpu");
  const RunPrediction timed = predict_runs(table_of({cells}), catalogue()).front();
  EXPECT_NEAR(timed.measured, 10000, 1e-6);
  EXPECT_EQ(timed.status, "ok");
  cells.erase("step_time_s");
  cells["tflops_per_gpu"] = "170";
  const RunPrediction rated = predict_runs(table_of({cells}), catalogue()).front();
  EXPECT_NEAR(rated.measured, 10000, 1500);
  EXPECT_THAT(rated.status, HasSubstr("tokens/s follow from TFLOP/s by the model's FLOPs"));
  EXPECT_THAT(rated.assumed, Contains("tflops convention"));
  EXPECT_GT(width(rated), width(timed));
}

// A table of 2.8e9 parameters in its columns, and 4e9 stated: a factor of 1.43.
TEST(MeasuredFigures, ParametersOfAnotherModelWidenTheInterval) {
  const RunPrediction other = predicted({{"params_b", "4"}});
  EXPECT_THAT(other.assumed, Contains("params_b"));
  EXPECT_NEAR(other.own_error, std::hypot(predicted({}).own_error, std::log(4 / 2.795) / 2), 0.01);
}

TEST(MeasuredFigures, NotesThatMakeThemAnotherQuantityAreRefused) {
  for (const auto& [notes, what] :
       {std::pair("forward only", "the forward pass alone"),
        std::pair("number is for the whole cluster", "all GPUs together"),
        std::pair("figure is samples per second per GPU", "samples, not tokens"),
        std::pair("tokens/s of all GPUs", "all GPUs together"),
        std::pair("total tokens/s", "all GPUs together"),
        std::pair("cluster-wide", "all GPUs together"),
        std::pair("throughput is the sum over GPUs", "all GPUs together"),
        std::pair("tokens per second of the whole cluster", "all GPUs together"),
        std::pair("samples/s", "samples, not tokens"),
        std::pair("throughput in sequences per second", "samples, not tokens"),
        std::pair("only attention layers timed", "a part of the step"),
        std::pair("half of the GPUs idle", "GPUs of which some are idle"),
        std::pair("Mixed GPU types: half A100, half V100", "GPUs of several kinds")}) {
    EXPECT_EQ(predicted({{"notes", notes}}).status,
              std::string("skipped:unmodelled: its notes say that the figure is of ") + what);
  }
  for (const char* notes : {"two clusters; logged samples/s (30.69)",
                            "aggregate throughput divided by 64 GPUs",
                            "reaches about half A100 peak",
                            "not a mixed GPU cluster",
                            "4k samples. The figure is tokens/s/GPU",
                            "figure is samples/s x seq_len",
                            "Whole cluster used. Figure 5",
                            "does not include restarts",
                            "packed without padding",
                            "582.4k tokens/s of all 224 GPUs",
                            "tokens/s/GPU",
                            "8 GPUs per node",
                            "300B tokens in total",
                            "total tokens/s divided by the GPUs",
                            "trained on all GPUs",
                            "tokens per GPU per second",
                            "only the last 100 steps are timed",
                            "commonly timed so",
                            "straggler detection is on",
                            "straggler mitigation",
                            "dropped 2 idle GPUs",
                            "optimizer state excluded from memory",
                            "padding 0%",
                            "1T model; ran 3 days"}) {
    EXPECT_THAT(predicted({{"notes", notes}}).status, StartsWith("ok")) << notes;
    EXPECT_THAT(but_unread(predicted({{"notes", notes}}).status), Not(HasSubstr("notes: ")))
        << notes;
  }
}

TEST(MeasuredFigures, NotesOnWhatIsNotSimulatedSoWidenTheInterval) {
  const double plain = width(predicted({}));
  for (const auto& [notes, field] :
       {std::pair("no optimizer step", "optimizer step"),
        std::pair("throughput excludes padding tokens", "padding"),
        std::pair("frozen embeddings; only the last 8 layers trained", "frozen layers"),
        std::pair("GPUs clocked down to 1.1 GHz", "clock"),
        std::pair("tiled logits and loss", "loss"), std::pair("chunked cross-entropy", "loss"),
        std::pair("pipeline bubbles excluded", "bubble"),
        std::pair("padding 40% of tokens", "padding"),
        std::pair("non-padded tokens only (30% padding)", "padding"),
        std::pair("excludes optimizer step", "optimizer step"),
        std::pair("includes evaluation and checkpoints", "downtime"),
        std::pair("one straggler GPU at half speed", "straggler"),
        std::pair("24 days for 11.2T tokens", "downtime"), std::pair("21 days, 9.8T", "downtime"),
        std::pair("from GPU hours", "downtime")}) {
    const RunPrediction p = predicted({{"notes", notes}});
    EXPECT_THAT(p.status, StartsWith("ok-assumed: notes: ")) << notes;
    EXPECT_THAT(p.assumed, Contains(field)) << notes;
    EXPECT_GT(width(p), plain) << notes;
  }
  // Time between steps makes a figure lower, never higher.
  EXPECT_DOUBLE_EQ(predicted({{"notes", "from GPU hours"}}).high, predicted({}).high);
  EXPECT_LT(predicted({{"notes", "from GPU hours"}}).low, predicted({}).low);
  EXPECT_DOUBLE_EQ(predicted({{"notes", "21 days, 9.8T"}}).low,
                   predicted({{"notes", "from GPU hours"}}).low);
  EXPECT_LT(predicted({{"notes", "a straggler"}}).low, predicted({{"notes", "GPU hours"}}).low);
  EXPECT_EQ(predicted({{"notes", "21 days on 512 GPUs"}}).status, "ok");
  EXPECT_EQ(predicted({{"notes", "a 70B model, 3 days"}}).status, "ok");
}

// Of a node or a minute a figure follows exactly; what a node has must be stated.
TEST(MeasuredFigures, OfNodesAndMinutesAreDivided) {
  for (const char* notes : {"throughput per node", "tokens/s per node", "per 8-GPU node"}) {
    const RunPrediction p =
        predicted({{"measured_tokens_per_s_per_gpu", "80000"}, {"notes", notes}});
    EXPECT_DOUBLE_EQ(p.measured, 10000) << notes;
    EXPECT_THAT(p.status, HasSubstr("the figure is of a node and is divided by its 8 GPUs"));
    EXPECT_THAT(p.assumed, Contains("figure")) << notes;
  }
  EXPECT_DOUBLE_EQ(predicted({{"measured_tokens_per_s_per_gpu", "80k tokens/s/node"}}).measured,
                   10000);
  EXPECT_DOUBLE_EQ(predicted({{"measured_tokens_per_s_per_gpu", "600000"},
                              {"notes", "tokens per GPU per minute"}})
                       .measured,
                   10000);
  EXPECT_THAT(predicted({{"gpus_per_node", ""}, {"notes", "throughput per node"}}).status,
              HasSubstr("whose GPUs are not stated"));
}

/// The stated run by its TFLOP/s alone, every layer recomputed.
RunPrediction by_tflops(Cells changes) {
  changes.insert(
      {{"measured_tokens_per_s_per_gpu", ""}, {"recompute", "full"}, {"tflops_per_gpu", "200"}});
  return predicted(changes);
}

// Hardware FLOPs hold the forwards that the layout recomputes: 4/3 of the layers' and none of the
// head's, so a little less of the whole.
TEST(MeasuredFigures, HardwareFlopsHoldRecomputedForwards) {
  const double model = by_tflops({}).measured;
  for (const auto& [column, text] :
       {std::pair("notes", "hardware TFLOPs"), std::pair("notes", "HFU"),
        std::pair("notes", "TFLOPs count the recomputed forward pass"),
        std::pair("derivation", "hardware FLOPs convention (recompute counted)"),
        std::pair("tflops_per_gpu", "200 (hardware)"),
        // 200 of the H100's 989.4 TFLOP/s.
        std::pair("tflops_per_gpu", "200 (HFU 20.2%)"), std::pair("notes", "HFU 20.2%, MFU 15.4%"),
        std::pair("notes", "20.2% HFU, 15.4% MFU"), std::pair("notes", "bubble 12%, MFU 15.4%"),
        std::pair("notes", "compared to 22% MFU of DeepSpeed we reach 15.4% MFU"),
        std::pair("notes", "MFU 15.4%"),
        std::pair("notes", "hardware FLOPs; model FLOPs utilization 15.4%")}) {
    const RunPrediction p = by_tflops({{column, text}});
    EXPECT_LT(p.measured, 0.85 * model) << text;
    EXPECT_GT(p.measured, 0.75 * model) << text;
    EXPECT_THAT(p.assumed, Not(Contains("tflops convention"))) << text;
  }
  for (const char* notes : {"model TFLOPs", "HFU 27%, MFU 20.2%", "TFLOPs without recomputation"}) {
    EXPECT_DOUBLE_EQ(by_tflops({{"notes", notes}}).measured, model) << notes;
    EXPECT_THAT(by_tflops({{"notes", notes}}).assumed, Not(Contains("tflops convention"))) << notes;
  }
  EXPECT_THAT(by_tflops({}).assumed, Contains("tflops convention"));
  EXPECT_THAT(by_tflops({{"notes", "the same hardware"}}).assumed, Contains("tflops convention"));
}

TEST(MeasuredFigures, FormatsThatAreChosenAreTold) {
  for (const auto& [cell, told] :
       {std::pair("BF16/FP8", "of 'BF16/FP8' the products are taken to have fp8"),
        std::pair("fp16/bf16", "of 'fp16/bf16' the products are taken to have bf16")}) {
    EXPECT_THAT(predicted({{"precision", cell}}).status, HasSubstr(told));
    EXPECT_THAT(predicted({{"precision", cell}}).assumed, Contains("precision"));
  }
  EXPECT_EQ(predicted({{"precision", "bf16+fp8"}}).status, "ok");
  EXPECT_EQ(scenario({{"precision", "fp8 blockwise"}}).training.framework.scaling,
            workload::Scaling::block);
  EXPECT_EQ(scenario({{"precision", "fp8 delayed"}}).training.framework.scaling,
            workload::Scaling::delayed);
}

TEST(MeasuredFigures, KernelsOfAttentionAreReadOrTold) {
  for (const char* cell : {"eager", "unfused", "gqa, SDPA math", "no FlashAttention"}) {
    EXPECT_EQ(scenario({{"attention", cell}}).training.framework.attention_kernels,
              workload::AttentionKernels::unfused)
        << cell;
  }
  EXPECT_THAT(predicted({{"attention", "Triton"}}).status, HasSubstr("a kernel in Triton"));
  EXPECT_TRUE(scenario({{"attention", "xPos"}}).model.rotary);
  EXPECT_NE(scenario({{"attention", "FlashAttention-2"}}).training.framework.attention_kernels,
            workload::AttentionKernels::unfused);
}

TEST(MeasuredFigures, NamesOfMixturesAndOfTuningAreArchitectures) {
  EXPECT_TRUE(scenario({{"arch", "Mixtral"}, {"n_experts", "8"}, {"top_k", "2"}}).model.moe);
  EXPECT_EQ(predicted({{"arch", "SFT"}}).status, "ok");
}

TEST(MeasuredFigures, ARaggedLineOrABlankIdIsNamedByItsLine) {
  const import::CsvTable whole = table_of({with({}), with({{"id", ""}})});
  EXPECT_EQ(predict_runs(whole, catalogue())[1].id, "line 3");
  EXPECT_EQ(predict_runs(whole, catalogue())[1].status, "ok");
  const std::string text =
      "id,measured_tokens_per_s_per_gpu,gpu\na,1\nb,1,H100,\"x\ny\"\nc,1,H100\n";
  const import::CsvTable ragged(import::with_even_rows(text, "unreadable"), "t.csv");
  const auto rows = predict_runs(ragged, catalogue());
  EXPECT_EQ(rows[0].id, "line 2");
  EXPECT_EQ(rows[0].status, "skipped:line 2: 2 cells where the header has 3");
  EXPECT_EQ(rows[1].status, "skipped:line 3: 4 cells where the header has 3");
  EXPECT_EQ(rows[2].id, "c");
  EXPECT_EQ(ragged.line(2), 5);
  // A mark that never ends is left to the reader of tables, who says where it begins.
  for (const char* open : {"a,b\n1,\"2\n3\n", "a,b\n1,2,\"3\n"}) {
    EXPECT_EQ(import::with_even_rows(open, "c"), open);
  }
  EXPECT_EQ(import::with_even_rows("a,b\r\n1,\"2,3\"\r\n", "c"), "a,b\r\n1,\"2,3\"\r\n");
}

TEST(MeasuredFigures, UnknownColumnsAreToldOnce) {
  Cells row = stated_run();
  row["micro_bach"] = "1";
  const import::CsvTable table = table_of({row, row});
  EXPECT_THAT(check_run_columns(table),
              ElementsAre("unknown column 'micro_bach' is not read; did you mean 'micro_batch'?"));
  EXPECT_EQ(predict_runs(table, catalogue())[0].status, "ok");
}

// Other programs' names of columns are read where they mean one; what is missing is told beside
// what may have been meant.
TEST(MeasuredFigures, ColumnsOfOtherNamesAreReadOrToldAtOnce) {
  const import::CsvTable table(
      "id,Framework,GPU,num_gpus,Model,layers,hidden_size,heads,kv_heads,ffn,vocab_size,"
      "sequence_length,GBS,mbs,TP,PP,dtype,tokens/s/GPU,batch_size\n"
      "a,Megatron-LM,H100,16,Llama,8,4096,32,8,14336,128256,4096,32,1,2,2,bf16,10000,7\n",
      "t.csv");
  const auto told = check_run_columns(table);
  EXPECT_THAT(told, Contains("column 'hidden_size' is read as 'd_model'"));
  EXPECT_THAT(told, Contains(StartsWith("unknown column 'batch_size' is not read")));
  const RunPrediction p = predict_runs(table, catalogue()).front();
  EXPECT_THAT(p.status, StartsWith("ok"));
  EXPECT_EQ(p.measured, 10000);
  const auto built = row_scenario(table, 0, catalogue());
  ASSERT_TRUE(built.scenario.has_value());
  EXPECT_EQ(built.scenario->model.hidden, 4096);
  EXPECT_EQ(built.scenario->parallelism.pipeline, 2);
  EXPECT_EQ(built.scenario->training.global_batch, 32);
  // A column of the own name speaks before another's.
  const import::CsvTable both("id,tp,TP,step_time_s\na,1,2,3\n", "t.csv");
  EXPECT_EQ(read_run_row(both, 0).tp, 1);
  try {
    check_run_columns(import::CsvTable("name,speed,n_layer\na,1,2\n", "t.csv"));
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no column 'measured_tokens_per_s_per_gpu'"));
    EXPECT_THAT(error.what(), HasSubstr("it may be tokens/s/GPU or tokens/s"));
    EXPECT_THAT(error.what(), HasSubstr("column 'n_layer' is read as 'n_layers'"));
  }
}

TEST(MeasuredFigures, ColumnsThatAreThereTwiceAreTold) {
  const import::CsvTable table("id,gpu,tp,step_time_s,tp\na,A100,1,2,4\n", "t.csv");
  EXPECT_THAT(check_run_columns(table),
              ElementsAre("column 'tp' is there twice; the first is read"));
}

}  // namespace
}  // namespace headway::validation

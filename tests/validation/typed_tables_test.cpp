// Published runs as people type them: what is read otherwise than it stands is told, and what is
// another quantity is converted or refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "sim/validation/names/column_names.h"
#include "sim/validation/names/model_names.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/run_row.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A row of a table that names its model and states a layout on eight GPUs.
RunPrediction named(const Cells& changes) {
  Cells row = {{"id", "a"},
               {"model", "Llama-3.1-8B"},
               {"gpu", "H100 SXM"},
               {"n_gpus", "8"},
               {"gpus_per_node", "8"},
               {"seq_len", "2048"},
               {"gbs", "16"},
               {"mbs", "2"},
               {"precision", "bf16"},
               {"software", "PyTorch FSDP"},
               {"year", "2024"},
               {"tokens/s/GPU", "9000"}};
  for (const auto& [column, text] : changes) {
    row[column] = text;
  }
  std::erase_if(row, [](const auto& cell) { return cell.second == "-"; });
  return predict_runs(table_of({row}), catalogue()).front();
}

Cells shape(const char* model,
            const char* layers,
            const char* width,
            const char* heads,
            const char* key_heads,
            const char* ffn) {
  return {{"model", model},          {"layers", layers},
          {"hidden_size", width},    {"heads", heads},
          {"n_kv_heads", key_heads}, {"ffn_hidden_size", ffn},
          {"n_gpus", "64"},          {"gbs", "256"},
          {"seq_len", "4096"},       {"software", "Megatron-Core"}};
}

TEST(TypedTables, AMixtureWithoutExpertsTakesThoseOfItsName) {
  struct Case {
    Cells cells;
    const char* told;
  };
  for (const auto& [cells, told] :
       {Case{shape("Mixtral-8x7B", "32", "4096", "32", "8", "14336"), "mixtral-8x7b"},
        Case{shape("Qwen3-235B-A22B", "94", "4096", "64", "4", "12288"),
             "d_ffn of 12288 is the width of all chosen experts; experts have 1536"},
        Case{shape("DeepSeek-V3", "61", "7168", "128", "128", "18432"),
             "d_ffn of 18432 is the width of dense layers; experts have 2048"}}) {
    EXPECT_THAT(named(cells).status, AllOf(HasSubstr("experts of '"), HasSubstr(told)));
  }
  for (const char* model : {"Custom-MoE 40B-A8B", "My MoE 8B", "Foo 8x3B"}) {
    EXPECT_THAT(named(shape(model, "32", "4096", "32", "8", "14336")).status,
                AllOf(StartsWith("skipped:"), HasSubstr("names a mixture of experts")));
  }
  EXPECT_THAT(named(shape("Mixtral-8x7B", "32", "5120", "40", "8", "14336")).status,
              AllOf(StartsWith("skipped:"), HasSubstr("d_model 5120 for 4096")));
  Cells dense = shape("Mixtral-8x7B", "32", "4096", "32", "8", "14336");
  dense["arch"] = "dense";
  EXPECT_THAT(named(dense).status, HasSubstr("arch says dense and is taken"));
  EXPECT_FALSE(names_mixture("Llama-3.1-8B A100"));
}

TEST(TypedTables, ParametersAndMemoryOfAnotherModelContradict) {
  Cells cells = shape("Foo", "35", "7168", "56", "8", "4864");
  cells["params_b"] = "480";
  EXPECT_THAT(named(cells).status, StartsWith("ok-contradictory: "));
  EXPECT_EQ(
      named({{"seq_len", "2097152"}, {"gbs", "1"}, {"mbs", "1"}, {"n_gpus", "4"}}).status_class,
      "ok-contradictory");
}

TEST(TypedTables, ANumberBehindLoraIsNoRank) {
  const auto rank = [](const char* notes) {
    return scenario({{"notes", notes}})
        .model.adapters.value_or(workload::AdaptersSpec{.rank = 0})
        .rank;
  };
  const int usual = workload::AdaptersSpec{}.rank;
  for (const char* notes : {"LoRA", "LoRA; 8 GPUs", "LoRA; 3497 tok/s", "LoRA: 6700 tok/s/GPU",
                            "LoRA - 1000 steps of Alpaca"}) {
    EXPECT_EQ(rank(notes), usual) << notes;
    EXPECT_THAT(predicted({{"notes", notes}}).status,
                HasSubstr(fmt::format("adapters of rank {}", usual)));
  }
  EXPECT_EQ(rank("LoRA r=32"), 32);
  EXPECT_EQ(rank("LoRA rank 64"), 64);
  EXPECT_THAT(predicted({{"notes", "LoRA rank 3497"}}).status,
              HasSubstr("adapters of rank 3497, more than 512"));
}

TEST(TypedTables, FiguresOfOldMegatronHoldTheRecomputedForwards) {
  const auto measured = [](const char* software, const char* year, const char* recompute) {
    return named({{"software", software},
                  {"year", year},
                  {"recompute", recompute},
                  {"tokens/s/GPU", "-"},
                  {"TFLOP/s/GPU", "200"}});
  };
  const double model = measured("Megatron-LM", "2024", "full").measured;
  for (const auto& [software, year] : {std::pair("Megatron-DeepSpeed", "2022"),
                                       {"gpt-neox", "2023"},
                                       {"Megatron-LM", "2021"},
                                       {"metaseq", "2021"}}) {
    const RunPrediction full = measured(software, year, "full");
    EXPECT_NEAR(full.measured / model, 0.75, 0.02) << software;
    EXPECT_THAT(full.status, HasSubstr("as this software's formula does"));
    EXPECT_NEAR(measured(software, year, "selective").measured / model, 1, 0.02) << software;
  }
}

TEST(TypedTables, InferenceAndTrainingBesideOtherModelsAreSkipped) {
  for (const char* software :
       {"vLLM", "SGLang", "TensorRT-LLM", "inference (SGLang)", "OpenRLHF", "verl"}) {
    EXPECT_THAT(named({{"software", software}}).status,
                StartsWith("skipped:unmodelled: training by"))
        << software;
  }
  for (const char* notes :
       {"inference", "prefill tokens/s/GPU", "generation speed", "DPO", "GRPO",
        "knowledge distillation from 70B", "RLHF actor training beside a reference model"}) {
    EXPECT_THAT(named({{"notes", notes}}).status, StartsWith("skipped:unmodelled: ")) << notes;
  }
  for (const char* notes : {"SFT; DPO later", "before RLHF", "second generation"}) {
    EXPECT_THAT(named({{"notes", notes}}).status, StartsWith("ok-assumed")) << notes;
  }
  EXPECT_THAT(named({{"software", "OpenRLHF"}, {"notes", "SFT"}}).status, StartsWith("ok-assumed"));
}

TEST(TypedTables, AFigureOfANodeIsDividedInAnyWords) {
  for (const char* notes : {"figure is per node", "per node", "per DGX", "figures are per DGX",
                            "per server", "per host", "per 8xA100", "tokens/s per 8 GPUs"}) {
    EXPECT_EQ(predicted({{"notes", notes}}).measured, 10000.0 / 8) << notes;
  }
  for (const char* notes :
       {"cluster throughput", "aggregate", "total over 16 GPUs", "sum over nodes"}) {
    EXPECT_THAT(predicted({{"notes", notes}}).status, HasSubstr("of all GPUs together")) << notes;
  }
  for (const char* notes : {"8 GPUs per node", "one NIC per GPU, 8 per node", "total of 16 GPUs"}) {
    EXPECT_EQ(predicted({{"notes", notes}}).measured, 10000) << notes;
  }
  Cells cells = with({{"tflops_per_gpu", "1360 per node"}});
  cells.erase("measured_tokens_per_s_per_gpu");
  const double node = predict_runs(table_of({cells}), catalogue()).front().measured;
  cells["tflops_per_gpu"] = "170";
  EXPECT_NEAR(node, predict_runs(table_of({cells}), catalogue()).front().measured, 1);
}

TEST(TypedTables, NotesFillBlankColumnsAndTellWhatIsNotRead) {
  const auto noted = [](const char* notes, const char* column) {
    return scenario({{column, ""}, {"notes", notes}});
  };
  EXPECT_EQ(noted("fp8", "precision").training.precision, core::Precision::fp8);
  EXPECT_EQ(noted("full activation checkpointing", "recompute").parallelism.recompute,
            workload::Recompute::full);
  EXPECT_EQ(noted("no recompute", "recompute").parallelism.recompute, workload::Recompute::none);
  EXPECT_EQ(noted("no flash attention", "attention").training.framework.attention_kernels,
            workload::AttentionKernels::unfused);
  EXPECT_EQ(scenario({{"era", "torchtitan fp8"}, {"precision", ""}}).training.precision,
            core::Precision::fp8);
  EXPECT_THAT(predicted({{"notes", "fp8"}}).status, HasSubstr("'fp8' is not what precision says"));
  struct Case {
    const char *notes, *told;
  };
  for (const auto& [notes, told] :
       {Case{"quux really", "notes: words not read (2): quux really"},
        Case{"ran on 64 of 128 GPUs", "a part of the GPUs"},
        Case{"64 of the 128 GPUs idle", "idle"},
        Case{"batch ramp from 256 to 1024", "the batch of the column is the whole run's"},
        Case{"first 100 steps incl. warm-up", "warm-up is in the figure"},
        Case{"theoretical estimate not measured", "what nobody measured"},
        Case{"simulated", "what nobody measured"}, Case{"throttled to 1.2 GHz", "clocks are taken"},
        Case{"with eval and checkpointing", "evaluation is in the figure"},
        Case{"padding not counted", "padding, which runs too"}}) {
    EXPECT_THAT(predicted({{"notes", notes}}).status, HasSubstr(told)) << notes;
  }
}

TEST(TypedTables, FormatsThatAreDeniedOrBesideAreNotTheProducts) {
  using core::Precision;
  struct Case {
    const char* cell;
    Precision format;
    const char* told;
  };
  for (const auto& [cell, format, told] :
       {Case{"no fp8", Precision::bf16, "names none that is used"},
        Case{"fp8 -> bf16", Precision::fp8, "the products are taken to have fp8"},
        Case{"bf16 w/ fp8 comms", Precision::bf16, "'fp8 comms' is not of the products"},
        Case{"16-mixed", Precision::fp16, "ok"}, Case{"bf16-mixed", Precision::bf16, "ok"}}) {
    EXPECT_EQ(scenario({{"precision", cell}}).training.precision, format) << cell;
    EXPECT_THAT(predicted({{"precision", cell}}).status, HasSubstr(told)) << cell;
    EXPECT_THAT(predicted({{"precision", cell}}).status, Not(HasSubstr("not understood"))) << cell;
  }
}

TEST(TypedTables, NamesThatTheProgramPrintsAreSoftware) {
  for (const auto& [entry, software] : catalogue().frameworks) {
    for (const std::string& era : {entry, software.name}) {
      const RowScenario built = row_scenario(table_of({with({{"era", era}})}), 0, catalogue());
      EXPECT_THAT(built.assumed, Not(Contains("era"))) << era;
    }
  }
  for (const char* era : {"Meta Llama 3 trainer", "llama-3-2024"}) {
    EXPECT_EQ(scenario({{"era", era}}).training.framework.name, "Meta Llama 3 trainer");
    EXPECT_TRUE(scenario({{"era", era}}).training.framework.gather_once);
  }
}

TEST(TypedTables, AReadingThatDoesNotFitIsNoMiddle) {
  const RunPrediction p = named({{"model", "Llama-3.1-405B"},
                                 {"n_gpus", "512"},
                                 {"gbs", "64"},
                                 {"tp", "8"},
                                 {"pp", "16"},
                                 {"mbs", "1"},
                                 {"recompute", "none"},
                                 {"software", "Frobnicator"},
                                 {"seq_len", "8192"}});
  EXPECT_THAT(p.status, HasSubstr("fits the memory"));
  EXPECT_THAT(p.status, Not(HasSubstr("the middle of both")));
}

TEST(TypedTables, HeadingsOfOtherTables) {
  struct Case {
    const char *heading, *cell;
    double measured;
  };
  // 16 sequences of 2,048 tokens on 8 GPUs are 4,096 tokens of each.
  for (const auto& [heading, cell, measured] :
       {Case{"Throughput (tokens/s/GPU)", "9000", 9000}, Case{"tokens/sec/gpu", "9000", 9000},
        Case{"tokens/gpu/s", "9000", 9000}, Case{"tokens_per_second_per_device", "9000", 9000},
        Case{"train/tokens_per_second_per_gpu", "9000", 9000}, Case{"tokens/s", "72000", 9000},
        Case{"samples/s", "32", 8192}, Case{"samples/s/GPU", "4", 8192}, Case{"it/s", "2", 8192},
        Case{"s/it", "0.5", 8192}, Case{"sec/step", "0.5", 8192},
        Case{"iteration time (ms)", "500", 8192},
        Case{"elapsed time per iteration (ms)", "500", 8192}}) {
    EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {heading, cell}}).measured, measured, 1e-6)
        << heading;
  }
  const double share = named({{"tokens/s/GPU", "-"}, {"MFU (%)", "40"}}).measured;
  EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {"MFU", "0.4"}}).measured, share, 1e-6);
  EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {"mfu", "40%"}}).measured, share, 1e-6);
  EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {"TFLOPS", "395.8"}}).measured / share, 1, 0.01);
  const RunPrediction hours =
      named({{"tokens/s/GPU", "-"}, {"GPU hours", "1.46M"}, {"Tokens", "15T"}});
  EXPECT_NEAR(hours.measured, 15e12 / 1.46e6 / 3600, 1);
  EXPECT_THAT(hours.status, HasSubstr("GPU hours hold the time between steps"));
}

TEST(TypedTables, HeadingsOfConfigurations) {
  const std::vector<std::pair<const char*, const char*>> headings = {
      {"Params", "params_b"},       {"Model size", "params_b"},
      {"# of GPUs", "n_gpus"},      {"#GPU", "n_gpus"},
      {"Number of GPUs", "n_gpus"}, {"GPU count", "n_gpus"},
      {"Nodes", "n_nodes"},         {"Accelerator", "gpu"},
      {"Hardware", "gpu"},          {"per_device_train_batch_size", "micro_batch"},
      {"Seq", "seq_len"},           {"gradient_accumulation_steps", "grad_accumulation"},
      {"Context", "seq_len"},       {"block_size", "seq_len"},
      {"ZeRO stage", "sharding"},   {"Activation checkpointing", "recompute"},
      {"n_layer", "n_layers"},      {"n_head", "n_heads"},
      {"n_embd", "d_model"},        {"Model TFLOP/s/GPU", "tflops_per_gpu"}};
  for (const auto& [heading, column] : headings) {
    EXPECT_EQ(column_in({heading}, column), heading);
  }
  for (const char* heading : {"Batch size", "hidden_dim", "System"}) {
    EXPECT_THAT(columns_of_either(heading), HasSubstr(" or ")) << heading;
    EXPECT_EQ(column_in({heading}, "d_model"), "") << heading;
  }
  EXPECT_EQ(named({{"n_gpus", "-"}, {"Nodes", "2"}}).gpus, 16);
  EXPECT_THAT(named({{"gbs", "-"}, {"gradient_accumulation_steps", "4"}}).status,
              HasSubstr("global_batch of 8 replicas with 4 micro-batches of 2 is 64"));
}

TEST(TypedTables, SecondColumnsOfAMeaningAndMissingFiguresAreTold) {
  const import::CsvTable twice("gpu,tokens/s/GPU,TGS\nH100,1,2\n", "t.csv");
  EXPECT_THAT(
      check_run_columns(twice),
      Contains("column 'TGS' is a second one of the meaning of 'tokens/s/GPU', which is read"));
  try {
    check_run_columns(import::CsvTable("gpu,batch_size\nH100,1\n", "t.csv"));
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tokens/s, samples/s, it/s"));
    EXPECT_THAT(error.what(), HasSubstr("it may be global_batch or micro_batch"));
  }
}

TEST(TypedTables, CellsOfFigures) {
  struct Case {
    const char* cell;
    double measured;
  };
  for (const auto& [cell, measured] :
       {Case{"9.4k-9.6k", 9500}, Case{"3650 to 3750", 3700}, Case{">1800", 1800},
        Case{"3700 +/- 1%", 3700}, Case{"3700*", 3700}, Case{"3700 [1]", 3700},
        Case{"3700 (55%)", 3700}, Case{"3700 (128 GPUs)", 3700}, Case{"3 700", 3700},
        Case{"222k tok/min", 3700}, Case{"4 samples/s/GPU", 8192}, Case{"2 it/s", 8192},
        Case{"29600 per DGX", 3700}}) {
    const RunPrediction p = named({{"tokens/s/GPU", cell}});
    EXPECT_NEAR(p.measured, measured, 1e-6) << cell << ": " << p.status;
  }
  EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {"step_time_s", "0,5"}}).measured, 8192, 1e-6);
  EXPECT_NEAR(named({{"tokens/s/GPU", "-"}, {"TFLOP/s/GPU", "1.6 PFLOP/s per node"}}).measured,
              named({{"tokens/s/GPU", "-"}, {"TFLOP/s/GPU", "200"}}).measured, 1e-6);
  EXPECT_EQ(named({{"n_gpus", "2 nodes"}}).gpus, 16);
  EXPECT_THAT(named({{"gbs", "8 per GPU"}}).status, HasSubstr("is read as 64 sequences"));
  EXPECT_THAT(named({{"gbs", "4M (ramped from 1M)"}}).status, HasSubstr("beside it is not read"));
  EXPECT_THAT(named({{"n_gpus", "96-128"}}).status,
              HasSubstr("'96-128' in column 'n_gpus' is not a number; state one, as in"));
  EXPECT_THAT(named({{"tokens/s/GPU", "n.a."}, {"step_time_s", "1"}}).status, StartsWith("ok"));
}

TEST(TypedTables, NamesOfModelsAndWhatIsToldWhereThereIsNone) {
  struct Case {
    const char *model, *entry;
  };
  for (const auto& [model, entry] : {Case{"GPT-3 1.3B", "gpt-3-1.3b"},
                                     Case{"GPT-175B", "gpt-3-175b"},
                                     Case{"Snowflake Arctic", "arctic-480b-a17b"},
                                     Case{"Arctic 480B", "arctic-480b-a17b"},
                                     Case{"GPT-2 124M", "gpt2"},
                                     Case{"GPT-2 XL 1.5B", "gpt2-xl"},
                                     Case{"NeoX-20B", "gpt-neox-20b"},
                                     Case{"OLMo-2-1124-7B", "olmo-2-7b"},
                                     Case{"OLMo-2-0325-32B", "olmo-2-32b"},
                                     Case{"Yi-34B-200K", "yi-34b"},
                                     Case{"Mistral 7B v0.3", "mistral-7b"},
                                     Case{"phi-4 14B", "phi-4"},
                                     Case{"Phi-3-mini-4k", "phi-3-mini"},
                                     Case{"Llama-2-7b-chat-hf", "llama-2-7b"},
                                     Case{"Llama-3.1-70B LoRA", "llama-3.1-70b"},
                                     Case{"Pythia 1.4B deduped", "pythia-1.4b"},
                                     Case{"LLaMA 7B", "llama-1-7b"},
                                     Case{"LLaMA-13B", "llama-1-13b"},
                                     Case{"OLMo-1 7B", "olmo-7b"},
                                     Case{"Qwen2-7B", "qwen2.5-7b"},
                                     Case{"OPT-6.7B", "opt-6.7b"},
                                     Case{"bloom-7b1", "bloom-7b"},
                                     Case{"StarCoder", "starcoder-15.5b"},
                                     Case{"Skywork-13B", "skywork-13b"}}) {
    Assumed assumed;
    RunRow row;
    row.model = model;
    EXPECT_THAT(with_named_model(row, catalogue(), assumed).abouts.size(), 1U) << model;
    for (const AboutCell& about : with_named_model(row, catalogue(), assumed).abouts) {
      EXPECT_THAT(about.why, HasSubstr(fmt::format("catalogue's {}", entry))) << model;
    }
  }
  EXPECT_THAT(named({{"model", "Lama-3.1-8B"}}).status, HasSubstr("did you mean 'llama-3.1-8b'?"));
  EXPECT_THAT(named({{"gpu", "TPU v5p"}, {"model", "Foo"}}).status,
              HasSubstr("unknown GPU TPU v5p"));
  EXPECT_THAT(named({{"model", "Foo-Mamba"}}).status, HasSubstr("has layers of state spaces"));
  EXPECT_EQ(named({{"gpu", "16 x DGX A100 80GB"}, {"n_gpus", "-"}, {"gpus_per_node", "-"}}).gpus,
            128);
}

TEST(TypedTables, ASuperchipsNodeHasTheTensorRanks) {
  const auto node = [](const Cells& changes) {
    Cells cells = with({{"gpu", "GH200 96GB"},
                        {"gpus_per_node", ""},
                        {"nvlink_domain", ""},
                        {"network", ""},
                        {"nics_per_node", ""},
                        {"nic_gbps", ""}});
    for (const auto& [column, text] : changes) {
      cells[column] = text;
    }
    return row_scenario(table_of({cells}), 0, catalogue()).scenario.value().cluster.node.gpus;
  };
  EXPECT_EQ(node({{"tp", "1"}, {"dp", "8"}}), 1);
  EXPECT_EQ(node({{"tp", "4"}, {"dp", "2"}}), 4);
  EXPECT_EQ(node({{"gpu", "4x GH200"}, {"tp", "1"}, {"dp", "8"}}), 4);
}

TEST(TypedTables, OptimizersOfWholeMatricesAreShardedByThem) {
  for (const char* software : {"PyTorch", "PyTorch DDP", "nanochat", "minimal PyTorch"}) {
    const RunPrediction p =
        named({{"model", "Llama-3.2-1B"}, {"software", software}, {"notes", "Muon"}});
    EXPECT_THAT(p.status, StartsWith("ok-assumed")) << software;
  }
  for (const char* notes :
       {"AdamW (Muon is 2 % slower)", "full FT; LoRA gives 9000", "offload would be slower"}) {
    const training::Scenario s = scenario({{"notes", notes}});
    EXPECT_EQ(s, scenario({})) << notes;
  }
}

}  // namespace
}  // namespace headway::validation

// Files of torchtitan and DeepSpeed as runs; their syntaxes as settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/import/launch/launch_table.h"

#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LaunchRun with_model(int layers) {
  LaunchRun start;
  start.model.layers = layers;
  start.model.hidden = 4096;
  start.model.heads = start.model.key_value_heads = 32;
  start.model.head_dim = 128;
  start.model.ffn = 14336;
  return start;
}

LaunchImport titan(const std::string& text, const LaunchRun& start = {}) {
  return read_launch(torchtitan_table(), read_toml_settings(text, "run.toml"), start);
}

LaunchImport deepspeed(const std::string& text, const LaunchRun& start = {}) {
  return read_launch(deepspeed_table(), read_json_settings(text, "ds.json"), start);
}

template <class Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(TomlSettings, HaveKeysValuesAndPlaces) {
  const auto read =
      read_toml_settings("[a]\nb = 1_000\nc.d = [\"x\", 2]\n[e]\nf = true\ng = \"t\"\n", "f");
  std::vector<std::string> out;
  for (const LaunchSetting& setting : read.list) {
    out.push_back(
        fmt::format("{}:{}={}", setting.mark.line, setting.key, fmt::join(setting.values, "|")));
  }
  EXPECT_THAT(out, ElementsAre("2:a.b=1000", "3:a.c.d=x|2", "5:e.f=true", "6:e.g=t"));
  EXPECT_THAT(refusal([] { read_toml_settings("a = 1\nb =\n", "f"); }),
              HasSubstr("f:2:4: not valid TOML: "));
  std::string deep = "a";
  for (int i = 0; i < 100; ++i) {
    deep += ".a";
  }
  EXPECT_THAT(refusal([&] { read_toml_settings("x = 1\n[" + deep + "]\n", "f"); }),
              HasSubstr("a key of more than 60 parts"));
  EXPECT_NO_THROW(read_toml_settings("# " + std::string(200, '.') + "\na = \"1.2.3\"\n", "f"));
}

TEST(JsonSettings, HaveKeysValuesAndPlaces) {
  const auto read = read_json_settings(
      "{\"a\": {\"b\": 1e9,\n \"c\": [1, {\"d\": \"]\"}, \"x\\\"y\"]},\n \"e\": null, \"f\": "
      "\"t\"}",
      "f");
  std::vector<std::string> out;
  for (const LaunchSetting& setting : read.list) {
    out.push_back(
        fmt::format("{}:{}={}", setting.mark.line, setting.key, fmt::join(setting.values, "|")));
  }
  EXPECT_THAT(out, ElementsAre("1:a.b=1000000000.0", "2:a.c=1|(a list)|x\"y", "3:e=null", "3:f=t"));
  EXPECT_THAT(refusal([] { read_json_settings("{\"a\": }", "f"); }),
              HasSubstr("f:1:7: not valid JSON"));
  EXPECT_THAT(refusal([] { read_json_settings("[]", "f"); }), HasSubstr("no JSON object"));
}

TEST(Torchtitan, OfLlama405BIsReadWhole) {
  const LaunchImport found = titan(text_of(kData + "launch/llama3_405b.toml"), with_model(126));
  EXPECT_THAT(found.unknown, ElementsAre(HasSubstr("our_own.idea 3")));
  EXPECT_THAT(found.not_modelled, IsEmpty());
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_EQ(found.run.model_entry, "llama-3.1-405b");
  const workload::ParallelismSpec& p = found.run.parallelism;
  EXPECT_EQ(found.run.gpus, 1024);  // 8 shards x tensor 8 x context 2 x pipeline 8
  EXPECT_EQ(p.data, core::OrAuto<int>(8));
  EXPECT_EQ(p.sharding, workload::Sharding::zero3);
  EXPECT_EQ(p.schedule, workload::ScheduleKind::interleaved);
  EXPECT_EQ(p.micro_batch, 1);
  EXPECT_EQ(p.recompute, workload::Recompute::full);
  EXPECT_EQ(p.recompute_period, 1);
  EXPECT_EQ(found.run.training.global_batch, 512);
  EXPECT_EQ(found.run.training.precision, core::Precision::fp8);
  EXPECT_EQ(found.run.training.framework.scaling, workload::Scaling::tensor);
  EXPECT_TRUE(found.run.training.framework.tensor_overlap);
  EXPECT_EQ(found.run.steps, 3000);
}

// 126 layers and one for each end over 8 stages of 8 chunks: 2 a chunk, 1 in the first and last.
TEST(Torchtitan, FillsStagesWithTheEndsCountedAsLayers) {
  const LaunchImport found = titan(text_of(kData + "launch/llama3_405b.toml"), with_model(126));
  EXPECT_EQ(found.run.parallelism.virtual_stages, 8);
  EXPECT_EQ(found.run.parallelism.first_stage_layers, 15);  // 1 + 7 x 2
  EXPECT_EQ(found.run.parallelism.last_stage_layers, 15);
  EXPECT_EQ(middle_layers(found.run), 16);
  const std::string four =
      "[parallelism]\npipeline_parallel_degree = 4\ndata_parallel_shard_degree = 2\n";
  EXPECT_THAT(titan(four, with_model(32)).run.parallelism.chunk_layers, ElementsAre(8, 9, 8, 7));
  EXPECT_THAT(
      refusal([&] { titan(four + "pipeline_parallel_layers_per_stage = 5\n", with_model(32)); }),
      HasSubstr("run.toml:4:1: 34 layers, 2 of them for the ends, in stages of 5 are 7 stages"));
}

TEST(Torchtitan, DividesRanksIntoReplicasAndShards) {
  const auto layout = [](const std::string& more, std::int64_t gpus = 0) {
    LaunchRun start = with_model(32);
    start.gpus = gpus;
    return titan("[parallelism]\n" + more, start).run.parallelism;
  };
  const auto hybrid =
      layout("data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n");
  EXPECT_EQ(hybrid.sharding, workload::Sharding::hsdp);
  EXPECT_EQ(hybrid.shard_group_size, 8);
  EXPECT_EQ(hybrid.data, core::OrAuto<int>(32));
  EXPECT_EQ(layout("data_parallel_shard_degree = 1\n").sharding, workload::Sharding::zero0);
  EXPECT_EQ(layout("tensor_parallel_degree = 8\n", 64).data, core::OrAuto<int>(8));
  EXPECT_THAT(
      refusal([&] { layout("data_parallel_shard_degree = 8\n", 64); }),
      HasSubstr("run.toml:2:1: 1 replicas x 8 shards x 1 ranks of a model are 8 GPUs, not 64"));
  EXPECT_THAT(titan("[model]\nname = \"llama3\"\nflavor = \"8B\"\n").missing,
              Contains(HasSubstr("cluster.nodes: ")));
}

TEST(Torchtitan, FlavorsAreEntriesOfTheCatalogue) {
  const auto entry = [](const std::string& name, const std::string& flavor) {
    return titan("[model]\nname = \"" + name + "\"\nflavor = \"" + flavor + "\"\n").run.model_entry;
  };
  EXPECT_EQ(entry("qwen3", "0.6B"), "qwen3-0.6b");
  EXPECT_EQ(entry("qwen3", "32B"), "qwen3-32b");
  EXPECT_EQ(entry("llama4", "17bx16e"), "llama-4-scout");
  EXPECT_EQ(entry("qwen3", "33B"), "");
}

TEST(Torchtitan, SaysWhatIsRecomputed) {
  const auto layout = [](const std::string& text) {
    return titan("[activation_checkpoint]\n" + text, with_model(32)).run.parallelism;
  };
  EXPECT_EQ(layout("").recompute_period, 2);  // the default: every second layer
  EXPECT_EQ(layout("mode = \"none\"").recompute, workload::Recompute::none);
  EXPECT_THAT(layout("mode = \"selective\"\nselective_ac_option = \"op\"").recompute_parts,
              ElementsAre(workload::RecomputePart::operators));
  // Of DeepSeek's layers nobody says which products op saves.
  LaunchRun latent = with_model(32);
  latent.model.latent = workload::LatentAttentionSpec{1536, 512, 128, 64, 128};
  const auto degraded = titan(
      "[activation_checkpoint]\nmode = \"selective\"\nselective_ac_option = \"op\"\n", latent);
  EXPECT_EQ(degraded.run.parallelism.recompute, workload::Recompute::none);
  EXPECT_THAT(degraded.not_modelled, ::testing::Contains(HasSubstr("selective_ac_option")));
  EXPECT_THAT(refusal([&] { layout("mode = \"most\""); }),
              HasSubstr("mode 'most' is not modelled"));
  const auto budget = titan(
      "[activation_checkpoint]\nmode = \"memory_budget\"\nmemory_budget = 0.5\n", with_model(32));
  EXPECT_EQ(budget.run.parallelism.recompute, workload::Recompute::none);
  EXPECT_THAT(budget.not_modelled, ElementsAre(HasSubstr("within a budget is not known")));
  EXPECT_THAT(budget.unknown, IsEmpty());
}

// Each changes time or memory: it is in the run, or listed with its line.
TEST(Torchtitan, ListsWhatChangesTimeAndHasNoPlace) {
  const auto listed = [](const std::string& text) {
    return titan(text, with_model(32)).not_modelled;
  };
  EXPECT_THAT(listed("[training]\ndtype = \"bfloat16\"\n"),
              ElementsAre(HasSubstr("line 2: training.dtype bfloat16: weights, gradients")));
  EXPECT_THAT(listed("[training]\ndtype = \"float32\"\n"), IsEmpty());
  EXPECT_THAT(listed("[validation]\nenable = true\nfreq = 5\nsteps = 10\n"),
              ElementsAre(HasSubstr("evaluation is not counted")));
  EXPECT_THAT(listed("[validation]\nenable = false\nfreq = 5\n"), IsEmpty());
  const std::string filter = "[quantize.linear.float8]\nfilter_fqns = [\"output\"";
  EXPECT_THAT(listed(filter + ", \"feed_forward.w1\"]\n"),
              ElementsAre(HasSubstr("filter_fqns output feed_forward.w1: all layers but")));
  EXPECT_THAT(listed(filter + "]\n"), IsEmpty());
  EXPECT_THAT(listed("[optimizer]\nname = \"Lion\"\nimplementation = \"for-loop\"\n"),
              ElementsAre(HasSubstr("read as AdamW"), HasSubstr("taken to be fused")));
  EXPECT_THAT(listed("[parallelism]\npipeline_parallel_degree = 2\n"
                     "pipeline_parallel_schedule = \"InterleavedZeroBubble\"\n"
                     "data_parallel_shard_degree = 4\n"),
              ElementsAre(HasSubstr("read as Interleaved1F1B")));
  EXPECT_THAT(titan("[optimizer]\nidea = 1\n[quantize]\nidea = 2\n", with_model(32)).unknown,
              ElementsAre(HasSubstr("optimizer.idea 1"), HasSubstr("quantize.idea 2")));
}

TEST(Torchtitan, ReadsTheOptimizerAndTheFormatOfReductions) {
  const auto training = [](const std::string& text) {
    return titan(text, with_model(32)).run.training;
  };
  EXPECT_EQ(training("[optimizer]\nname = \"Muon\"\n").optimizer_state,
            workload::OptimizerState::muon);
  EXPECT_EQ(training("[optimizer]\nname = \"Adam\"\n").optimizer_state,
            workload::OptimizerState::adam_fp32);
  const std::string reduce = "[training]\nmixed_precision_reduce = ";
  EXPECT_EQ(training(reduce + "\"bfloat16\"\n").framework.reduce_bytes, 2);
  EXPECT_EQ(training(reduce + "\"float32\"\n").framework.reduce_bytes, 4);
}

// Since 0.3 it is configured in Python.
TEST(Torchtitan, OfReleasesInPythonIsSaidToBePython) {
  EXPECT_THAT(refusal([] {
                titan("from torchtitan.config import Trainer\n\ndef llama3_8b():\n    return 1\n");
              }),
              HasSubstr("this is Python, in which torchtitan is configured since 0.3"));
}

TEST(Torchtitan, CompilesTheComponentsThatAreNamed) {
  const auto compiled = [](const std::string& text) {
    const auto framework = titan("[compile]\n" + text, with_model(32)).run.training.framework;
    return std::pair(framework.elementwise == workload::Elementwise::compiled,
                     framework.loss == workload::Loss::fused);
  };
  EXPECT_EQ(compiled("enable = true\n"), std::pair(true, true));
  EXPECT_EQ(compiled("enable = true\ncomponents = [\"loss\"]\n"), std::pair(false, true));
  EXPECT_EQ(compiled("enable = true\ncomponents = [\"model\"]\n"), std::pair(true, false));
  EXPECT_EQ(compiled("enable = false\ncomponents = [\"model\"]\n"), std::pair(false, false));
  EXPECT_EQ(compiled("enable = true\nbackend = \"eager\"\n"), std::pair(false, false));
  EXPECT_EQ(compiled("enable = true\nbackend = \"inductor\"\n"), std::pair(true, true));
}

TEST(Torchtitan, SaysHowOftenItSaves) {
  const std::string steps = "[training]\nsteps = 1000\n[checkpoint]\n";
  const auto saves = [&](const std::string& text) {
    return titan(steps + text, with_model(32)).run.saves;
  };
  EXPECT_EQ(saves("enable = true\ninterval = 20\n"), (LaunchSaves{20, false}));
  EXPECT_EQ(saves("enable_checkpoint = true\ninterval = 20\nasync_mode = \"async\"\n"),
            (LaunchSaves{20, true}));
  EXPECT_EQ(saves("enable = true\nasync_mode = \"async_with_pinned_mem\"\n"),
            (LaunchSaves{500, true}));
  EXPECT_FALSE(saves("interval = 20\n"));
  EXPECT_THAT(titan(steps + "interval = 20\n", with_model(32)).not_modelled,
              ElementsAre(HasSubstr("does not switch saves on")));
}

TEST(DeepSpeed, OfZero3WithOffloadIsReadWhole) {
  const LaunchImport found = deepspeed(text_of(kData + "launch/zero3_offload.json"));
  EXPECT_THAT(found.unknown, ElementsAre(HasSubstr("our_own.idea 3")));
  EXPECT_THAT(found.not_modelled,
              ElementsAre(HasSubstr("offload_param.device cpu: offload of weights is not modelled"),
                          HasSubstr("partition_activations true: ")));
  EXPECT_THAT(found.missing,
              ElementsAre(HasSubstr("model: "), HasSubstr("training.sequence_length: ")));
  EXPECT_EQ(found.run.gpus, 64);  // 256 / (2 x 2)
  EXPECT_EQ(found.run.parallelism.sharding, workload::Sharding::zero3);
  EXPECT_EQ(found.run.parallelism.offload, workload::Offload::optimizer);
  EXPECT_EQ(found.run.parallelism.micro_batch, 2);
  EXPECT_EQ(found.run.training.global_batch, 256);
  EXPECT_EQ(found.run.training.precision, core::Precision::bf16);
  EXPECT_EQ(found.run.training.framework.reduce_bytes, 2);
}

TEST(DeepSpeed, RefusesBatchesThatContradict) {
  EXPECT_THAT(refusal([] {
                deepspeed(
                    "{\"train_batch_size\": 100, \"train_micro_batch_size_per_gpu\": 3,\n"
                    "\"gradient_accumulation_steps\": 2}");
              }),
              HasSubstr("ds.json:1:2: a batch of 100 is no multiple of 3 in a micro-batch x 2"));
  LaunchRun start;
  start.gpus = 8;
  EXPECT_THAT(refusal([&] {
                deepspeed(
                    "{\"train_batch_size\": 96, \"train_micro_batch_size_per_gpu\": 3,\n"
                    "\"gradient_accumulation_steps\": 2}",
                    start);
              }),
              HasSubstr("x 16 ranks, which are 16 GPUs, not 8"));
  EXPECT_THAT(refusal([] { deepspeed("{\"zero_optimization\": {\"stage\": 4}}"); }),
              HasSubstr("stage 4: there are 0 to 3"));
}

// batch = micro-batch x accumulation x ranks: where two are set, DeepSpeed reckons the third.
TEST(DeepSpeed, ReckonsTheMicroBatchFromTheOthers) {
  LaunchRun start = with_model(32);
  start.gpus = 32;
  for (const std::string micro : {"", "\"train_micro_batch_size_per_gpu\": \"auto\", "}) {
    const LaunchImport found = deepspeed(
        "{" + micro + "\"train_batch_size\": 256, \"gradient_accumulation_steps\": 4}", start);
    EXPECT_EQ(found.run.parallelism.micro_batch, 2);
    EXPECT_THAT(found.assumptions,
                Contains("train_micro_batch_size_per_gpu is 256 / 32 ranks / 4 micro-batches = 2"));
  }
  EXPECT_THAT(refusal([&] {
                deepspeed("{\"train_batch_size\": 100, \"gradient_accumulation_steps\": 4}", start);
              }),
              HasSubstr("a batch of 100 is no multiple of 32 ranks x 4 micro-batches"));
}

TEST(DeepSpeed, AsksForTheBatchWhereItKnowsTheGpus) {
  const std::string text =
      "{\"train_batch_size\": \"auto\", \"train_micro_batch_size_per_gpu\": \"auto\"}";
  LaunchRun start = with_model(32);
  EXPECT_THAT(deepspeed(text, start).missing, Contains(HasSubstr("or name the GPUs: --gpus N")));
  start.gpus = 32;
  const LaunchImport found = deepspeed(text, start);
  EXPECT_THAT(found.missing, ElementsAre(HasSubstr("set train_batch_size, or train_micro_batch_"),
                                         HasSubstr("training.sequence_length: ")));
  EXPECT_THAT(found.assumptions, Contains("train_micro_batch_size_per_gpu is not set: 1"));
}

TEST(DeepSpeed, SaysThatGradientsAreNotCompressed) {
  EXPECT_THAT(deepspeed("{\"optimizer\": {\"type\": \"OneBitAdam\"}}").not_modelled,
              ElementsAre(HasSubstr("whose gradients are not compressed")));
  EXPECT_THAT(deepspeed("{\"optimizer\": {\"type\": \"AdamW\"}}").not_modelled, IsEmpty());
}

// Stages 1 and 2 gather weights in the optimizer's step, stage 3 layer by layer.
TEST(DeepSpeed, GathersShardedStatesWeightsAtTheEnd) {
  const auto beside = [](int stage) {
    return deepspeed("{\"zero_optimization\": {\"stage\": " + std::to_string(stage) + "}}")
        .run.training.framework.gather_overlap;
  };
  EXPECT_TRUE(beside(0));
  EXPECT_FALSE(beside(1));
  EXPECT_FALSE(beside(2));
  EXPECT_TRUE(beside(3));
}

TEST(DeepSpeed, SaysWhatIsAuto) {
  LaunchRun start = with_model(32);
  start.gpus = 16;
  const LaunchImport found = deepspeed(
      "{\"train_batch_size\": \"auto\", \"train_micro_batch_size_per_gpu\": 4,"
      " \"bf16\": {\"enabled\": \"auto\"}}",
      start);
  EXPECT_THAT(found.assumptions,
              Contains("train_batch_size is 'auto': what starts DeepSpeed sets it"));
  EXPECT_THAT(found.assumptions, Contains("bf16.enabled is 'auto': bf16"));
  EXPECT_EQ(found.run.training.global_batch, 64);
}

/// What MaxText's file of a run says of a key; empty: nothing.
std::string maxtext(const LaunchRun& run, std::string_view key) {
  for (const LaunchLine& line : write_launch(maxtext_table(), run)) {
    if (line.key == key) {
      return line.values.front();
    }
  }
  return "";
}

std::vector<std::string> maxtext_remarks(const LaunchRun& run) {
  return maxtext_table().remarks(run, {});
}

TEST(MaxText, ShardsTheOptimizerOfAdamAlone) {
  LaunchRun run = with_model(32);
  run.parallelism.data = 8;
  run.gpus = run.gpus_per_node = 8;
  run.parallelism.sharding = workload::Sharding::zero0;
  EXPECT_EQ(maxtext(run, "shard_optimizer_over_data"), "false");
  EXPECT_EQ(maxtext(run, "ici_fsdp_parallelism"), "1");
  EXPECT_THAT(maxtext_remarks(run), IsEmpty());
  run.parallelism.sharding = workload::Sharding::zero1;
  EXPECT_EQ(maxtext(run, "shard_optimizer_over_data"), "true");
  EXPECT_THAT(maxtext_remarks(run), IsEmpty());
  run.parallelism.sharding = workload::Sharding::zero2;
  EXPECT_EQ(maxtext(run, "shard_optimizer_over_data"), "true");
  EXPECT_THAT(maxtext_remarks(run), ElementsAre(HasSubstr("parallelism.sharding is zero2")));
  run.training.optimizer_state = workload::OptimizerState::muon;
  EXPECT_EQ(maxtext(run, "shard_optimizer_over_data"), "false");
  EXPECT_THAT(maxtext_remarks(run),
              ElementsAre(HasSubstr("only the state of adamw can be sharded so"),
                          HasSubstr("training.optimizer_state is muon")));
  run.parallelism.sharding = workload::Sharding::zero3;
  EXPECT_EQ(maxtext(run, "ici_fsdp_parallelism"), "8");
}

// A model of experts alone has their width in both keys, or MaxText does not start.
TEST(MaxText, HasTheWidthOfExpertsWhereAllLayersHaveThem) {
  LaunchRun run = with_model(32);
  run.model.ffn = 0;
  run.model.moe.emplace();
  run.model.moe->ffn = 768;
  EXPECT_EQ(maxtext(run, "base_mlp_dim"), "768");
  EXPECT_EQ(maxtext(run, "base_moe_mlp_dim"), "768");
  run.model.ffn = 4096;
  EXPECT_EQ(maxtext(run, "base_mlp_dim"), "4096");
}

TEST(MaxText, SaysWhichPipelinesDoNotStart) {
  LaunchRun run = with_model(30);
  run.parallelism.pipeline = 4;
  run.parallelism.schedule = workload::ScheduleKind::gpipe;
  run.parallelism.sharding = workload::Sharding::zero0;
  run.parallelism.data = 1;
  run.training.global_batch = 6;
  EXPECT_THAT(
      maxtext_remarks(run),
      ElementsAre("that it starts: num_pipeline_microbatches 6 is no multiple of 4 stages"));
  run.training.global_batch = 8;
  EXPECT_THAT(maxtext_remarks(run), IsEmpty());
}

TEST(MaxText, NamesOptimizersThatItHas) {
  LaunchRun run = with_model(32);
  run.parallelism.sharding = workload::Sharding::zero0;
  using workload::OptimizerState;
  for (const auto& [state, type, remark] :
       {std::tuple{OptimizerState::adam_fp32, "adamw", ""},
        {OptimizerState::adam_bf16, "adamw", "the first moment's"},
        {OptimizerState::adam_8bit, "adamw", "no such opt_type"},
        {OptimizerState::soap, "adamw", "no such opt_type"},
        {OptimizerState::muon, "muon", "decoder_block"},
        {OptimizerState::sgd_momentum, "sgd", "no momentum"}}) {
    run.training.optimizer_state = state;
    EXPECT_EQ(maxtext(run, "opt_type"), type);
    if (*remark == '\0') {
      EXPECT_THAT(maxtext_remarks(run), IsEmpty());
    } else {
      EXPECT_THAT(maxtext_remarks(run), ElementsAre(HasSubstr(remark)));
    }
  }
}

TEST(MaxText, SaysHowContextRanksMeetAndWhatIsNarrow) {
  LaunchRun run = with_model(32);
  run.parallelism.sharding = workload::Sharding::zero0;
  EXPECT_EQ(maxtext(run, "context_parallel_strategy"), "");
  run.parallelism.context = 2;
  EXPECT_EQ(maxtext(run, "context_parallel_strategy"), "ring");
  run.parallelism.context_kind = workload::ContextKind::all_gather;
  EXPECT_EQ(maxtext(run, "context_parallel_strategy"), "all_gather");
  EXPECT_THAT(maxtext_remarks(run), IsEmpty());
  run.parallelism.context_kind = workload::ContextKind::all_to_all;
  EXPECT_EQ(maxtext(run, "context_parallel_strategy"), "all_gather");
  EXPECT_THAT(maxtext_remarks(run), ElementsAre(HasSubstr("for TPUs alone (ulysses)")));
  using core::Precision;
  for (const auto& [precision, word] : {std::pair{Precision::bf16, ""},
                                        {Precision::fp8, "fp8"},
                                        {Precision::mxfp8, "te_mxfp8"},
                                        {Precision::nvfp4, "te_nvfp4"}}) {
    run.training.precision = precision;
    EXPECT_EQ(maxtext(run, "quantization"), word);
  }
}

}  // namespace
}  // namespace headway::import

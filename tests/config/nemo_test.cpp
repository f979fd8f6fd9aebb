// NeMo's YAML as settings and as a run.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "sim/config/launch/launch_scenario.h"

namespace headway::config {
namespace {

using import::LaunchImport;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LaunchImport read(const std::string& text) {
  return import::read_launch(import::nemo_table(), read_yaml_settings(text, "gpt.yaml"), {});
}

/// What NeMo's file of a run has.
std::string written(const import::LaunchRun& run) {
  return import::launch_text(import::LaunchSyntax::yaml,
                             import::write_launch(import::nemo_table(), run), {});
}

std::map<std::string, std::string> values(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const auto& setting : read_yaml_settings(text, "f").list) {
    out[setting.key] = fmt::format("{}", fmt::join(setting.values, "|"));
  }
  return out;
}

TEST(YamlSettings, ReplaceReferences) {
  const auto found = values(
      "a: {b: 3, c: '${.b}', d: '${multiply:4, ${.b}}', e: '${..f.g}'}\nf: {g: '${a.c}'}\n"
      "h: '${a.b}'\ni: '${nobody}'\nj: [1, '${a.b}']\nk: '${k}'\n");
  EXPECT_EQ(found.at("a.c"), "3");
  EXPECT_EQ(found.at("a.d"), "12");
  EXPECT_EQ(found.at("a.e"), "3");
  EXPECT_EQ(found.at("h"), "3");
  EXPECT_EQ(found.at("i"), "${nobody}");
  EXPECT_EQ(found.at("j"), "1|3");
  EXPECT_EQ(found.at("k"), "${k}");
}

TEST(Nemo, OfGpt20BIsReadWhole) {
  std::ifstream file(HEADWAY_SOURCE_DIR "/tests/data/launch/megatron_gpt.yaml");
  const import::LaunchImport found = read({std::istreambuf_iterator<char>(file), {}});
  EXPECT_THAT(found.unknown, ElementsAre(HasSubstr("model.our_own_idea 3")));
  EXPECT_THAT(found.not_modelled, ElementsAre(HasSubstr("32 forward passes of a batch after every "
                                                        "1000 steps add about 1.1 %"),
                                              HasSubstr("model.overlap_p2p_comm"),
                                              HasSubstr("model.bias_activation_fusion")));
  EXPECT_THAT(found.missing, IsEmpty());
  const import::LaunchRun& run = found.run;
  EXPECT_EQ(run.gpus, 256);
  EXPECT_EQ(run.model.layers, 44);
  EXPECT_EQ(run.model.ffn, 24576);  // 4 x 6144
  EXPECT_EQ(run.model.learned_positions, 2048);
  EXPECT_EQ(run.model.vocabulary, 50688);  // 50257 to a multiple of 128 x tensor 4
  EXPECT_EQ(run.model.key_value_heads, 48);
  EXPECT_TRUE(run.model.biases && run.model.tied_embeddings && !run.model.gated_mlp);
  EXPECT_EQ(run.parallelism.virtual_stages, 11);
  EXPECT_EQ(run.parallelism.data, core::OrAuto<int>(16));
  EXPECT_EQ(run.parallelism.sharding, workload::Sharding::zero1);
  EXPECT_EQ(run.parallelism.recompute, workload::Recompute::selective);
  EXPECT_TRUE(run.training.framework.tensor_overlap);
  EXPECT_EQ(run.training.framework.gradient_bytes, 2);
  EXPECT_EQ(run.steps, 100000);
}

const std::string kLayout =
    "trainer:\n  devices: 8\n  num_nodes: 4\n  max_steps: 100\n  precision: bf16\n";

// NeMo 2 has the layout in its strategy.
TEST(Nemo, OfTheSecondReleaseHasItsLayoutInTheStrategy) {
  const std::string model =
      "model: {num_layers: 32, hidden_size: 4096, num_attention_heads: 32, micro_batch_size: 1, "
      "global_batch_size: 512, encoder_seq_length: 4096, bias: false}\n";
  const auto found =
      read(kLayout +
           "  strategy:\n    tensor_model_parallel_size: 4\n    pipeline_model_parallel_size: 4\n"
           "    virtual_pipeline_model_parallel_size: 2\n    context_parallel_size: 2\n"
           "    sequence_parallel: true\n    ckpt_async_save: true\n    idea: 3\n"
           "    ddp: {use_distributed_optimizer: true, grad_reduce_in_fp32: true, "
           "overlap_grad_reduce: true, overlap_param_gather: true, idea: 4}\n" +
           model + "exp_manager: {checkpoint_callback_params: {every_n_train_steps: 20}}\n");
  EXPECT_THAT(found.unknown, ElementsAre("line 13: trainer.strategy.idea 3",
                                         "line 14: trainer.strategy.ddp.idea 4"));
  EXPECT_THAT(found.not_modelled, IsEmpty());
  const workload::ParallelismSpec& p = found.run.parallelism;
  EXPECT_EQ(p.tensor, 4);
  EXPECT_EQ(p.pipeline, 4);
  EXPECT_EQ(p.virtual_stages, 2);
  EXPECT_EQ(p.context, 2);
  EXPECT_TRUE(p.sequence);
  EXPECT_EQ(p.data, core::OrAuto<int>(1));
  EXPECT_EQ(p.sharding, workload::Sharding::zero1);
  EXPECT_EQ(found.run.training.framework.gradient_bytes, 4);
  EXPECT_TRUE(found.run.training.framework.data_overlap);
  EXPECT_TRUE(found.run.training.framework.gather_overlap);
  EXPECT_EQ(found.run.saves, (import::LaunchSaves{20, true}));
}

TEST(Nemo, ListsWhatItDoesNotKnowOfTrainerAndManager) {
  const auto found =
      read(kLayout +
           "  foo: 3\n  limit_train_batches: 0.5\n  accumulate_grad_batches: 4\n  strategy: ddp\n"
           "  val_check_interval: 100\n  limit_val_batches: 32\n  max_time: '00:04:00:00'\n"
           "exp_manager: {idea: 5, name: x, ema: {enable: true, decay: 0.9}}\n"
           "model: {optim: {name: mcore_distributed_optim, idea: 6}}\n");
  EXPECT_THAT(found.unknown, ElementsAre("line 6: trainer.foo 3", "line 13: exp_manager.idea 5",
                                         "line 14: model.optim.idea 6"));
  EXPECT_THAT(found.not_modelled,
              testing::UnorderedElementsAre(
                  HasSubstr("limit_train_batches 0.5: the run ends with trainer.max_steps"),
                  HasSubstr("accumulate_grad_batches 4: micro-batches follow"),
                  HasSubstr("trainer.strategy ddp: "), HasSubstr("add about 11 % to their time"),
                  HasSubstr("trainer.max_time"), HasSubstr("exp_manager.ema.enable")));
}

TEST(Nemo, SaysThatItTrainsInFp32WhereNothingSaysOtherwise) {
  const auto found = read("trainer: {devices: 8, num_nodes: 1}\nmodel: {num_layers: 4}\n");
  EXPECT_THAT(found.assumptions,
              testing::Contains("trainer.precision is not set: fp32, the framework's default"));
  EXPECT_THAT(read(kLayout).assumptions,
              testing::Not(testing::Contains(HasSubstr("trainer.precision"))));
}

// The default file names a sum that only counts where activations are offloaded.
TEST(Nemo, ReadsTheLayersOfAnOffloadWhereThereIsOne) {
  const auto read_with = [](const std::string& rest) {
    return read(kLayout + "model:\n  num_layers: 32\n" + rest).run.parallelism;
  };
  EXPECT_EQ(read_with("  cpu_offloading: false\n  cpu_offloading_num_layers: ${max:3}\n").offload,
            workload::Offload::none);
  EXPECT_EQ(read_with("  cpu_offloading: true\n"
                      "  cpu_offloading_num_layers: ${sum:${.num_layers},-1}\n")
                .offload_layers,
            core::OrAuto<int>(31));
}

TEST(Nemo, SaysHowOftenItSavesAndWhichNormItHas) {
  const std::string head =
      "trainer: {devices: 8, num_nodes: 4, max_steps: 1000, precision: bf16}\n"
      "model: {num_layers: 8, hidden_size: 1024, num_attention_heads: 16, encoder_seq_length: "
      "2048, "
      "micro_batch_size: 1, global_batch_size: 64, activation: fast-swiglu, normalization: "
      "rmsnorm}\n";
  const auto found = read(head +
                          "exp_manager: {checkpoint_callback_params: {every_n_train_steps: 20, "
                          "async_save: false}}\n");
  EXPECT_EQ(found.run.saves, (import::LaunchSaves{20, false}));
  EXPECT_THAT(found.not_modelled, IsEmpty());
  const auto again = values(written(found.run));
  EXPECT_EQ(again.at("exp_manager.checkpoint_callback_params.every_n_train_steps"), "20");
  EXPECT_EQ(again.at("exp_manager.checkpoint_callback_params.async_save"), "false");
  EXPECT_EQ(again.at("model.normalization"), "rmsnorm");
  const auto epochs =
      read(head + "exp_manager: {checkpoint_callback_params: {every_n_epochs: 1}}\n");
  EXPECT_THAT(epochs.not_modelled, ElementsAre(HasSubstr("saves by steps are read")));
}

TEST(Nemo, FaultsAreShownAtTheirLines) {
  try {
    read("model:\n  num_layers: many\n  hidden_size: 0\ntrainer: {precision: 7}\n");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("gpt.yaml:2:3: 'model.num_layers' is 'many'"));
    EXPECT_THAT(error.what(), HasSubstr("gpt.yaml:3:3: 'model.hidden_size' is '0'"));
    EXPECT_THAT(error.what(), HasSubstr("gpt.yaml:4:11: 'trainer.precision' is '7'"));
  }
}

// NeMo's names of the fields of megatron-core's TransformerConfig, which takes numbers and lists,
// no texts that are evaluated.
TEST(Nemo, OfAttentionVariantsIsReadAndWritten) {
  using L = workload::LayerContent;
  const std::string start =
      "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  num_layers: 4\n  hidden_size: 1024\n"
      "  num_attention_heads: 8\n  encoder_seq_length: 2048\n  global_batch_size: 8\n"
      "  override_vocab_size: 32000\n  bias: false\n  position_embedding_type: rope\n"
      "  attention_output_gate: true\n";
  const std::string delta =
      start + "  experimental_attention_variant: gated_delta_net\n  linear_num_value_heads: 8\n";
  const import::LaunchImport found = read(delta + "  linear_attention_freq: 4\n");
  EXPECT_THAT(found.unknown, IsEmpty());
  EXPECT_TRUE(found.run.model.attention_gate);
  EXPECT_EQ(found.run.model.mixer, (workload::MixerSpec{workload::MixerKind::gated_delta, 8, 16}));
  EXPECT_THAT(found.run.model.layer_pattern,
              ElementsAre(L::mixer, L::mixer, L::mixer, L::attention));
  EXPECT_THAT(written(found.run), HasSubstr("linear_attention_freq: 4\n"));
  const import::LaunchRun uneven = read(delta + "  linear_attention_freq: [1, 1, 0, 0]\n").run;
  EXPECT_THAT(uneven.model.layer_pattern,
              ElementsAre(L::mixer, L::mixer, L::attention, L::attention));
  EXPECT_THAT(written(uneven), HasSubstr("linear_attention_freq: [1, 1, 0, 0]\n"));
  EXPECT_EQ(read(written(uneven)).run.model, uneven.model);
  const import::LaunchRun chosen =
      read(start +
           "  multi_latent_attention: true\n  kv_lora_rank: 256\n  qk_head_dim: 64\n"
           "  qk_pos_emb_head_dim: 32\n  v_head_dim: 64\n  experimental_attention_variant: dsa\n"
           "  dsa_indexer_n_heads: 16\n  dsa_indexer_head_dim: 64\n  dsa_indexer_topk: 1024\n"
           "  dsa_indexer_topk_freq: 4\n  dsa_indexer_skip_topk_offset: 3\n")
          .run;
  EXPECT_EQ(chosen.model.sparse, (workload::SparseAttentionSpec{16, 64, 1024, 4, 2}));
  EXPECT_EQ(read(written(chosen)).run.model, chosen.model);
  try {
    read(start + "  experimental_attention_variant: dsa\n  dsa_indexer_topk: 9\n");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("gpt.yaml:12:3: 'model.experimental_attention_variant' needs "
                          "'model.dsa_indexer_n_heads', which is not set"));
  }
}

// moe_layer_freq of a configuration is a number or a list: TransformerConfig refuses a text.
TEST(Nemo, WritesLayersWithExpertsAsAList) {
  import::LaunchRun run;
  run.model.layers = 4;
  run.model.hidden = 1024;
  run.model.moe.emplace().experts = 8;
  run.model.moe->ffn = 512;
  run.model.moe->leading_dense_layers = 1;
  EXPECT_THAT(written(run), HasSubstr("moe_layer_freq: [0, 1, 1, 1]\n"));
}

TEST(Nemo, OfHalfPrecisionGradientsAreInHalfPrecision) {
  import::LaunchRun run;
  run.training.precision = core::Precision::fp16;
  run.training.framework.gradient_bytes = 2;
  EXPECT_EQ(values(written(run)).at("model.optim.grad_sync_dtype"), "fp16");
  run.training.precision = core::Precision::bf16;
  EXPECT_EQ(values(written(run)).at("model.optim.grad_sync_dtype"), "bf16");
}

// megatron_base_model.py hands the switch to megatron_init.py, whose order has neither context nor
// expert ranks.
TEST(Nemo, PipelineRanksComeBeforeDataRanks) {
  import::LaunchRun run;
  run.model.layers = 8;
  run.model.heads = run.model.key_value_heads = 8;
  run.model.head_dim = 64;
  run.model.hidden = run.model.ffn = 512;
  run.model.vocabulary = 1024;
  run.training.sequence_length = 1024;
  run.training.global_batch = 64;
  run.parallelism.pipeline = 4;
  run.parallelism.rank_order = workload::RankOrder::pipeline_first;
  EXPECT_EQ(values(written(run)).at("model.use_tp_pp_dp_mapping"), "true");
  EXPECT_EQ(read(written(run)).run.parallelism.rank_order, workload::RankOrder::pipeline_first);
  EXPECT_THAT(read(written(run)).unknown, IsEmpty());
  run.parallelism.context = 2;
  EXPECT_FALSE(values(written(run)).contains("model.use_tp_pp_dp_mapping"));
}

TEST(Nemo, TensorOverlapNeedsSequenceParallelism) {
  import::LaunchRun run;
  run.parallelism.tensor = 4;
  run.training.framework.tensor_overlap = true;
  run.parallelism.sequence = false;
  EXPECT_EQ(values(written(run)).at("model.ub_tp_comm_overlap"), "false");
  run.parallelism.sequence = true;
  EXPECT_EQ(values(written(run)).at("model.ub_tp_comm_overlap"), "true");
}

}  // namespace
}  // namespace headway::config

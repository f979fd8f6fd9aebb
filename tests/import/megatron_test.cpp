// Arguments of Megatron-LM as runs.
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/import/launch/launch_table.h"

#include "tests/import/megatron_script.h"
#include "tests/import/read_file.h"

namespace headway::import {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const std::string& text) {
  try {
    read_flags(text);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(MegatronArguments, OfLlama70BAreReadWhole) {
  const LaunchImport found = read_flags(text_of(kData + "launch/llama3_70b.sh"));
  EXPECT_THAT(found.unknown, IsEmpty());
  EXPECT_THAT(
      found.not_modelled,
      ElementsAre("line 102: eval-interval 1000: evaluation is not counted: 10 forward "
                  "passes of a batch after every 1000 steps add about 0.33 % to their time"));
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_THAT(found.assumptions, IsEmpty());
  const workload::ModelSpec& model = found.run.model;
  EXPECT_EQ(model.layers, 80);
  EXPECT_EQ(model.hidden, 8192);
  EXPECT_EQ(model.ffn, 28672);
  EXPECT_EQ(model.key_value_heads, 8);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.vocabulary, 128256);  // = 16 x tensor 8 x 1002
  EXPECT_TRUE(model.gated_mlp && model.rotary && !model.biases && !model.tied_embeddings);
  const workload::ParallelismSpec& p = found.run.parallelism;
  EXPECT_EQ(found.run.gpus, 512);  // 64 nodes x 8
  EXPECT_EQ(p.tensor, 8);
  EXPECT_EQ(p.pipeline, 4);
  EXPECT_EQ(p.virtual_stages, 4);  // 80 / 4 / 5
  EXPECT_EQ(p.context, 2);
  EXPECT_EQ(p.data, core::OrAuto<int>(8));  // 512 / (8 x 4 x 2)
  EXPECT_EQ(p.sharding, workload::Sharding::zero1);
  EXPECT_EQ(p.recompute, workload::Recompute::selective);
  EXPECT_EQ(found.run.training.global_batch, 1024);
  EXPECT_EQ(found.run.training.precision, core::Precision::bf16);
  EXPECT_EQ(found.run.steps, 250000);
}

TEST(MegatronArguments, OfMixtralNameWhatIsNotRead) {
  const LaunchImport found = read_flags(text_of(kData + "launch/mixtral_8x7b.sh"));
  EXPECT_THAT(found.unknown, ElementsAre("line 37: my-own-flag 17"));
  EXPECT_THAT(found.not_modelled, ElementsAre(HasSubstr("line 15: no-masked-softmax-fusion: ")));
  ASSERT_TRUE(found.run.model.moe);
  EXPECT_EQ(found.run.model.moe->experts, 8);
  EXPECT_EQ(found.run.model.moe->ffn, 14336);
  EXPECT_EQ(found.run.model.ffn, 0);  // no layer without experts
  EXPECT_EQ(found.run.parallelism.expert, 8);
  EXPECT_EQ(found.run.parallelism.pipeline, 4);
  EXPECT_EQ(found.run.steps, 100000);  // 25.6 M samples / 256
  EXPECT_THAT(found.assumptions, Contains("Llama2Tokenizer has 32000 tokens"));
}

/// Nemotron 3 Super's arguments, but for the layers (NVIDIA/Megatron-LM,
/// examples/post_training/modelopt/conf/nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16.sh).
const std::string kSuper =
    "--num-experts 512 --moe-router-topk 22 --moe-shared-expert-intermediate-size 5376\n"
    "--moe-latent-size 1024 --is-hybrid-model --mamba-num-heads 128 --mamba-head-dim 64\n"
    "--untie-embeddings-and-output-weights --disable-bias-linear --position-embedding-type none\n"
    "--squared-relu --hidden-size 4096 --num-attention-heads 32 --group-query-attention\n"
    "--num-query-groups 2 --ffn-hidden-size 2688 --kv-channels 128 --attention-dropout 0.0\n"
    "--hidden-dropout 0.0 --bf16 --seq-length 8192 --max-position-embeddings 8192\n"
    "--vocab-size 131072 --micro-batch-size 1 --global-batch-size 512 --nnodes 8\n"
    "--nproc-per-node 8 ";

// Fourteen letters of the model's; the width of experts is that of the MLP, which no layer has.
TEST(MegatronArguments, OfAHybridAreReadByLetters) {
  using L = workload::LayerContent;
  const LaunchImport found =
      read_flags(kSuper +
                 "--hybrid-layer-pattern 'MEMEM*EMEMEM*E/*E/*E' --mtp-num-layers 2 --spec "
                 "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec");
  EXPECT_THAT(found.unknown, IsEmpty());
  EXPECT_THAT(found.not_modelled, IsEmpty());
  const workload::ModelSpec& model = found.run.model;
  EXPECT_EQ(model.layers, 14);
  EXPECT_EQ(model.layer_pattern,
            (std::vector<L>{L::mixer_only, L::experts_only, L::mixer_only, L::experts_only,
                            L::mixer_only, L::attention_only, L::experts_only}));
  EXPECT_EQ(model.multi_token_prediction, 2);
  ASSERT_TRUE(model.moe && model.mixer);
  EXPECT_EQ(model.moe->latent, 1024);
  EXPECT_EQ(model.moe->ffn, 2688);
  EXPECT_EQ(model.moe->shared_experts, 2);
  EXPECT_EQ(model.ffn, 0);
  EXPECT_EQ(model.mixer->kind, workload::MixerKind::mamba2);
  EXPECT_EQ(model.mixer->heads, 128);
  EXPECT_EQ(model.mixer->value_dim, 64);
  EXPECT_EQ(model.mixer->key_dim, 128);  // the framework's defaults
  EXPECT_EQ(model.mixer->key_heads, 8);
  EXPECT_EQ(model.mixer->chunk, 128);
  EXPECT_FALSE(model.gated_mlp || model.rotary);
  // The older spelling, and prediction modules of an argument of their own.
  const LaunchImport older =
      read_flags(kSuper +
                 "--num-layers 14 --hybrid-override-pattern 'MEMEM*EMEMEM*E' --mtp-num-layers 2 "
                 "--mtp-hybrid-override-pattern '*E'");
  EXPECT_EQ(older.run.model, model);
}

TEST(MegatronArguments, OfAHybridKeepItsDenseLayersAndItsStages) {
  const LaunchRun run = read_flags(kSuper +
                                   "--pipeline-model-parallel-size 2 "
                                   "--hybrid-layer-pattern 'M-M*|EM'")
                            .run;
  EXPECT_EQ(run.model.ffn, 2688);
  EXPECT_EQ(run.parallelism.first_stage_layers, 4);
  EXPECT_EQ(run.parallelism.last_stage_layers, 2);
  const LaunchRun mixers =
      read_flags(kSmallScript + "--hybrid-override-pattern 'M-M-M-M-' --disable-bias-linear").run;
  EXPECT_EQ(mixers.model.mixer->heads, 2 * 1024 / 64);
}

// A model that was named has its layers; what the file says of its mixers is laid over them.
TEST(MegatronArguments, OfAHybridAreLaidOverTheModelThatIsNamed) {
  LaunchRun start;
  start.model = read_flags(kSuper + "--hybrid-layer-pattern 'MEM*'").run.model;
  const LaunchImport found = read_launch(
      megatron_table(), read_shell_settings(kSuper + "--mamba-state-dim 64", "run.sh"), start);
  EXPECT_THAT(found.unknown, IsEmpty());
  EXPECT_EQ(found.run.model.layer_pattern, start.model.layer_pattern);
  EXPECT_EQ(found.run.model.mixer->key_dim, 64);
}

TEST(MegatronArguments, OfAHybridWithoutItsLayersAreRefused) {
  const std::string small = kSmallScript + "--disable-bias-linear ";
  EXPECT_THAT(refusal(small + "--is-hybrid-model"),
              HasSubstr("'is-hybrid-model' belongs to a hybrid of Mamba-2 and attention, and no "
                        "'hybrid-layer-pattern' says which layer is what; write it as in M-M-M*-, "
                        "or name the model (--model ENTRY)"));
  EXPECT_THAT(refusal(small + "--mamba-head-dim 64"), HasSubstr("'mamba-head-dim' belongs to a"));
  EXPECT_THAT(refusal(small + "--spec megatron.core.models.mamba.mamba_layer_specs x"),
              HasSubstr("'spec' belongs to a hybrid"));
  EXPECT_THAT(refusal(small + "--hybrid-layer-pattern 'MG'"),
              HasSubstr("'G', a gated delta network, cannot be a layer of its own"));
  EXPECT_THAT(
      refusal(small + "--hybrid-layer-pattern 'M*-/MM'"),
      HasSubstr("a prediction module of this model can be attention and then an MLP ('*-')"));
  EXPECT_THAT(refusal(small + "--hybrid-layer-pattern 'M-|M-|M*' --pipeline-model-parallel-size 2"),
              HasSubstr("'|' cuts the pattern into 3 parts, which do not divide over 2 pipeline "
                        "stages"));
  EXPECT_THAT(refusal(small + "--moe-latent-size 512"),
              HasSubstr("'moe-latent-size' has nothing that it applies to"));
  EXPECT_THAT(refusal(small + "--hybrid-layer-pattern 'M-' --hybrid-override-pattern 'M-'"),
              HasSubstr("'hybrid-override-pattern' and 'hybrid-layer-pattern' say the same"));
}

// What is written is read again as the same model and the same stages.
TEST(MegatronArguments, OfAHybridAreWrittenAndReadAgain) {
  for (const char* pattern : {"'MEMEM*EMEMEM*E/*E'", "'MEM|*EME|M'"}) {
    const std::string stages = std::string(pattern).find('|') == std::string::npos
                                   ? ""
                                   : " --pipeline-model-parallel-size 3";
    const LaunchRun run = read_flags(kSuper + "--hybrid-layer-pattern " + pattern + stages).run;
    const std::string text =
        launch_text(LaunchSyntax::shell, write_launch(megatron_table(), run), {});
    EXPECT_THAT(text, HasSubstr("--hybrid-layer-pattern"));
    EXPECT_THAT(text, HasSubstr("--moe-latent-size 1024"));
    const LaunchRun again = read_flags(text).run;
    EXPECT_EQ(again.model, run.model) << text;
    EXPECT_EQ(again.parallelism, run.parallelism) << text;
  }
}

// Keys that the indexers of layers 0 to 2 and of each fourth after it choose: the framework counts
// layers from 1, and its offset is the first of the periods.
TEST(MegatronArguments, OfChosenKeysAreReadAndWritten) {
  const std::string chosen =
      kSmallScript +
      "--multi-latent-attention --q-lora-rank 512 --kv-lora-rank 256 --qk-head-dim 64 "
      "--qk-pos-emb-head-dim 32 --v-head-dim 64 --experimental-attention-variant dsa "
      "--dsa-indexer-n-heads 16 --dsa-indexer-head-dim 64 --dsa-indexer-topk 1024 ";
  const LaunchImport found = read_flags(chosen);
  EXPECT_THAT(found.unknown, IsEmpty());
  const workload::SparseAttentionSpec all{16, 64, 1024, 1, 0};
  EXPECT_EQ(found.run.model.sparse, all);
  const LaunchRun run =
      read_flags(chosen + "--dsa-indexer-topk-freq 4 --dsa-indexer-skip-topk-offset 3").run;
  const workload::SparseAttentionSpec shared{16, 64, 1024, 4, 2};
  EXPECT_EQ(run.model.sparse, shared);
  const std::string text =
      launch_text(LaunchSyntax::shell, write_launch(megatron_table(), run), {});
  EXPECT_THAT(text, HasSubstr("--dsa-indexer-skip-topk-offset 3"));
  EXPECT_EQ(read_flags(text).run.model, run.model) << text;
  EXPECT_THAT(refusal(kSmallScript + "--experimental-attention-variant dsa --dsa-indexer-topk 9"),
              HasSubstr("needs 'dsa-indexer-n-heads', which is not set"));
}

// How tensor ranks make a matrix orthogonal; unsaid it is the default of both.
TEST(MegatronArguments, OfMuonAreReadAndWritten) {
  const std::string muon = kSmallScript + "--optimizer muon --muon-momentum 0.95 ";
  const LaunchImport usual = read_flags(muon);
  EXPECT_THAT(usual.unknown, IsEmpty());
  EXPECT_EQ(usual.run.training.optimizer_state, workload::OptimizerState::muon);
  EXPECT_FALSE(usual.run.training.muon.has_value());
  using M = workload::MuonTensorMode;
  for (const auto& [word, mode] : {std::pair{"blockwise", M::blockwise},
                                   {"duplicated", M::duplicated},
                                   {"distributed", M::distributed}}) {
    const LaunchRun run = read_flags(muon + "--muon-tp-mode " + word).run;
    EXPECT_EQ(run.training.muon, workload::MuonSpec{mode});
    const std::string text =
        launch_text(LaunchSyntax::shell, write_launch(megatron_table(), run), {});
    EXPECT_THAT(text, HasSubstr(std::string("--muon-tp-mode ") + word));
    EXPECT_EQ(read_flags(text).run.training, run.training) << text;
  }
  EXPECT_THAT(
      refusal(muon + "--muon-tp-mode rows"),
      HasSubstr("'muon-tp-mode' is 'rows'; blockwise, duplicated and distributed are read"));
  EXPECT_THAT(read_flags(muon + "--muon-num-ns-steps 10").not_modelled,
              Contains(HasSubstr("there are five Newton-Schulz iterations")));
}

TEST(MegatronArguments, OfGatedDeltaNetworksAreReadAndWritten) {
  using L = workload::LayerContent;
  const std::string delta = kSmallScript +
                            "--disable-bias-linear --position-embedding-type rope "
                            "--attention-output-gate --experimental-attention-variant ";
  for (const char* layers : {"gdn --linear-attention-freq 4",
                             "gated_delta_net --linear-attention-freq '([1]*3+[0])*2'"}) {
    const LaunchImport found = read_flags(delta + layers + " --linear-num-value-heads 8");
    EXPECT_THAT(found.unknown, IsEmpty());
    const workload::ModelSpec& model = found.run.model;
    EXPECT_TRUE(model.attention_gate);
    EXPECT_THAT(model.layer_pattern, ElementsAre(L::mixer, L::mixer, L::mixer, L::attention));
    EXPECT_EQ(model.mixer, (workload::MixerSpec{workload::MixerKind::gated_delta, 8, 16}));
    const std::string text =
        launch_text(LaunchSyntax::shell, write_launch(megatron_table(), found.run), {});
    EXPECT_THAT(text, HasSubstr("--attention-output-gate"));
    EXPECT_EQ(read_flags(text).run.model, model) << text;
  }
  const LaunchRun uneven =
      read_flags(delta + "gdn --linear-attention-freq '[1,1,0,1,1,1,1,0]'").run;
  const std::string text =
      launch_text(LaunchSyntax::shell, write_launch(megatron_table(), uneven), {});
  EXPECT_EQ(read_flags(text).run.model, uneven.model) << text;
  EXPECT_THAT(refusal(delta + "gdn"), HasSubstr("needs 'linear-attention-freq'"));
  EXPECT_THAT(refusal(delta + "gdn --linear-attention-freq '[1,0]'"),
              HasSubstr("this list has 2 layers and the model 8"));
  EXPECT_THAT(refusal(delta + "gdn --linear-attention-freq often"),
              HasSubstr("write a period such as 4"));
  EXPECT_THAT(refusal(delta + "gdn2"), HasSubstr("which is not modelled: dsa and gdn are"));
}

TEST(MegatronArguments, HaveTheFrameworksDefaults) {
  const LaunchRun run = read_flags(kSmallScript).run;
  EXPECT_EQ(run.model.ffn, 4096);
  EXPECT_EQ(run.model.learned_positions, 2048);
  EXPECT_TRUE(run.model.biases && run.model.tied_embeddings && !run.model.gated_mlp);
  EXPECT_EQ(run.model.vocabulary, 32000);  // 250 x 128
  EXPECT_EQ(run.parallelism.sharding, workload::Sharding::zero0);
  EXPECT_EQ(run.training.framework.gradient_bytes, 4);
  EXPECT_FALSE(run.training.framework.data_overlap);
  EXPECT_EQ(read_flags(kSmallScript + "--swiglu").run.model.ffn,
            2688);  // int(4096 x 2 / 3 / 64) x 64
  EXPECT_EQ(read_flags(kSmallScript + "--tensor-model-parallel-size 16").run.model.vocabulary,
            32768);
  EXPECT_EQ(
      read_flags("--fp16 " + kSmallScript.substr(0, kSmallScript.find("--bf16")) + "--nnodes 1")
          .run.training.framework.gradient_bytes,
      2);
}

TEST(MegatronArguments, SayWhetherWeightsAreGatheredBesideTheForwardPass) {
  const std::string sharded = kSmallScript + "--use-distributed-optimizer --overlap-grad-reduce ";
  EXPECT_TRUE(read_flags(sharded).run.training.framework.data_overlap);
  EXPECT_FALSE(read_flags(sharded).run.training.framework.gather_overlap);
  EXPECT_THAT(read_flags(sharded).not_modelled, IsEmpty());
  EXPECT_TRUE(read_flags(sharded + "--overlap-param-gather").run.training.framework.gather_overlap);
}

TEST(MegatronArguments, SayWhichExpertsLayersHave) {
  const std::string moe = kSmallScript + "--num-experts 8 --moe-ffn-hidden-size 512 ";
  EXPECT_EQ(
      read_flags(moe + "--moe-layer-freq '([0]*3+[1]*5)'").run.model.moe->leading_dense_layers, 3);
  EXPECT_EQ(read_flags(moe + "--moe-layer-freq '[0,1]*4'").run.model.moe->period, 2);
  EXPECT_EQ(
      read_flags(moe + "--moe-shared-expert-intermediate-size 1024").run.model.moe->shared_experts,
      2);
  EXPECT_THAT(refusal(moe + "--moe-layer-freq '[0,1]*3'"),
              HasSubstr("this list has 6 layers and the model 8"));
  EXPECT_THAT(refusal(moe + "--moe-layer-freq '[1,0]*4'"), HasSubstr("this list is neither"));
  EXPECT_THAT(refusal(moe + "--moe-shared-expert-intermediate-size 700"),
              HasSubstr("no multiple of an expert's 512"));
  EXPECT_THAT(refusal(kSmallScript + "--moe-router-topk 2"),
              HasSubstr("run.sh:4:1: 'moe-router-topk' has nothing that it applies to"));
}

std::string launched(const LaunchRun& run) {
  return launch_text(LaunchSyntax::shell, write_launch(megatron_table(), run), {});
}

// Saves are synchronous unless told; without steps a scenario has no run that could save.
TEST(MegatronArguments, SayHowOftenTheySave) {
  const auto found = read_flags(kSmallScript + "--train-iters 1000 --save-interval 20\n");
  EXPECT_EQ(found.run.saves, (LaunchSaves{20, false}));
  const auto beside =
      read_flags(kSmallScript + "--train-iters 1000 --save-interval 50 --async-save\n");
  EXPECT_EQ(beside.run.saves, (LaunchSaves{50, true}));
  EXPECT_THAT(launched(beside.run),
              AllOf(HasSubstr("--save-interval 50"), HasSubstr("--async-save")));
  const auto without = read_flags(kSmallScript + "--save-interval 20\n");
  EXPECT_FALSE(without.run.saves);
  EXPECT_THAT(without.not_modelled,
              ElementsAre(HasSubstr("save-interval 20: the file says no steps")));
  EXPECT_THAT(read_flags(kSmallScript + "--non-persistent-save-interval 5\n").not_modelled,
              ElementsAre(HasSubstr("set run.checkpoint.levels")));
}

// Megatron's own norm is LayerNorm: a file that leaves it out trains another model.
TEST(MegatronArguments, SayWhichNormGatedMlpsGoWith) {
  const auto gated = read_flags(kSmallScript + "--swiglu --normalization RMSNorm\n");
  EXPECT_THAT(gated.not_modelled, IsEmpty());
  EXPECT_THAT(launched(gated.run), HasSubstr("--normalization RMSNorm"));
  const auto plain = read_flags(kSmallScript);
  EXPECT_THAT(launched(plain.run), Not(HasSubstr("--normalization")));
  EXPECT_THAT(read_flags(kSmallScript + "--normalization RMSNorm\n").not_modelled,
              ElementsAre(HasSubstr("timed as LayerNorm")));
  EXPECT_THAT(std::string(megatron_table().left_to_you), HasSubstr("--rotary-base"));
}

TEST(MegatronArguments, SayWhatIsRecomputed) {
  const auto layout = [](const std::string& more) {
    return read_flags(kSmallScript + more).run.parallelism;
  };
  const std::string full = "--recompute-granularity full --pipeline-model-parallel-size 2 ";
  EXPECT_EQ(layout(full + "--recompute-method uniform --recompute-num-layers 1").recompute_period,
            1);
  const auto block = layout(full + "--recompute-method block --recompute-num-layers 2");
  EXPECT_EQ(block.recompute_layers, 1);  // 2 of the 4 layers of a stage
  EXPECT_EQ(block.recompute_period, 2);
  EXPECT_THAT(
      layout("--recompute-granularity selective --recompute-modules mlp layernorm").recompute_parts,
      ElementsAre(workload::RecomputePart::norms, workload::RecomputePart::mlp));
  EXPECT_THAT(refusal(kSmallScript + "--recompute-granularity half"),
              HasSubstr("it is full or selective"));
}

/// A dense model of 8 layers on two stages, which recomputes these parts.
LaunchRun recomputing(std::vector<workload::RecomputePart> parts) {
  LaunchRun run = read_flags(kSmallScript + "--pipeline-model-parallel-size 2").run;
  run.parallelism.recompute = workload::Recompute::selective;
  run.parallelism.recompute_parts = std::move(parts);
  return run;
}

/// The words behind an argument; "-" where it is not written.
std::string written(const LaunchRun& run, std::string_view key) {
  for (const LaunchLine& line : write_launch(megatron_table(), run)) {
    if (line.key == key) {
      return fmt::format("{}", fmt::join(line.values, " "));
    }
  }
  return "-";
}

// megatron-core 0.14.0 refuses moe_act without grouped products, and does nothing for layernorm on
// layers whose norms are inside a product.
TEST(MegatronArguments, NameOnlyModulesThatTheModelHas) {
  using P = workload::RecomputePart;
  const char* modules = "recompute-modules";
  LaunchRun run = recomputing({P::norms, P::activation, P::mlp, P::operators});
  EXPECT_EQ(written(run, modules), "mlp");
  EXPECT_EQ(written(run, "moe-grouped-gemm"), "-");
  run.parallelism.recompute_parts = {P::norms, P::activation};
  EXPECT_EQ(written(run, "recompute-granularity"), "-");  // 'selective' alone is core_attn
  run.parallelism.recompute_parts.clear();
  EXPECT_EQ(written(run, "recompute-granularity"), "selective");
  EXPECT_EQ(written(run, modules), "-");
  run.parallelism.recompute_parts = {P::norms, P::activation, P::latent_up, P::experts};
  run.model.moe.emplace().experts = 8;
  EXPECT_EQ(written(run, modules), "layernorm moe_act moe");
  EXPECT_EQ(written(run, "moe-grouped-gemm"), "");  // is there, a bare flag
  run.model.latent.emplace();
  EXPECT_EQ(written(run, modules), "mla_up_proj layernorm moe_act moe");
  run.training.precision = core::Precision::fp8;
  run.training.framework.scaling = workload::Scaling::delayed;
  EXPECT_EQ(written(run, modules), "mla_up_proj moe");
  run.training.framework.scaling = workload::Scaling::block;
  EXPECT_EQ(written(run, modules), "mla_up_proj layernorm moe_act moe");
}

TEST(MegatronArguments, SayHowManyLayersOfEachChunkRecompute) {
  LaunchRun run = recomputing({});
  auto& p = run.parallelism;
  p.recompute = workload::Recompute::full;
  p.chunk_layers = {4, 4};
  p.chunk_recompute = {3, 3};
  run = normalised(run);
  EXPECT_EQ(written(run, "recompute-method"), "block");
  EXPECT_EQ(written(run, "recompute-num-layers"), "3");
  EXPECT_THAT(run.parallelism.chunk_recompute, IsEmpty());  // three of every four
  // Uneven chunks: of each as many, or all that it has.
  run = recomputing({});
  run.parallelism.recompute = workload::Recompute::full;
  run.parallelism.virtual_stages = 2;
  run.parallelism.chunk_layers = {1, 3, 3, 1};
  run.parallelism.chunk_recompute = {1, 2, 2, 1};
  run = normalised(run);
  EXPECT_EQ(written(run, "recompute-num-layers"), "2");
  const std::string uneven =
      kSmallScript +
      "--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout 'Et|t*3|t*3|tL' "
      "--recompute-granularity full --recompute-method block --recompute-num-layers 2";
  EXPECT_THAT(read_flags(uneven).run.parallelism.chunk_recompute, ElementsAre(1, 2, 2, 1));
  run.parallelism.chunk_recompute = {0, 0, 0, 0};
  EXPECT_EQ(written(normalised(run), "recompute-granularity"), "-");
  // Where the ends alone are shorter, so many layers of the longest: two of three.
  run.parallelism.pipeline = 4;
  run.parallelism.virtual_stages = 1;
  run.parallelism.chunk_recompute = {1, 2, 2, 1};
  EXPECT_EQ(normalised(run).parallelism.recompute_layers, 2);
  EXPECT_EQ(normalised(run).parallelism.recompute_period, 3);
}

TEST(MegatronArguments, SayHowNarrowTheProductsAre) {
  const auto recipe = [](const std::string& more) {
    return read_flags(kSmallScript + more).run.training;
  };
  EXPECT_EQ(recipe("--fp8-format hybrid").precision, core::Precision::fp8);
  EXPECT_EQ(recipe("--fp8-format hybrid").framework.scaling, workload::Scaling::delayed);
  EXPECT_EQ(recipe("--fp8-format e4m3 --fp8-recipe blockwise").framework.scaling,
            workload::Scaling::block);
  EXPECT_EQ(recipe("--fp8-format e4m3 --fp8-recipe mxfp8").precision, core::Precision::mxfp8);
  EXPECT_EQ(recipe("--fp4-format e2m1 --fp4-recipe nvfp4").precision, core::Precision::nvfp4);
  // One layer at each end stays in 16 bits unless said otherwise, and only beside narrow ones.
  const auto kept = [](const std::string& more) {
    return read_flags(kSmallScript + more + " --first-last-layers-bf16")
        .run.model.sixteen_bit_layers;
  };
  const std::string narrow = "--fp4-format e2m1 --fp4-recipe nvfp4";
  EXPECT_EQ(kept(narrow), (workload::SixteenBitLayersSpec{1, 1}));
  EXPECT_EQ(kept(narrow + " --num-layers-at-start-in-bf16 0 --num-layers-at-end-in-bf16 4"),
            (workload::SixteenBitLayersSpec{0, 4}));
  EXPECT_FALSE(kept("").has_value());
  EXPECT_THAT(refusal(kSmallScript + "--fp16"), HasSubstr("both --bf16 and --fp16 are set"));
}

TEST(MegatronArguments, SayWhetherWeightsAreHeldInEightBitsAlone) {
  const auto held = [](const std::string& more) {
    return read_flags(kSmallScript + more).run.training.framework.allocation.narrow_weights;
  };
  EXPECT_TRUE(held("--fp8-format hybrid --fp8-param-gather"));
  EXPECT_FALSE(held("--fp8-format hybrid"));
  EXPECT_FALSE(held("--fp8-param-gather")) << "without narrow products there are no such weights";
  const auto writes = [](const LaunchRun& run) {
    const auto lines = write_launch(megatron_table(), run);
    return std::any_of(lines.begin(), lines.end(),
                       [](const LaunchLine& line) { return line.key == "fp8-param-gather"; });
  };
  auto run = read_flags(kSmallScript + "--use-distributed-optimizer --fp8-format hybrid").run;
  EXPECT_FALSE(writes(run));
  run.training.framework.allocation.narrow_weights = true;
  EXPECT_TRUE(writes(run));
  run.parallelism.sharding = workload::Sharding::zero0;
  EXPECT_FALSE(writes(run)) << "arguments.py asserts a sharded optimizer";
}

TEST(MegatronArguments, SayThatStagesDoNotSendBesideTheirPasses) {
  EXPECT_TRUE(read_flags(kSmallScript).run.training.framework.pipeline_overlap);
  const auto without = read_flags(kSmallScript + "--no-overlap-p2p-communication");
  EXPECT_FALSE(without.run.training.framework.pipeline_overlap);
  EXPECT_THAT(without.not_modelled, IsEmpty());
}

TEST(MegatronArguments, ThatMatterAndAreNotModelledAreNamed) {
  const auto named = [](const std::string& flag) {
    const auto read = read_flags(kSmallScript + flag);
    EXPECT_THAT(read.unknown, IsEmpty()) << flag;
    return read.not_modelled.size();
  };
  for (const char* flag :
       {"--main-grads-dtype bf16", "--main-params-dtype fp16", "--no-fp8-wgrad",
        "--deterministic-mode", "--moe-use-legacy-grouped-gemm", "--empty-unused-memory-level 2",
        "--use-nccl-ub", "--ddp-bucket-size 1000000", "--fsdp-double-buffer",
        "--megatron-fsdp-main-grads-dtype bf16"}) {
    EXPECT_EQ(named(flag), 1U) << flag;
  }
  EXPECT_EQ(named("--main-grads-dtype fp32"), 0U);
  EXPECT_EQ(named("--empty-unused-memory-level 0"), 0U);
  EXPECT_THAT(read_flags(kSmallScript + "--ddp-of-another-release").unknown.size(), 1U);
}

TEST(MegatronArguments, ThatAreWrongAreRefusedTogetherAtTheirLines) {
  const std::string text = refusal(kSmallScript +
                                   "--tensor-model-parallel-size two\n--context-parallel-size 0\n"
                                   "--pipeline-model-parallel-size $PP\n--swiglu maybe\n");
  EXPECT_THAT(text,
              HasSubstr("run.sh:4:1: 'tensor-model-parallel-size' is 'two'; write a whole number "
                        "of at least 1"));
  EXPECT_THAT(text, HasSubstr("run.sh:5:1: 'context-parallel-size' is '0'"));
  EXPECT_THAT(text, HasSubstr("run.sh:6:1: '$PP' is not set in this file; write its value above"));
  EXPECT_THAT(text, HasSubstr("run.sh:7:1: 'swiglu' is 'maybe'; it is true or false"));
  EXPECT_THAT(refusal(kSmallScript + "--num-layers-per-virtual-pipeline-stage 3"),
              HasSubstr("8 layers over 1 stages do not divide into chunks of 3 layers"));
}

TEST(MegatronArguments, SetTwiceCountAsTheLast) {
  const LaunchImport found = read_flags(kSmallScript + "--seq-length 4096");
  EXPECT_EQ(found.run.training.sequence_length, 4096);
  EXPECT_THAT(found.remarks,
              ElementsAre("line 1: seq-length 2048 is set again in line 4; the last one counts"));
}

TEST(MegatronArguments, ThatSayTooLittleNameWhatIsMissing) {
  const LaunchImport found = read_flags("--bf16 --micro-batch-size 2");
  EXPECT_THAT(found.missing, Contains(HasSubstr("cluster.nodes: ")));
  EXPECT_THAT(found.missing, Contains(HasSubstr("model: ")));
  EXPECT_THAT(found.missing, Contains(HasSubstr("model.vocabulary: ")));
  EXPECT_THAT(found.missing, Contains(HasSubstr("training.sequence_length: ")));
  EXPECT_THAT(found.missing, Contains(HasSubstr("training.global_batch: ")));
}

// Asserted before Blackwell for tensor and context ranks, and refused with FSDP.
TEST(Megatron, TheScriptSetsTheVariableThatIsAsserted) {
  LaunchRun run;
  run.model.layers = 8;
  run.model.heads = run.model.key_value_heads = 8;
  run.model.head_dim = 64;
  run.model.hidden = run.model.ffn = 512;
  run.model.vocabulary = 1024;
  run.training.sequence_length = 1024;
  run.training.global_batch = 64;
  run.parallelism.tensor = 8;
  run.parallelism.sharding = workload::Sharding::zero1;
  const auto script = [&run] {
    return launch_text(LaunchSyntax::shell, write_launch(megatron_table(), run), {});
  };
  EXPECT_THAT(script(),
              testing::StartsWith("#!/usr/bin/env bash\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n"));
  run.before_blackwell = false;
  EXPECT_THAT(script(), testing::Not(HasSubstr("CUDA_DEVICE_MAX_CONNECTIONS")));
  run.parallelism.sharding = workload::Sharding::zero3;
  EXPECT_THAT(script(), HasSubstr("\nunset CUDA_DEVICE_MAX_CONNECTIONS\n"));
  EXPECT_THAT(script(), HasSubstr("--ckpt-format fsdp_dtensor\n"));
  LaunchRun start;
  start.gpus = 64;
  const auto read =
      read_launch(megatron_table(), read_shell_settings(script(), "a.sh"), std::move(start));
  EXPECT_THAT(read.unknown, testing::IsEmpty());
  EXPECT_EQ(read.run.parallelism.sharding, workload::Sharding::zero3);
}

TEST(Megatron, WhatYoungerReleasesAloneTakeIsSaid) {
  LaunchRun run;
  run.model.window = 4096;
  run.training.precision = core::Precision::nvfp4;
  const auto lines = write_launch(megatron_table(), run);
  EXPECT_THAT(megatron_table().remarks(run, lines),
              testing::ElementsAre("--fp4-format needs megatron-core 0.15 or later",
                                   "--window-size needs megatron-core 0.15 or later"));
  EXPECT_THAT(megatron_table().remarks({}, write_launch(megatron_table(), {})), testing::IsEmpty());
}

}  // namespace
}  // namespace headway::import

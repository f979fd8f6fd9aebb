// Software that no run was compared with: which profile stands in for it, and how well it is known.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Tensor ranks without stages, of which the row does not say whether they overlap.
Cells of_era(const std::string& era, const std::string& year = "2024") {
  return {{"era", era}, {"year", year}, {"tp", "2"},
          {"pp", "1"},  {"dp", "8"},    {"tp_comm_overlap", ""}};
}

Cells overlapping(Cells cells, const char* overlap) {
  cells["tp_comm_overlap"] = overlap;
  return cells;
}

// Each name has the family that its source shows; none has Transformer Engine's user buffers.
TEST(StandIns, NamesGoToTheirFamily) {
  const auto taken = [](const char* era) { return predicted(of_era(era)); };
  for (const char* era :
       {"colossal-ai", "ColossalAI 0.3", "ms-swift", "picotron", "bmtrain", "fairseq", "metaseq",
        "OPT", "vescale", "sagemaker-smp", "olmo-core", "llama-recipes"}) {
    EXPECT_THAT(taken(era).status, HasSubstr("is taken as pytorch-fsdp")) << era;
    EXPECT_EQ(taken(era).predicted, predicted(of_era("pytorch-fsdp")).predicted) << era;
  }
  EXPECT_THAT(taken("alpa").status, HasSubstr("'alpa' is taken as jax-xla"));
  EXPECT_EQ(taken("llm.c").status, "ok");  // as its entry is called
  EXPECT_THAT(taken("mindspeed").status, HasSubstr("is taken as megatron-lm-2025"));
  EXPECT_THAT(taken("paddlefleetx").status, HasSubstr("is taken as megatron-sp-2022"));
  EXPECT_THAT(taken("nanoGPT").status, HasSubstr("'nanoGPT' is taken as pytorch-minimal"));
  for (const char* era : {"alpa", "llm.c", "mindspeed", "paddlefleetx", "megatron-llm",
                          "megatron-lm-rocm", "whale"}) {
    EXPECT_FALSE(scenario(of_era(era)).training.framework.tensor_overlap) << era;
    EXPECT_THAT(taken(era).assumed, Not(Contains("tp_comm_overlap"))) << era;
  }
}

// Who writes a profile's own name means the profile, with all that it has.
TEST(StandIns, AProfilesNameStandsForItself) {
  for (const char* era : {"Megatron-Core", "megatron-core", "nanotron"}) {
    EXPECT_THAT(predicted(of_era(era)).status, Not(HasSubstr("is taken as"))) << era;
  }
  EXPECT_EQ(predicted(of_era("Megatron-Core")).predicted,
            predicted(of_era("megatron-core")).predicted);
}

TEST(StandIns, AttentionIsAsFusedAsTheSoftwareWas) {
  const auto kernels = [](const char* era, const char* year) {
    return scenario(of_era(era, year)).training.framework.attention_kernels;
  };
  EXPECT_EQ(kernels("alpa", "2024"), workload::AttentionKernels::unfused);
  EXPECT_EQ(kernels("llm.c", "2024"), workload::AttentionKernels::cudnn);
  EXPECT_EQ(kernels("paddlenlp", "2024"), workload::AttentionKernels::flash2);
  EXPECT_EQ(kernels("paddlenlp", "2022"), workload::AttentionKernels::unfused);
  EXPECT_EQ(kernels("metaseq", "2022"), workload::AttentionKernels::unfused);
  EXPECT_EQ(kernels("metaseq-flash", "2022"), workload::AttentionKernels::sdpa);
}

// Neither reading is likelier: the middle of both is predicted, and both lie in the interval.
TEST(StandIns, ANameThatNoListKnowsIsReadTwoWays) {
  const RunPrediction row = predicted(of_era("whale"));
  const double eager = predicted(of_era("pytorch-fsdp")).predicted.value_or(0);
  const double megatron = predicted(overlapping(of_era("megatron-lm"), "no")).predicted.value_or(0);
  EXPECT_GT(megatron, 1.1 * eager);
  EXPECT_NEAR(row.predicted.value_or(0), std::sqrt(eager * megatron), 1e-6 * eager);
  EXPECT_LT(row.low, eager);
  EXPECT_GT(row.high, megatron);
  EXPECT_THAT(row.status, HasSubstr("era: 'whale' is taken as pytorch-fsdp and as "
                                    "megatron-core-2024, and the middle of both is predicted"));
  EXPECT_EQ(row.run_kind.framework, "whale");
  // The same without the readings of what is open: --quick predicts nothing else.
  const auto table = table_of({with(of_era("whale"))});
  EXPECT_EQ(predict_runs(table, catalogue(), {0}, OpenFlags::one_way).front().predicted,
            row.predicted);
}

// What shards its weights is no Megatron-LM, and what is called Megatron is no other.
TEST(StandIns, OneReadingWhereTheRowSaysMore) {
  Cells sharded = of_era("whale");
  sharded["sharding"] = "3";
  EXPECT_THAT(predicted(sharded).status, HasSubstr("'whale' is taken as pytorch-fsdp"));
  EXPECT_THAT(predicted(sharded).status, Not(HasSubstr("middle")));
  EXPECT_THAT(predicted(of_era("megatron-llm")).status, Not(HasSubstr("middle")));
  EXPECT_THAT(predicted(of_era("")).status, Not(HasSubstr("middle")));
}

// nanoGPT and transformers compute the loss in the model's forward, which is what is compiled;
// torchtitan of 2024, fms-fsdp and litgpt compile a model of logits.
TEST(StandIns, ACompiledModelFusesTheLossThatItReturns) {
  const auto loss = [](const char* era, const char* compiled) {
    Cells cells = of_era(era);
    cells["torch_compile"] = compiled;
    return scenario(cells).training.framework.loss;
  };
  for (const char* era :
       {"nanoGPT", "build-nanogpt", "modded-nanogpt", "hf-trainer", "axolotl", "llama-recipes"}) {
    EXPECT_EQ(loss(era, "yes"), workload::Loss::fused) << era;
    EXPECT_EQ(loss(era, ""), workload::Loss::separate) << era;
  }
  for (const char* era : {"pytorch-fsdp", "torchtitan-2024", "lit-gpt", "litgpt"}) {
    EXPECT_EQ(loss(era, "yes"), workload::Loss::separate) << era;
  }
}

// GPT-2 of 124 million parameters on eight A100, 64 x 1,024 tokens each: 188,000 tokens/s a GPU
// were published of such a trainer; 50 ms between steps of 350 ms would be a seventh.
TEST(StandIns, AMinimalTrainerWaitsForNothingBetweenSteps) {
  const RunPrediction row = predicted({{"era", "build-nanogpt"},
                                       {"torch_compile", "yes"},
                                       {"gpu", "A100-80G-SXM"},
                                       {"n_gpus", "8"},
                                       {"n_layers", "12"},
                                       {"d_model", "768"},
                                       {"n_heads", "12"},
                                       {"n_kv_heads", "12"},
                                       {"head_dim", "64"},
                                       {"d_ffn", "3072"},
                                       {"gated_mlp", "no"},
                                       {"vocab", "50304"},
                                       {"seq_len", "1024"},
                                       {"global_batch", "512"},
                                       {"micro_batch", "64"},
                                       {"tp", "1"},
                                       {"pp", "1"},
                                       {"dp", "8"},
                                       {"sharding", ""},
                                       {"tp_comm_overlap", ""},
                                       {"nic_gbps", "200"},
                                       {"sequence_parallel", ""},
                                       {"attention", "mha"}});
  EXPECT_NEAR(row.predicted.value_or(0), 188000, 0.05 * 188000) << row.status;
}

// 1.1 billion parameters on 40 GB: of 16 sequences recomputation makes room, not tensor ranks.
TEST(StandIns, ShardedWeightsHaveNoTensorRanksBeforeRecomputation) {
  const auto layout = [](const char* era, const char* micro_batch, const char* tp) {
    return scenario({{"era", era},
                     {"gpu", "A100-40G-SXM"},
                     {"n_layers", "22"},
                     {"d_model", "2048"},
                     {"n_kv_heads", "4"},
                     {"head_dim", "64"},
                     {"d_ffn", "5632"},
                     {"vocab", "32000"},
                     {"seq_len", "2048"},
                     {"global_batch", "512"},
                     {"micro_batch", micro_batch},
                     {"tp", tp},
                     {"pp", tp},
                     {"dp", ""},
                     {"sharding", "fsdp"},
                     {"recompute", ""}})
        .parallelism;
  };
  for (const char* era : {"pytorch-fsdp", "lit-gpt", "deepspeed", "composer"}) {
    for (const char* micro_batch : {"8", "16", ""}) {
      EXPECT_EQ(layout(era, micro_batch, ""), layout(era, micro_batch, "1")) << era << micro_batch;
    }
    EXPECT_EQ(layout(era, "16", "").recompute, workload::Recompute::full) << era;
  }
}

}  // namespace
}  // namespace headway::validation

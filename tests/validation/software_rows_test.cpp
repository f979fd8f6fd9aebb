// What is taken of software where a row names it and says little of how it ran.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;

training::Scenario run_of(const Cells& changes) {
  const auto row = row_scenario(table_of({with(changes)}), 0, catalogue());
  EXPECT_TRUE(row.scenario.has_value()) << row.skipped;
  return row.scenario.value_or(training::Scenario{});
}

// A model without a gate is no sign of llm-foundry, whose attention was Triton's.
TEST(SoftwareRows, LlmFoundryIsTakenByItsName) {
  const Cells gpt{{"gated_mlp", "no"}, {"tp", "1"}, {"pp", "1"}, {"dp", "16"}, {"sharding", "3"}};
  const auto profile = [&](const std::string& column, const std::string& text) {
    Cells cells = gpt;
    cells["era"] = "pytorch-fsdp";
    cells[column] = text;
    return run_of(cells).training.framework.name;
  };
  EXPECT_EQ(profile("model", "GPT-2 1.3B"), "PyTorch FSDP");
  EXPECT_EQ(profile("era", "llm-foundry"), "llm-foundry (FSDP)");
  EXPECT_EQ(profile("source", "llm-foundry, benchmarking README"), "llm-foundry (FSDP)");
}

TEST(SoftwareRows, TrainersOfJaxAreJax) {
  for (const char* era : {"EasyLM", "t5x-2023", "AXLearn", "Levanter"}) {
    const auto s = run_of({{"era", era}, {"tp", "1"}, {"pp", "1"}, {"dp", "16"}});
    EXPECT_EQ(s.training.framework.name, "JAX and XLA") << era;
  }
}

// GPT-NeoX and Megatron-DeepSpeed kept the kernels of 2021, and took FlashAttention in 2023.
TEST(SoftwareRows, ForksOfOldMegatronKeepItsKernels) {
  for (const char* era : {"gpt-neox-2023", "megatron-deepspeed-2023"}) {
    const auto s = run_of({{"era", era}, {"precision", "fp16"}, {"sequence_parallel", "no"}})
                       .training.framework;
    EXPECT_EQ(s.name, "Megatron-DeepSpeed 2022") << era;
    EXPECT_EQ(s.attention_kernels, workload::AttentionKernels::flash2) << era;
  }
  const auto early = run_of({{"era", "gpt-neox-2022"}, {"precision", "fp16"}}).training.framework;
  EXPECT_EQ(early.attention_kernels, workload::AttentionKernels::unfused);
}

// The profile that stands in for it was compared, it was not: slower is likelier than faster.
TEST(SoftwareRows, SoftwareThatNobodyComparedHasItsOwnName) {
  const Cells sharded{
      {"era", "axolotl"}, {"tp", "1"}, {"pp", "1"}, {"dp", "16"}, {"sharding", "3"}};
  Cells compared = sharded;
  compared["era"] = "pytorch-fsdp";
  const RunPrediction stranger = predicted(sharded);
  const RunPrediction known = predicted(compared);
  EXPECT_EQ(stranger.run_kind.framework, "axolotl");
  EXPECT_EQ(stranger.predicted, known.predicted);
  EXPECT_LT(stranger.low, known.low);
  EXPECT_EQ(predicted({{"era", "hf-trainer"}, {"pp", "1"}, {"dp", "8"}, {"sharding", "zero3"}})
                .run_kind.framework,
            "PyTorch FSDP");
}

// Most trainers are PyTorch, and which profile stands in is told.
TEST(SoftwareRows, TrainersOnPyTorchArePyTorch) {
  const Cells plain{{"tp", "1"}, {"pp", "1"}, {"dp", "16"}, {"sharding", ""}};
  for (const char* era : {"HF", "Axolotl", "LLaMA-Factory", "Unsloth", "TRL", "Lightning"}) {
    Cells cells = plain;
    cells["era"] = era;
    const RunPrediction row = predicted(cells);
    EXPECT_EQ(row.run_kind.framework, era);
    EXPECT_THAT(row.status, HasSubstr(fmt::format("era: '{}' is taken as pytorch-fsdp", era)));
    cells["era"] = "pytorch-fsdp";
    EXPECT_EQ(row.predicted, predicted(cells).predicted) << era;
    cells["era"] = era;
    cells["year"] = "2022";
    EXPECT_THAT(predicted(cells).status, HasSubstr("is taken as pytorch-fsdp")) << era;
  }
}

// scaled_dot_product_attention came with PyTorch 2.0 in 2023.
TEST(SoftwareRows, PyTorchHasFusedAttentionSince2023) {
  const auto kernels = [](const char* year, const char* notes) {
    return run_of({{"era", "pytorch-fsdp"},
                   {"year", year},
                   {"notes", notes},
                   {"pp", "1"},
                   {"tp", "1"}})
        .training.framework.attention_kernels;
  };
  EXPECT_EQ(kernels("2022", ""), workload::AttentionKernels::unfused);
  EXPECT_EQ(kernels("2022", "FlashAttention"), workload::AttentionKernels::sdpa);
  EXPECT_EQ(kernels("2022", "xformers memory-efficient"), workload::AttentionKernels::sdpa);
  EXPECT_EQ(kernels("2023", ""), workload::AttentionKernels::sdpa);
}

// MaxText and torchtitan accumulate nothing unless they are told to.
TEST(SoftwareRows, ADeviceTakesItsShareOfTheBatchAtOnce) {
  const Cells share{{"tp", "1"},         {"pp", "1"},       {"dp", "16"},
                    {"micro_batch", ""}, {"sharding", "3"}, {"global_batch", "64"},
                    {"seq_len", "2048"}};
  for (const char* era : {"jax-maxtext", "torchtitan"}) {
    Cells cells = share;
    cells["era"] = era;
    EXPECT_EQ(run_of(cells).parallelism.micro_batch, 4) << era;
    // Stages have to be filled: 64 sequences over 8 replicas, two stages.
    cells["pp"] = "2";
    cells["dp"] = "8";
    EXPECT_EQ(run_of(cells).parallelism.micro_batch, 1) << era;
  }
  // Sixteen times as many do not fit: the largest part that does is taken, a divisor of 3 x 16.
  Cells many = share;
  many["era"] = "torchtitan";
  many["global_batch"] = "768";
  const int taken = run_of(many).parallelism.micro_batch;
  EXPECT_GT(taken, 4);
  EXPECT_LT(taken, 48);
  EXPECT_EQ(48 % taken, 0);
}

// Four of five sequences divide nothing: five are nearer than one.
TEST(SoftwareRows, TheUsualMicroBatchIsTheNearestThatDivides) {
  const auto s = run_of({{"era", "pytorch-fsdp"},
                         {"tp", "1"},
                         {"pp", "1"},
                         {"dp", "16"},
                         {"sharding", "3"},
                         {"micro_batch", ""},
                         {"seq_len", "2048"},
                         {"global_batch", "80"}});
  EXPECT_EQ(s.parallelism.micro_batch, 5);
}

// 32 GPUs are no 8 x 5: degrees that are tried divide them.
TEST(SoftwareRows, OpenDegreesDivideTheGpus) {
  const auto s = run_of({{"n_layers", "80"},
                         {"d_model", "8192"},
                         {"n_heads", "64"},
                         {"d_ffn", "22016"},
                         {"gpu", "A100-40G-SXM"},
                         {"n_gpus", "32"},
                         {"tp", ""},
                         {"pp", ""},
                         {"dp", ""}});
  EXPECT_EQ(32 % (s.parallelism.tensor * s.parallelism.pipeline), 0);
}

// Experts are narrow: a mixture has stages before it has tensor ranks.
TEST(SoftwareRows, MixturesHaveStagesBeforeTensorRanks) {
  const Cells mixture{{"arch", "moe"},
                      {"n_experts", "128"},
                      {"top_k", "6"},
                      {"d_ffn", "1408"},
                      {"n_layers", "64"},
                      {"n_gpus", "512"},
                      {"tp", ""},
                      {"pp", ""},
                      {"dp", ""},
                      {"ep", ""},
                      {"global_batch", "4096"}};
  const auto s = run_of(mixture);
  EXPECT_EQ(s.parallelism.tensor, 1);
  EXPECT_GT(s.parallelism.pipeline, 1);
}

// 8 ranks of experts x 8 of tensor do not divide 240 / 15 = 16 of a stage: experts are whole.
TEST(SoftwareRows, ExpertsFollowTensorRanksWhereTheyCan) {
  const Cells mixture{{"arch", "moe"},
                      {"n_experts", "32"},
                      {"top_k", "3"},
                      {"n_layers", "60"},
                      {"n_gpus", "240"},
                      {"tp", "8"},
                      {"pp", "15"},
                      {"dp", "2"},
                      {"ep", "8"},
                      {"era", "megatron-lm-2025"},
                      {"global_batch", "720"}};
  EXPECT_EQ(run_of(mixture).parallelism.expert_tensor, 1);
  Cells room = mixture;
  room["n_gpus"] = "960";
  room["dp"] = "8";
  EXPECT_EQ(run_of(room).parallelism.expert_tensor, 8);
}

// Without latent attention there is nothing of it to compute again.
TEST(SoftwareRows, PartsOfARecomputationAreThoseOfTheModel) {
  for (const char* recompute : {"", "selective"}) {
    const auto s = run_of({{"era", "HAI-LLM"}, {"recompute", recompute}});
    EXPECT_THAT(s.parallelism.recompute_parts,
                testing::Not(Contains(workload::RecomputePart::latent_up)));
  }
}

// 70 billion parameters and their states are 1.1 TB: no GPU holds them, 64 do.
TEST(SoftwareRows, AnOpenShardingIsTheWeakestThatFits) {
  const Cells large{{"era", "nanotron-2025"},
                    {"sharding", ""},
                    {"n_layers", "32"},
                    {"n_gpus", "64"},
                    {"tp", "2"},
                    {"pp", "1"},
                    {"dp", "32"},
                    {"micro_batch", "1"}};
  EXPECT_EQ(run_of(large).parallelism.sharding, workload::Sharding::zero1);
  Cells small = large;
  small["n_layers"] = "8";
  EXPECT_EQ(run_of(small).parallelism.sharding, workload::Sharding::zero0);
}

// What two clusters say of EFA lies 7 times apart: where its nodes decide a step, the interval says
// so. A step of 100 ms hangs on an overhead of 80 ms that is known to half of it.
TEST(SoftwareRows, IntervalsKnowConstantsThatNoRunJudges) {
  const auto half = [](const RunPrediction& p) { return std::log(p.high / p.low) / 2; };
  const Cells sharded{{"era", "pytorch-fsdp"}, {"tp", "1"},       {"pp", "1"},
                      {"dp", "512"},           {"n_gpus", "512"}, {"sharding", "3"},
                      {"global_batch", "512"}};
  Cells cloud = sharded;
  cloud["network"] = "AWS EFA";
  EXPECT_GT(half(predicted(cloud)), 2 * half(predicted(sharded)));
  // No network makes it faster than one node without any; other errors are as theirs.
  Cells node = sharded;
  node.insert_or_assign("n_gpus", "8");
  node.insert_or_assign("dp", "8");
  node.insert_or_assign("global_batch", "8");
  EXPECT_LT(predicted(cloud).high, 1.1 * predicted(node).high);
  const Cells tiny{{"n_layers", "2"}, {"global_batch", "4"}, {"seq_len", "512"}, {"vpp", "1"}};
  EXPECT_GT(half(predicted(tiny)), 1.3 * half(predicted({})));
}

}  // namespace
}  // namespace headway::validation

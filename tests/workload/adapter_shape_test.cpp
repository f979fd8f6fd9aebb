// Adapters: their shapes, and what a tensor rank has of them.
#include "sim/workload/trained/adapter_shape.h"

#include <gtest/gtest.h>

#include "sim/workload/closed_form.h"
#include "sim/workload/memory/rank_parameters.h"
#include "sim/workload/trained/trained_parameters.h"

#include "tests/workload/trained_models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(Adapters, HaveThePublishedNumberOfParameters) {
  // Hu et al. 2021, table 4: GPT-3 with adapters of query and value, 4.7 M and 37.7 M.
  EXPECT_EQ(trained_parameters(adapted(gpt_175b(), 1, {P::query, P::value})), 4'718'592);
  EXPECT_EQ(trained_parameters(adapted(gpt_175b(), 8, {P::query, P::value})), 37'748'736);
  // "trainable params" that Hugging Face PEFT prints for Llama 2 7B and Llama 3.1 8B.
  ModelSpec llama_2 = llama("Llama 2 7B", 32, 4096, 32, 11008);
  llama_2.key_value_heads = 32;
  EXPECT_EQ(trained_parameters(adapted(llama_2, 8, {P::query, P::value})), 4'194'304);
  EXPECT_EQ(trained_parameters(adapted(llama_2, 16)), 39'976'960);
  EXPECT_EQ(trained_parameters(adapted(llama_8b(), 16)), 41'943'040);
  EXPECT_EQ(32 * kAdapters, 41'943'040);
  // Each of Mixtral's eight experts has three of its own.
  EXPECT_EQ(trained_parameters(adapted(mixtral_8x7b(), 8, {P::experts})),
            32 * 8 * 3 * 8 * (4096.0 + 14336));
  EXPECT_EQ(trained_parameters(llama_8b()), count_parameters(llama_8b()).total());
}

TEST(Adapters, AreDividedOverTensorRanks) {
  const ModelSpec model = adapted(llama_8b(), 16);
  LayerKind kind;
  kind.learning = Learning::adapters;
  EXPECT_EQ(8 * adapter_parameters_per_rank(model, split(8, 1), kind).shared, kAdapters);
  // 16 tensor ranks share eight heads of keys: each has a whole one, copies are twice as many.
  EXPECT_EQ(16 * adapter_parameters_per_rank(model, split(16, 1), kind).shared,
            kAdapters + 2 * 16 * 1024.0);
}

TEST(Adapters, AreCountedAsPublishedModelFlops) {
  // Megatron-Bridge's performance summary: LoRA of Llama 3 70B on packed documents, 735 model
  // TFLOP/s at 2,643 tokens/s on H100, 2,086 at 7,481 on GB300: forward and input gradients alone.
  // Three times the forward would be half as much again.
  TrainingSpec training = recipe(4096, 32);
  training.documents = {{200, 1}};
  const auto flops = training_flops_per_token(
      adapted(llama_70b(), 16, {P::query, P::key, P::value}), training, split(1, 1));
  EXPECT_NEAR(flops.mfu.si() / (735e12 / 2643), 1, 0.01);
  EXPECT_NEAR(flops.mfu.si() / (2086e12 / 7481), 1, 0.01);
}

}  // namespace
}  // namespace headway::workload

// Rows of mixtures of experts: which software, which dispatcher, how experts are divided.
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using workload::ExpertDispatch;

/// A mixture of eight experts over four expert ranks, tensor 2, as the row with these cells has it.
training::Scenario mixture(Cells changes) {
  const Cells usual{{"arch", "moe"}, {"n_experts", "8"}, {"top_k", "2"},  {"pp", "1"},
                    {"dp", "8"},     {"ep", "4"},        {"year", "2025"}};
  changes.insert(usual.begin(), usual.end());
  const RowScenario built = row_scenario(table_of({with(changes)}), 0, catalogue());
  EXPECT_TRUE(built.scenario.has_value());
  return *built.scenario;
}

TEST(MixtureRows, SayHowExpertsAreDividedOverTensorRanks) {
  const auto degree = [](const Cells& cells) { return mixture(cells).parallelism.expert_tensor; };
  EXPECT_EQ(degree({{"release", "26.02"}}), 1);  // recipes of Megatron-Bridge
  EXPECT_EQ(degree({{"release", "26.02"}, {"notes", "experts split over TP (ETP = TP)"}}), 2);
  EXPECT_EQ(degree({{"notes", "expert tensor parallel 1 (EP folded over TP and DP)"}}), 1);
  EXPECT_EQ(degree({{"notes", "ETP 1; every second layer"}}), 1);
  EXPECT_EQ(degree({{"notes", "ETP = TP"}, {"etp", "1"}}), 1);  // the column before the words
  EXPECT_EQ(degree({}), 2);  // Megatron-LM: as many as tensor ranks, unless set
}

// Without a release, Megatron-Core is Megatron-LM's own: its defaults, not those of recipes.
TEST(MixtureRows, WithoutAReleaseAreMegatronLms) {
  const auto plain = mixture({}).training.framework;
  EXPECT_EQ(plain.name, "Megatron-LM 2025");
  EXPECT_EQ(plain.gradient_bytes, 4);
  EXPECT_EQ(plain.reduce_bytes, 4);
  EXPECT_EQ(plain.expert_dispatch, ExpertDispatch::all_to_all);
  EXPECT_FALSE(plain.fused_permute);
  EXPECT_EQ(mixture({{"sharding", "3"}}).training.framework.name, "Megatron-LM 2025, FSDP");
  EXPECT_EQ(mixture({{"source", "Megatron-Bridge, a table"}}).training.framework.gradient_bytes, 2);
  EXPECT_EQ(mixture({{"year", "2024"}}).training.framework.name, "NeMo 24.09 to 25.05");
}

// Tokens are dropped by the plain dispatcher only, which fills capacities up.
TEST(MixtureRows, ThatDropTokensFillTheCapacityUpAndExchangePlainly) {
  const Cells recipe{{"release", "26.02"}};
  EXPECT_EQ(mixture(recipe).training.framework.expert_dispatch, ExpertDispatch::deduplicated);
  EXPECT_FALSE(mixture(recipe).model.moe->padded);
  Cells drops = recipe;
  drops["moe_routing"] = "token-drop, capacity factor 1.25";
  EXPECT_EQ(mixture(drops).training.framework.expert_dispatch, ExpertDispatch::all_to_all);
  EXPECT_EQ(mixture(drops).model.moe->capacity_factor, 1.25);
  EXPECT_TRUE(mixture(drops).model.moe->padded);
  drops["moe_routing"] = "token-drop, capacity factor none";
  EXPECT_EQ(mixture(drops).model.moe->capacity_factor, 0);
}

// NeMo's DeepSeek fuses permutation since Transformer Engine 2.1, its other mixtures do not.
TEST(MixtureRows, OfNemoFusePermutationWithLatentAttentionAndANewLibrary) {
  const auto fused = [](const std::string& release, const std::string& attention) {
    return mixture({{"release", release}, {"attention", attention}, {"tp", "1"}, {"dp", "16"}})
        .training.framework.fused_permute;
  };
  EXPECT_TRUE(fused("25.05", "mla"));
  EXPECT_FALSE(fused("25.02", "mla"));
  EXPECT_FALSE(fused("25.05", "gqa"));
}

}  // namespace
}  // namespace headway::validation

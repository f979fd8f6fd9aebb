// Rows of mixtures of experts: which software, which dispatcher, how experts are divided.
#include <algorithm>
#include <gmock/gmock.h>
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
  // The column of software says which it is; the title of a document says nothing.
  EXPECT_EQ(mixture({{"era", "megatron-bridge-2025"}}).training.framework.gradient_bytes, 2);
  EXPECT_EQ(mixture({{"source", "Megatron-Bridge, a table"}}).training.framework.name, plain.name);
  EXPECT_EQ(mixture({{"year", "2024"}}).training.framework.name, "NeMo 24.09 to 25.05");
}

// Launch scripts of NeMo 1 name neither a fused loss nor grouped experts; its second generation has
// both.
TEST(MixtureRows, OfNemosFirstGenerationHaveItsScripts) {
  const auto first = mixture({{"release", "v25.04"}}).training.framework;
  EXPECT_EQ(first.loss, workload::Loss::in_place);
  EXPECT_EQ(first.attention_kernels, workload::AttentionKernels::flash2);
  EXPECT_TRUE(first.joined_experts);
  const auto second = mixture({{"release", "v25.05.04"}}).training.framework;
  EXPECT_EQ(second.loss, workload::Loss::fused);
  EXPECT_FALSE(second.joined_experts);
}

// HybridEP came with the recipes of 25.11, and DeepEP does not run on Blackwell.
TEST(MixtureRows, OnBlackwellHaveOneCopyAGpuSinceHybridEp) {
  const auto dispatch = [](const std::string& gpu, const std::string& release) {
    return mixture({{"gpu", gpu}, {"release", release}}).training.framework.expert_dispatch;
  };
  EXPECT_EQ(dispatch("B200", "25.09"), ExpertDispatch::all_to_all);
  EXPECT_EQ(dispatch("B200", "25.11"), ExpertDispatch::deduplicated);
  EXPECT_EQ(dispatch("H100-80G-SXM", "25.09"), ExpertDispatch::deduplicated);
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

// Notes name the dispatcher; what sends one copy a GPU is timed as DeepEP inside a node.
TEST(MixtureRows, NameTheirDispatcher) {
  const auto dispatch = [](const std::string& notes) {
    return mixture({{"notes", notes}}).training.framework.expert_dispatch;
  };
  EXPECT_EQ(dispatch("DeepEP on 24 SMs"), ExpertDispatch::deduplicated);
  EXPECT_EQ(dispatch("HybridEP"), ExpertDispatch::deduplicated);
  EXPECT_EQ(dispatch("allgather dispatcher"), ExpertDispatch::all_gather);
  EXPECT_EQ(dispatch("alltoall dispatcher"), ExpertDispatch::all_to_all);
  EXPECT_EQ(dispatch("tuned"), ExpertDispatch::all_to_all);
  const auto curves = [](const std::string& notes) {
    return mixture({{"notes", notes}}).calibration.collectives;
  };
  EXPECT_EQ(curves("DeepEP"), catalogue().calibrations.at("deepep-h100-sxm").collectives);
  EXPECT_EQ(curves("tuned"), catalogue().calibrations.at("nccl-h100-sxm").collectives);
}

// Whether a recipe of 26.06 on a rack recorded the whole iteration is read both ways where the row
// does not say.
TEST(MixtureRows, ReadGraphsBothWaysWhereTheRowIsSilent) {
  Cells rack{{"arch", "moe"},
             {"n_experts", "8"},
             {"top_k", "2"},
             {"tp", "1"},
             {"pp", "1"},
             {"ep", "8"},
             {"gpu", "GB200"},
             {"n_gpus", "72"},
             {"dp", "72"},
             {"gpus_per_node", "4"},
             {"nics_per_node", "4"},
             {"nvlink_domain", "72"},
             {"release", "26.06"},
             {"global_batch", "144"}};
  const auto columns = [&] {
    std::vector<std::string> read;
    for (const auto& reading : row_scenario(table_of({with(rack)}), 0, catalogue()).readings) {
      read.push_back(reading.column);
    }
    return read;
  };
  EXPECT_THAT(columns(), testing::Contains("cuda_graph"));
  rack["cuda_graph"] = "full_iteration:[]";
  EXPECT_THAT(columns(), testing::Not(testing::Contains("cuda_graph")));
}

// Sequences so long that two do not fit: a micro-batch that nobody states has one, and nothing is
// guessed. Of short ones two fit, and are another reading.
TEST(MixtureRows, AMicroBatchThatNothingElseFitsIsKnown) {
  const auto built = [](const std::string& tokens, const std::string& micro_batch) {
    return row_scenario(table_of({with({{"arch", "moe"},
                                        {"n_experts", "8"},
                                        {"top_k", "2"},
                                        {"pp", "1"},
                                        {"dp", "8"},
                                        {"ep", "4"},
                                        {"release", "26.02"},
                                        {"seq_len", tokens},
                                        {"micro_batch", micro_batch}})}),
                        0, catalogue());
  };
  const auto reads_it = [](const RowScenario& row) {
    return std::any_of(row.readings.begin(), row.readings.end(),
                       [](const auto& reading) { return reading.column == "micro_batch"; });
  };
  EXPECT_TRUE(reads_it(built("4096", "")));
  const RowScenario open = built("49152", "");
  EXPECT_FALSE(reads_it(open));
  EXPECT_EQ(open.scenario->calibration.relative_error,
            built("49152", "1").scenario->calibration.relative_error);
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

// MiMo-V2-Flash: layers with the window have heads of their own, values are narrower than keys.
#include "tests/import/hugging_face_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/workload/closed_form.h"

namespace headway::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using workload::FullAttentionSpec;
using workload::ModelSpec;

TEST(HuggingFaceWindows, OfMiMoV2FlashAreReadWithBothKindsOfHeads) {
  const ModelSpec model = read_keys(mimo(hub_lists()));
  EXPECT_EQ(model.attention, workload::AttentionKind::sliding_window);
  EXPECT_EQ(model.window, 128);
  EXPECT_EQ(model.window_period, 6);
  EXPECT_EQ(model.leading_full_layers, 1);
  EXPECT_EQ(model.key_value_heads, 8);
  EXPECT_EQ(model.head_dim, 192);
  EXPECT_EQ(model.value_dim, 128);
  EXPECT_EQ(model.full_attention, (FullAttentionSpec{4, 192, false, 128}));
  EXPECT_EQ(model.moe->leading_dense_layers, 1);
  EXPECT_EQ(model.ffn, 16384);
  EXPECT_TRUE(model.dense_prediction);
  EXPECT_TRUE(model.windowed_prediction);
  // 309 billion, 15 active (tests/workload/narrow_values_test.cpp has the algebra).
  EXPECT_NEAR(workload::count_parameters(model).total() / 309e9, 1, 0.001);
  EXPECT_NEAR(workload::count_parameters(model).active / 15e9, 1, 0.035);
}

TEST(HuggingFaceWindows, AreTheSameAsTransformersWritesThem) {
  const std::string words =
      R"("layer_types": )" +
      of_layers(48, R"("full_attention")", R"("full_attention")", R"("sliding_attention")") +
      R"(, "mlp_layer_types": )" + of_layers(48, R"("dense")", R"("sparse")", R"("sparse")");
  EXPECT_EQ(read_keys(mimo(words)), read_keys(mimo(hub_lists())));
}

TEST(HuggingFaceWindows, AFileThatDoesNotCountItsModulesIsRemarkedOn) {
  const auto remarks = [](const std::string& more) {
    return import_hugging_face_config("{" + mimo(hub_lists()) + more + "}", "config.json").remarks;
  };
  EXPECT_THAT(remarks(""), ElementsAre(HasSubstr("set 'multi_token_prediction: 3'")));
  const std::string counted = R"(, "num_nextn_predict_layers": 3)";
  EXPECT_THAT(remarks(counted), IsEmpty());
  EXPECT_EQ(read_keys(mimo(hub_lists()) + counted).multi_token_prediction, 3);
}

TEST(HuggingFaceWindows, WithoutAnyTheHeadsAreThoseOfAllLayers) {
  const ModelSpec model =
      read_keys(shape("mimo_v2_flash", 2, 64, 4, 2, 128, 100) +
                R"(, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
      "head_dim": 48, "v_head_dim": 32, "hybrid_layer_pattern": [0, 0], "moe_layer_freq": [0, 1])");
  EXPECT_EQ(model.window, 0);
  EXPECT_EQ(model.key_value_heads, 2);
  EXPECT_EQ(model.value_dim, 32);
  EXPECT_FALSE(model.full_attention.has_value());
  EXPECT_FALSE(model.windowed_prediction);
}

TEST(HuggingFaceWindows, OrdersOfTheirOwnAreRefusedByName) {
  const auto said = [](const std::string& pattern, const std::string& experts,
                       const std::string& more = "") {
    return message_of_keys(
        shape("mimo_v2_flash", 6, 64, 4, 2, 128, 100) +
        R"(, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, )" +
        fmt::format(R"("hybrid_layer_pattern": {}, "moe_layer_freq": {})", pattern, experts) +
        more);
  };
  const std::string good = "[0, 1, 0, 1, 1, 0]";
  const std::string mixtures = "[0, 1, 1, 1, 1, 1]";
  EXPECT_EQ(said(good, mixtures), "no error");
  EXPECT_EQ(said("[0, 0, 0, 1, 1, 0]", mixtures), "no error");  // every third, two more in front
  EXPECT_THAT(said("[0, 1, 2, 1, 1, 0]", mixtures),
              HasSubstr("layers of type '2' are not modelled"));
  EXPECT_THAT(said("[0, 1, 1, 0, 1, 0]", mixtures),
              HasSubstr("'hybrid_layer_pattern' must have 6 entries: layers without the window at "
                        "the front, then the window in all but the last of every so many layers, "
                        "counted from the first"));
  EXPECT_THAT(said("[0, 1, 0]", mixtures), HasSubstr("'hybrid_layer_pattern' must have 6 entries"));
  EXPECT_THAT(said(good, "[0, 1, 0, 1, 1, 1]"),
              HasSubstr("'moe_layer_freq' must have 6 entries: dense layers at the front, then "
                        "experts in all"));
  EXPECT_THAT(said(good, mixtures, R"(, "swa_num_attention_heads": 2)"),
              HasSubstr("'swa_num_attention_heads' 2 must be 'num_attention_heads' 4"));
  EXPECT_THAT(said(good, mixtures, R"(, "swa_num_key_value_heads": 3)"),
              HasSubstr("'swa_num_key_value_heads' 3 does not divide the 4 query heads"));
}

}  // namespace
}  // namespace headway::import

// adapter_config.json of Hugging Face PEFT.
#include "sim/import/hugging_face/adapter_config.h"

#include <gtest/gtest.h>

#include "sim/core/error.h"

namespace headway::import {
namespace {

using workload::AdaptedProduct;
using P = AdaptedProduct;

constexpr const char* kUsual = R"({"peft_type": "LORA", "r": 16, "lora_alpha": 32,
  "lora_dropout": 0.0, "bias": "none", "rank_pattern": {}, "modules_to_save": null,
  "layers_to_transform": null, "use_dora": false, "task_type": "CAUSAL_LM",
  "target_modules": ["v_proj", "q_proj", "down_proj"]})";

std::string error_of(const std::string& text) {
  try {
    read_adapter_config(text, "a.json");
  } catch (const core::Error& error) {
    std::string all;
    for (const auto& one : error.diagnostics()) {
      all += one.message + "\n";
    }
    return all;
  }
  return "";
}

TEST(AdapterConfig, SaysRankProductsAndDropout) {
  const auto adapters = read_adapter_config(kUsual, "a.json");
  EXPECT_EQ(adapters.rank, 16);
  EXPECT_FALSE(adapters.dropout);
  EXPECT_EQ(adapters.base, workload::BaseWeights::full);
  EXPECT_EQ(adapters.products, (std::vector<P>{P::query, P::value, P::down}));
  const auto all = read_adapter_config(
      R"({"peft_type": "LORA", "r": 8, "lora_dropout": 0.05, "target_modules": "all-linear"})",
      "a.json");
  EXPECT_TRUE(all.dropout);
  EXPECT_TRUE(all.products.empty());
}

TEST(AdapterConfig, RefusesWhatIsNotSimulatedByName) {
  EXPECT_EQ(error_of(R"({"peft_type": "IA3"})"),
            "peft_type 'IA3' is not simulated; LORA alone is\n");
  EXPECT_EQ(error_of(R"({"peft_type": "LORA", "r": 8, "target_modules": ["query_key_value"]})"),
            "module 'query_key_value' is not known; known are those of Llama: q_proj, k_proj, "
            "v_proj, o_proj, gate_proj, up_proj, down_proj\n");
  EXPECT_EQ(error_of(R"({"peft_type": "LORA", "target_modules": ".*proj"})"), "'r' is missing\n");
  EXPECT_EQ(error_of(R"({"peft_type": "LORA", "r": 8, "target_modules": ".*proj"})"),
            "target_modules '.*proj' is a pattern; write the modules as a list, or all-linear\n");
  EXPECT_EQ(error_of(R"({"peft_type": "LORA", "r": 8})"),
            "'target_modules' is missing: which matrices have adapters\n");
  EXPECT_EQ(
      error_of(R"({"peft_type": "LORA", "r": 8, "target_modules": "all-linear", "use_dora": true,
                   "bias": "all", "rank_pattern": {"a": 4}, "modules_to_save": ["lm_head"]})"),
      "adapters with magnitudes of their own (DoRA) are not simulated\n"
      "biases that are trained beside adapters are not simulated\n"
      "adapters of different ranks are not simulated\n"
      "modules that are trained whole beside adapters are not simulated\n");
}

}  // namespace
}  // namespace headway::import

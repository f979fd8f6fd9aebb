// NeMo's YAML as settings and as a run.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "sim/config/launch/launch_scenario.h"

namespace headway::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

import::LaunchImport read(const std::string& text){
    return import::read_launch(import::nemo_table(), read_yaml_settings(text, "gpt.yaml"), {});
}  // namespace

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
  EXPECT_THAT(found.not_modelled, ElementsAre(HasSubstr("model.overlap_p2p_comm"),
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

}  // namespace headway::config
}  // namespace headway::config

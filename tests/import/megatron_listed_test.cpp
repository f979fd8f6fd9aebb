// What Megatron-LM's arguments change and a scenario cannot say is listed; norms and formats that
// an export has to name.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/import/megatron_script.h"

namespace headway::import {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Each changes time or memory: it is in the run, or listed with its line.
TEST(MegatronArguments, ThatChangeTimeAreReadOrListed) {
  const auto listed = [](const std::string& flags) {
    return read_flags(kSmallScript + flags).not_modelled;
  };
  EXPECT_THAT(listed("--eval-iters 0 --eval-interval 10"), IsEmpty());
  EXPECT_THAT(listed("--eval-iters 32 --eval-interval 100"),
              ElementsAre(HasSubstr("add about 11 % to their time")));
  EXPECT_THAT(listed("--exit-interval 100"),
              ElementsAre("line 4: exit-interval 100: the run goes on to --train-iters"));
  EXPECT_THAT(listed("--skip-train --full-validation"),
              ElementsAre(HasSubstr("skip-train"), HasSubstr("full-validation")));
  EXPECT_THAT(listed("--no-save-optim"), ElementsAre(HasSubstr("without the optimizer")));
  const LaunchImport saves =
      read_flags(kSmallScript + "--train-iters 1000 --save-interval 20 --no-save-optim");
  EXPECT_EQ(saves.run.saves, (LaunchSaves{20, false, true}));
  EXPECT_THAT(saves.not_modelled, IsEmpty());
  EXPECT_THAT(read_flags(kSmallScript + "--save-idea 1 --ckpt-idea 2").unknown,
              ElementsAre("line 4: save-idea 1", "line 4: ckpt-idea 2"));
}

/// The small script with DeepSeek's attention.
std::string with_latent(const std::string& flags) {
  return kSmallScript +
         "--multi-latent-attention --q-lora-rank 512 --kv-lora-rank 256 --qk-head-dim 64 "
         "--qk-pos-emb-head-dim 32 --v-head-dim 64 " +
         flags;
}

/// Whether the file of a run has the line.
bool writes(const LaunchRun& run, std::string_view key, const std::string& value = "") {
  return std::ranges::any_of(write_launch(megatron_table(), run), [&](const LaunchLine& line) {
    return line.key == key && (value.empty() || line.values == std::vector{value});
  });
}

// With latent attention the flag norms the compressed forms, which a scenario always does.
TEST(MegatronArguments, OfLatentAttentionNormItsCompressedForms) {
  const LaunchImport normed = read_flags(with_latent("--qk-layernorm"));
  EXPECT_FALSE(normed.run.model.query_key_norm);
  EXPECT_THAT(normed.assumptions, Not(Contains(HasSubstr("qk-layernorm"))));
  EXPECT_TRUE(writes(normed.run, "qk-layernorm"));
  EXPECT_THAT(read_flags(with_latent("")).assumptions,
              Contains(HasSubstr("qk-layernorm is not set: the norms of latent attention's")));
  const LaunchImport plain = read_flags(kSmallScript + "--qk-layernorm");
  EXPECT_TRUE(plain.run.model.query_key_norm);
  EXPECT_TRUE(writes(plain.run, "qk-layernorm"));
  EXPECT_FALSE(writes(read_flags(kSmallScript).run, "qk-layernorm"));
}

TEST(MegatronArguments, HaveTheFormatThatScalesOfBlocksGoWith) {
  for (const auto& [recipe, format] :
       {std::pair("blockwise", "e4m3"), std::pair("mxfp8", "e4m3"), std::pair("delayed", "hybrid"),
        std::pair("tensorwise", "hybrid")}) {
    const LaunchImport found =
        read_flags(kSmallScript + "--fp8-format e4m3 --fp8-recipe " + recipe);
    EXPECT_TRUE(writes(found.run, "fp8-format", format)) << recipe;
  }
  EXPECT_THAT(std::string(megatron_table().left_to_you),
              HasSubstr("--moe-router-enable-expert-bias"));
}

TEST(MegatronArguments, SayWherePredictionModulesAre) {
  const auto listed = [](const std::string& layout) {
    return read_flags(kSmallScript + "--pipeline-model-parallel-size 2 --mtp-num-layers 1 " +
                      "--position-embedding-type rope --pipeline-model-parallel-layout '" + layout +
                      "'")
        .not_modelled;
  };
  EXPECT_THAT(listed("Et*4|t*4|m|L"), ElementsAre(HasSubstr("are in the chunk of the loss")));
  EXPECT_THAT(listed("Et*4|t*4||mL"), IsEmpty());
}

}  // namespace
}  // namespace headway::import

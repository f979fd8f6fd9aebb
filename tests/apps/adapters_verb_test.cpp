// Adapters and frozen layers from the command line: init of a PEFT file, run, plan, explain,
// refusal.
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;
using Adapters = ProgramTest;

TEST_F(Adapters, OfAPeftFileBecomeAScenario) {
  write("adapter_config.json",
        R"({"peft_type": "LORA", "r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "bias": "none",
            "target_modules": ["q_proj", "v_proj"], "task_type": "CAUSAL_LM"})");
  const auto outcome =
      run("init s.yaml --model llama-3.1-8b --adapters adapter_config.json --gpus 8");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read("s.yaml"), HasSubstr("model: {use: llama-3.1-8b, adapters: {rank: 16, products: "
                                        "[query, value], dropout: true}}"));
  EXPECT_EQ(run("check s.yaml").code, 0) << run("check s.yaml").err;
  write("other.json", R"({"peft_type": "LORA", "r": 16, "target_modules": ["c_attn"]})");
  const auto refused = run("init t.yaml --adapters other.json");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("module 'c_attn' is not known"));
}

TEST_F(Adapters, AreCheaperThanTrainingAll) {
  write_small("s.yaml");
  const std::string adapters = " --set 'model.adapters={rank: 16}'";
  const auto outcome = run("run s.yaml" + adapters);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // 16 (inputs + outputs) of seven products in 32 layers.
  EXPECT_THAT(outcome.out, HasSubstr("8.03 B parameters, 41.9 M trained"));
  const auto figures = run("run s.yaml --format json" + adapters);
  EXPECT_THAT(figures.out, HasSubstr("\"trained_parameters\": 41943040"));
  EXPECT_THAT(run("run s.yaml --format json").out, HasSubstr("\"trained_parameters\": 8030261248"));
  const auto explained = run("run s.yaml --explain" + adapters);
  EXPECT_THAT(explained.out, HasSubstr("adapter"));
  const auto assumed = run("run s.yaml --show assumptions" + adapters);
  EXPECT_THAT(assumed.out, HasSubstr("model.adapters"));
}

TEST_F(Adapters, AreSearchedForALayout) {
  write_small("s.yaml");
  const auto outcome =
      run("plan s.yaml --full --top 3 --set 'model.adapters={rank: 16, base: nf4}'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Adapters, AreExplainedAndRefusedByName) {
  EXPECT_THAT(run("explain model.adapters.base").out, HasSubstr("4.127 bits"));
  EXPECT_THAT(run("explain model.frozen.layers").out, HasSubstr("are not trained"));
  write_small("s.yaml");
  const auto nf4 = run("check s.yaml --set 'model.adapters={rank: 16, base: nf4}'");
  EXPECT_EQ(nf4.code, 2);
  EXPECT_THAT(nf4.err, HasSubstr("no software does that"));
  write_small("m.yaml", "");
  const auto muon =
      run("check m.yaml --set 'model.adapters={rank: 16}' --set training.optimizer_state=muon");
  EXPECT_THAT(muon.err, HasSubstr("muon of a model that is trained in part is not simulated"));
}

TEST_F(Adapters, LeaveLittleToSave) {
  write_small(
      "s.yaml",
      "run: {until: {tokens: 1e9}, trials: 2, checkpoint: {interval_steps: 100, mode: sync}}\n");
  const auto frozen = run("run s.yaml --set 'model.frozen={layers: 31, head: true}'");
  EXPECT_EQ(frozen.code, 0) << frozen.err;
  EXPECT_THAT(frozen.out, HasSubstr("218 M trained"));
}

}  // namespace
}  // namespace headway::apps

// A model that sees, and ranks with unequal work, from the command line.
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Vision = ProgramTest;

const std::string kSeeing =
    " --set 'model={use: qwen3-vl-8b}' --set 'training.images={per_sequence: 3, deviation: 2, "
    "sizes: [{tokens: 256, share: 3}, {tokens: 1024}]}' --set parallelism.pipeline=1 --set "
    "parallelism.tensor=4";

TEST_F(Vision, RunsTheEncoderBeforeTheStep) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml" + kSeeing);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("of them an encoder of images"));
  const auto figures = run("run s.yaml --format json" + kSeeing);
  EXPECT_THAT(figures.out, HasSubstr("\"encoder_parameters\": 576"));
  EXPECT_THAT(figures.out, HasSubstr("\"rank_imbalance\": 0."));
  const auto told = run("run s.yaml --explain" + kSeeing);
  EXPECT_THAT(told.out, HasSubstr("the data rank with the most work"));
  const auto assumed = run("run s.yaml --show assumptions" + kSeeing);
  EXPECT_THAT(assumed.out, HasSubstr("training.images"));
  EXPECT_THAT(assumed.out, HasSubstr("training.balanced_ranks"));
  const auto dealt = run("run s.yaml --format json --set training.balanced_ranks=true" + kSeeing);
  EXPECT_THAT(dealt.out,
              AnyOf(HasSubstr("\"rank_imbalance\": 0,"), HasSubstr("\"rank_imbalance\": 0.0,")));
}

TEST_F(Vision, IsPlanned) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --full --top 3" + kSeeing);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// All images on each context rank, or dealt among them; without context ranks that is nothing.
TEST_F(Vision, RunsBesideContextRanks) {
  write_small("s.yaml");
  const std::string context = kSeeing + " --set parallelism.context=2";
  const auto whole = run("run s.yaml --show assumptions" + context);
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("whole: 2 context ranks encode the same images"));
  const auto dealt =
      run("run s.yaml --show assumptions" + context + " --set model.vision.context=split");
  EXPECT_EQ(dealt.code, 0) << dealt.err;
  EXPECT_THAT(dealt.out, HasSubstr("split: 2 of 3 images on the context rank with the most"));
  EXPECT_THAT(run("explain model.vision.context").out, HasSubstr("their tokens gathered"));
  const auto alone = run("run s.yaml" + kSeeing + " --set model.vision.context=split");
  EXPECT_THAT(alone.out + alone.err, HasSubstr("model.vision.context: split does nothing"));
  const auto planned = run("plan s.yaml --full --top 2 --set 'search.context=[1, 2]'" + kSeeing);
  EXPECT_EQ(planned.code, 0) << planned.err;
}

TEST_F(Vision, OverContextRanksIsAScenario) {
  const std::string file = HEADWAY_ROOT "/configs/scenarios/qwen3-vl-8b-long-32-h100.yaml";
  for (const char* context : {"split", "whole"}) {
    const auto outcome = run("run " + file + " --format json --set run.trials=2 " +
                             "--set model.vision.context=" + context);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("\"encoder_parameters\": 576"));
  }
}

const std::string kOwnStage =
    kSeeing + " --set model.vision.stage=own --set parallelism.pipeline=2";

TEST_F(Vision, RunsAnEncoderOnAStageOfItsOwn) {
  write_small("s.yaml");
  const auto outcome = run("run s.yaml --show assumptions" + kOwnStage);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("on a stage of its own"));
  EXPECT_THAT(outcome.out, HasSubstr("MB of image tokens a micro-batch to the next stage"));
  EXPECT_THAT(run("explain model.vision.stage").out, HasSubstr("on GPUs of its own"));
}

// Of as many stages as fit the first has no layers; layouts without it are none.
TEST_F(Vision, IsPlannedOnAStageOfItsOwn) {
  write_small("s.yaml");
  const auto outcome =
      run("plan s.yaml --top 2 --format json --vary pipeline,micro_batch,schedule" + kOwnStage);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("and the encoder's own stage"));
  EXPECT_THAT(outcome.out, HasSubstr("model.vision.stage"));
  EXPECT_THAT(outcome.out, HasSubstr("\"pipeline\": 2,"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\"pipeline\": 1,")));
}

TEST_F(Vision, OnAStageOfItsOwnIsRefusedWhereThereIsNone) {
  write_small("s.yaml");
  const auto alone = run("check s.yaml" + kOwnStage + " --set parallelism.pipeline=1");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("needs parallelism.pipeline of 2 or more"));
  const auto chunks = run("check s.yaml" + kOwnStage + " --set parallelism.virtual=2");
  EXPECT_EQ(chunks.code, 2);
  EXPECT_THAT(chunks.err, HasSubstr("no framework says where its chunks would lie"));
  const auto listed = run("check s.yaml" + kOwnStage + " --set 'parallelism.chunk_layers=[1, 35]'");
  EXPECT_EQ(listed.code, 2);
  EXPECT_THAT(listed.err, HasSubstr("let chunk_layers begin with 0"));
}

TEST_F(Vision, IsExplainedAndRefusedByName) {
  EXPECT_THAT(run("explain model.vision.merge").out, HasSubstr("one token"));
  EXPECT_THAT(run("explain training.images.deviation").out, HasSubstr("Standard deviation"));
  EXPECT_THAT(run("explain training.balanced_ranks").out, HasSubstr("drew the most"));
  write_small("s.yaml");
  const auto blind = run("check s.yaml --set 'model={use: qwen3-vl-8b}'");
  EXPECT_EQ(blind.code, 2);
  EXPECT_THAT(blind.err, HasSubstr("write how many a sequence has in training.images"));
  const auto offload = run("check s.yaml --set parallelism.offload=activations" + kSeeing);
  EXPECT_EQ(offload.code, 2);
  EXPECT_THAT(offload.err, HasSubstr("beside an encoder of images are not simulated"));
}

TEST_F(Vision, OfThePublishedFileIsReadWithItsEncoder) {
  write("config.json",
        R"({"model_type": "qwen2_5_vl", "num_hidden_layers": 28, "hidden_size": 3584,
        "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
        "vocab_size": 152064, "vision_config": {"depth": 32, "num_heads": 16, "patch_size": 14,
        "hidden_size": 1280, "intermediate_size": 3420, "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31]}})");
  const auto begun = run("init my.yaml --model hf:config.json --gpus 32 --gpu h100");
  EXPECT_EQ(begun.code, 0) << begun.err;
  const auto figures = run("run my.yaml --format json --set run.trials=2");
  EXPECT_EQ(figures.code, 0) << figures.err;
  EXPECT_THAT(figures.out, HasSubstr("\"encoder_parameters\": 676633344"));
}

// Packed documents alone.
TEST_F(Vision, RanksWithLongerDocumentsAreWaitedFor) {
  write_small("s.yaml");
  const std::string documents =
      " --set 'training.documents=[{tokens: 512, share: 8}, {tokens: 4096}]'";
  const std::string waits = "data ranks with more work than others";
  const auto told = run("run s.yaml --show breakdown" + documents);
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr(waits));
  EXPECT_THAT(
      run("run s.yaml --show breakdown" + documents + " --set training.balanced_ranks=true").out,
      Not(HasSubstr(waits)));
}

}  // namespace
}  // namespace headway::apps

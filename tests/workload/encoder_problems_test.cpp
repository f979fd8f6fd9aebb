// What is not known of an encoder of images is refused by name.
#include "sim/workload/vision/encoder_problems.h"

#include <gmock/gmock.h>

#include "sim/workload/vision/encoder.h"

#include "tests/workload/seeing_models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(EncoderProblems, OfOneThatFitsAreNone) {
  EXPECT_TRUE(encoder_problems(qwen2_5_vl_7b(), seeing(8), split(4, 2)).empty());
  EXPECT_TRUE(encoder_problems(llama_8b(), recipe(4096, 8), split(4, 2)).empty());
  ParallelismSpec context = split(2, 2);
  context.context = 4;
  EXPECT_TRUE(encoder_problems(qwen2_5_vl_7b(), seeing(8), context).empty());
}

// A table of 64 x 64 positions, averaged in squares of 4 x 4, is 256 tokens: a larger picture is
// several images. With a rotary embedding any size goes.
TEST(EncoderProblems, AnImageHasTheTokensOfTheTable) {
  ModelSpec model = qwen2_5_vl_7b();
  model.vision->rotary = false;
  model.vision->positions = 64 * 64;
  model.vision->merge = 4;
  EXPECT_EQ(most_image_tokens(*model.vision), std::optional(256));
  TrainingSpec training = seeing(8);
  training.images->sizes = {{256, 1}};
  EXPECT_TRUE(encoder_problems(model, training, {}).empty());
  training.images->sizes = {{257, 1}};
  EXPECT_THAT(texts(encoder_problems(model, training, {})),
              ElementsAre(HasSubstr("an image of 257 tokens has more patches than the encoder has "
                                    "positions (4096, without a rotary embedding): 256 tokens")));
  model.vision->rotary = true;
  EXPECT_FALSE(most_image_tokens(*model.vision).has_value());
}

TEST(EncoderProblems, NameImagesWithoutEncoderAndTheOtherWayRound) {
  EXPECT_THAT(texts(encoder_problems(qwen2_5_vl_7b(), recipe(4096, 8), {})),
              ElementsAre("model 'Qwen2.5-VL 7B' has an encoder of images: write how many a "
                          "sequence has in training.images, or leave 'vision' out"));
  EXPECT_THAT(texts(encoder_problems(llama_8b(), seeing(8), {})),
              ElementsAre("model 'Llama 3.1 8B' has no encoder that sees images: leave 'images' "
                          "out, or describe one in model.vision"));
  TrainingSpec many = seeing(8);
  many.images->per_sequence = 9;
  EXPECT_THAT(texts(encoder_problems(qwen2_5_vl_7b(), many, {})),
              ElementsAre("9 images of a sequence have 9216 tokens in the mean, more than the 8192 "
                          "of the sequence"));
  many.images->sizes.clear();
  EXPECT_THAT(texts(encoder_problems(qwen2_5_vl_7b(), many, {})),
              ElementsAre("images need at least one size"));
}

// Of 8,192 tokens and images of 1,024 a sequence holds 8 at most: counts of 2 in the mean deviate
// by sqrt(2 x 6) = 3.46 at most, where a quarter of the sequences have 8 and the others none.
TEST(EncoderProblems, CountsDeviateNoMoreThanTheirSequenceHolds) {
  TrainingSpec training = seeing(8);
  training.images->per_sequence = 2;
  training.images->deviation = 3.46;
  EXPECT_TRUE(encoder_problems(qwen2_5_vl_7b(), training, {}).empty());
  training.images->deviation = 3.47;
  EXPECT_THAT(texts(encoder_problems(qwen2_5_vl_7b(), training, {})),
              ElementsAre("counts of 2 images in the mean and at most 8, as 8192 tokens have room "
                          "for, deviate by 3.46 at most, not 3.47"));
}

TEST(EncoderProblems, NameWhatDoesNotDivide) {
  ModelSpec model = qwen2_5_vl_7b();
  EXPECT_THAT(texts(encoder_problems(model, seeing(8), split(8, 1))),
              ElementsAre("3420 MLP columns of the encoder do not divide over 8 tensor-parallel "
                          "ranks; choose tensor: whole, a copy on each"));
  model.vision->tensor = EncoderTensor::whole;
  EXPECT_TRUE(encoder_problems(model, seeing(8), split(8, 1)).empty());
  model.vision->heads = 12;
  EXPECT_THAT(texts(encoder_problems(model, seeing(8), {})),
              ElementsAre("width 1280 of the encoder does not divide over its 12 heads"));
}

// 8 images of 1,024 tokens: 2^13 tokens of 2^18 patches each are 2^31, one more than can be
// counted.
TEST(EncoderProblems, CountThePatchesOfAMicroBatch) {
  ModelSpec model = qwen2_5_vl_7b();
  TrainingSpec training = seeing(8);
  training.images->per_sequence = 8;
  model.vision->merge = 511;
  EXPECT_TRUE(encoder_problems(model, training, {}).empty());
  model.vision->merge = 512;
  const auto found = encoder_problems(model, training, {});
  EXPECT_THAT(paths(found), ElementsAre("model.vision.merge"));
  EXPECT_THAT(texts(found),
              ElementsAre("8192 tokens of the images of a micro-batch stand for 2.147e+09 patches "
                          "at merge 512 (its square each), and at most 2147483647 are simulated; "
                          "merge fewer, or take fewer or smaller images"));
}

TEST(EncoderProblems, NameWhatIsNotSimulatedBesideIt) {
  ParallelismSpec layout;
  layout.pipeline = 4;
  layout.schedule = ScheduleKind::dual_pipe;
  layout.offload = Offload::activations;
  TrainingSpec training = seeing(8);
  training.precision = core::Precision::fp32;
  training.optimizer_state = OptimizerState::muon;
  training.local_steps.emplace();
  training.distillation = DistillationSpec{qwen2_5_vl_7b(), {}, 0, false};
  training.framework.host.piece = core::Seconds(1e-6);
  const auto found = encoder_problems(qwen2_5_vl_7b(), training, layout);
  EXPECT_THAT(paths(found), ElementsAre("parallelism.schedule", "parallelism.offload",
                                        "training.precision", "training.optimizer_state",
                                        "training.local_steps", "training.distillation",
                                        "model.vision", "training.distillation.teacher.vision"));
  EXPECT_THAT(texts(found),
              Contains(HasSubstr("activations that go to the host beside an encoder of images")));
}

}  // namespace
}  // namespace headway::workload

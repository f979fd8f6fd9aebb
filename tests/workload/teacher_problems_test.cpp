// What is not known of distillation is refused.
#include "sim/workload/teacher/teacher_problems.h"

#include <gtest/gtest.h>

#include "tests/workload/taught_models.h"
#include "tests/workload/violation_texts.h"

namespace headway::workload {
namespace {

using namespace tests;
using Texts = std::vector<std::string>;

TEST(TeacherProblems, NameWhatModelsDoNotAgreeOn) {
  EXPECT_EQ(texts(teacher_problems(student(), taught(8), {})), Texts{});
  EXPECT_EQ(texts(teacher_problems(student(), recipe(int(kS), 8), {})), Texts{});
  TrainingSpec training = taught(8);
  training.distillation->top_k = 200000;
  training.distillation->teacher = mixtral_8x7b();
  training.distillation->teacher->frozen = FrozenSpec{1, true, false};
  ModelSpec model = student();
  model.multi_token_prediction = 1;
  ParallelismSpec layout;
  layout.offload = Offload::activations;
  EXPECT_EQ(
      texts(teacher_problems(model, training, layout)),
      (Texts{"teacher 'Mixtral 8x7B' has 32000 tokens and model 'Llama 3.1 8B' 128256: their "
             "probabilities are compared one by one; pad the smaller to the larger, or choose "
             "models of one tokenizer",
             "nothing of teacher 'Mixtral 8x7B' is trained: leave out its 'adapters' and 'frozen'",
             "prediction modules of a model that learns from a teacher are not simulated; write "
             "multi_token_prediction: 0",
             "top_k 200000 is more than the 128256 tokens there are",
             "activations that go to the host beside a teacher's forward are not simulated; choose "
             "offload none or optimizer"}));
}

TEST(TeacherProblems, OfTheTeacherAsAModelSayThatItIsTheTeachers) {
  TrainingSpec training = taught(8);
  training.distillation->teacher->attention = AttentionKind::multi_latent;
  training.distillation->teacher->key_value_heads = 3;
  const Violations all = teacher_problems(student(), training, {});
  EXPECT_EQ(texts(all),
            (Texts{"the teacher: 64 attention heads do not divide over 3 key-value heads",
                   "the teacher: attention mla of model 'Llama 3.1 70B' needs its ranks in "
                   "'latent'"}));
  EXPECT_EQ(paths(all), (Texts{"training.distillation.teacher.key_value_heads",
                               "training.distillation.teacher.attention"}));
}

TEST(TeacherProblems, SayThatATeacherRunsOrRanBefore) {
  const TrainingSpec cached = taught_before(8, 256);
  EXPECT_EQ(texts(teacher_problems(student(), cached, {})), Texts{});
  TrainingSpec both = cached;
  both.distillation->teacher = teacher_of_few();
  both.distillation->teacher_layers = {4, 4};
  const Violations twice = teacher_problems(student(), both, {});
  EXPECT_EQ(texts(twice),
            (Texts{"teacher 'Llama 3.1 70B' either runs beside the step or ran before, when its "
                   "logits were cached; leave out 'teacher' or 'cached'",
                   "a teacher that ran before has no layers on these stages; leave out "
                   "'teacher_layers'"}));
  EXPECT_EQ(paths(twice),
            (Texts{"training.distillation.cached", "training.distillation.teacher_layers"}));
  TrainingSpec nobody = cached;
  nobody.distillation->cached.reset();
  EXPECT_EQ(texts(teacher_problems(student(), nobody, {})),
            Texts{"nobody teaches; name the model that runs beside the step in 'teacher', or write "
                  "'cached' for logits of one that ran before"});
}

// 2^16 = 65,536 < 128,256 <= 2^17.
TEST(TeacherProblems, OfCachedLogitsNameTheNumbersOfTokens) {
  TrainingSpec narrow = taught_before(8, 256);
  narrow.distillation->cached->token_id_bits = 16;
  EXPECT_EQ(texts(teacher_problems(student(), narrow, {})),
            Texts{"16 bits do not tell 128256 tokens apart; write at least 17"});
  narrow.distillation->cached->token_id_bits = 17;
  EXPECT_EQ(texts(teacher_problems(student(), narrow, {})), Texts{});
  narrow.distillation->top_k = 0;
  EXPECT_EQ(texts(teacher_problems(student(), narrow, {})),
            Texts{"of the whole vocabulary all values are stored in order, without numbers of "
                  "tokens; leave out 'token_id_bits', or write how many are stored in 'top_k'"});
  ParallelismSpec layout;
  layout.offload = Offload::activations;
  EXPECT_EQ(texts(teacher_problems(student(), taught_before(8, 256), layout)),
            Texts{"activations that go to the host beside cached logits that come from it are not "
                  "simulated; choose offload none or optimizer"});
  // No teacher, so no schedule and no degree that it does not have.
  ParallelismSpec interleaved = split(3, 2);
  interleaved.virtual_stages = 2;
  interleaved.schedule = ScheduleKind::interleaved;
  EXPECT_EQ(texts(teacher_layout_problems(taught_before(8, 256), interleaved)), Texts{});
}

TEST(TeacherProblems, NameWhatDoesNotDivide) {
  EXPECT_EQ(texts(teacher_layout_problems(taught(8), split(8, 4))), Texts{});
  EXPECT_EQ(texts(teacher_layout_problems(recipe(int(kS), 8), split(3, 5))), Texts{});
  const Texts odd = texts(teacher_layout_problems(taught(8), split(3, 1)));
  EXPECT_EQ(odd,
            (Texts{"the teacher: 64 attention heads do not divide over 3 tensor-parallel ranks",
                   "the teacher: 28672 MLP columns do not divide over 3 tensor-parallel ranks",
                   "the teacher: 8 key-value heads and 3 tensor-parallel ranks do not divide "
                   "each other"}));
  TrainingSpec listed = taught(8);
  listed.distillation->teacher_layers = {4, 5};
  EXPECT_EQ(paths(teacher_layout_problems(listed, split(1, 2))),
            Texts{"training.distillation.teacher_layers"});
  EXPECT_EQ(paths(teacher_layout_problems(taught(8), split(1, 3))), Texts{"parallelism.pipeline"});
  ParallelismSpec interleaved = split(1, 2);
  interleaved.virtual_stages = 2;
  interleaved.schedule = ScheduleKind::interleaved;
  EXPECT_EQ(texts(teacher_layout_problems(taught(8), interleaved)),
            Texts{"a teacher's forward in schedule interleaved is not simulated (nor is it in "
                  "ModelOpt's distillation over interleaved stages); choose 1f1b or gpipe"});
}

}  // namespace
}  // namespace headway::workload

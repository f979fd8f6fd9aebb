// What a teacher holds of a rank's memory, and how it is laid out.
#include "sim/workload/teacher/teacher.h"

#include <gtest/gtest.h>

#include "sim/workload/memory/memory.h"

#include "tests/workload/taught_models.h"

namespace headway::workload {
namespace {

using namespace tests;

constexpr double kStage = 8 * (kTaughtLayer + 2 * 8192) + 2 * kTaughtHead + 8192;

TEST(Teacher, HoldsWeightsAndNothingElse) {
  TrainingSpec alone = taught(8);
  alone.distillation.reset();
  for (const Sharding sharding : {Sharding::zero0, Sharding::zero1, Sharding::zero2}) {
    ParallelismSpec layout;
    layout.sharding = sharding;
    const auto with = stage_states(student(), taught(8), layout, 8).front();
    const auto without = stage_states(student(), alone, layout, 8).front();
    EXPECT_NEAR((with.weights - without.weights).si() / (2 * kStage), 1, 1e-12);
    EXPECT_EQ(with.gradients, without.gradients);
    EXPECT_EQ(with.optimizer, without.optimizer);
    EXPECT_EQ(with.at_layers, without.at_layers);
  }
}

TEST(Teacher, IsShardedWhereTheStudentIs) {
  TrainingSpec alone = taught(8);
  alone.distillation.reset();
  ParallelismSpec layout;
  layout.sharding = Sharding::zero3;
  const auto with = stage_states(student(), taught(8), layout, 8).front();
  const auto without = stage_states(student(), alone, layout, 8).front();
  EXPECT_NEAR((with.weights - without.weights).si() / (2 * kStage / 8), 1, 1e-12);
  // Two layers in use and on their way, which are more than the student's two with gradients.
  EXPECT_NEAR(with.at_layers.si() / (2 * 2 * (kTaughtLayer + 2 * 8192)), 1, 1e-12);
  EXPECT_NEAR((with.at_head - without.at_head).si() / (2 * (kTaughtHead + 8192)), 1, 1e-12);
}

TEST(Teacher, IsWholeWhereWeightsStayGathered) {
  ParallelismSpec layout = tests::split(1, 2);
  layout.sharding = Sharding::zero3;
  TrainingSpec once = taught(8);
  once.framework.gather_once = true;
  const auto weights = [&](const TrainingSpec& training) {
    return teacher_bytes(training, layout, 0, data_ranks(layout, 4)).weights;
  };
  EXPECT_NEAR(weights(once) / weights(taught(8)), 4, 1e-3);
}

TEST(Teacher, InNarrowFormatsHasOneCopyForItsForward) {
  TrainingSpec training = taught(8);
  training.precision = core::Precision::fp8;
  const double wide = teacher_bytes(taught(8), {}, 0, data_ranks({}, 8)).weights;
  const double narrow = teacher_bytes(training, {}, 0, data_ranks({}, 8)).weights;
  EXPECT_NEAR((narrow - wide) / (8 * (kTaughtLayer + 2 * 8192)), 1, 1e-9);
  EXPECT_EQ(teacher_bytes(recipe(int(kS), 8), {}, 0, data_ranks({}, 8)).weights, 0);
}

TEST(Teacher, KeepsNoActivations) {
  TrainingSpec alone = taught(4);
  alone.distillation.reset();
  const auto schedule = pipeline_schedule(ScheduleKind::one_f_one_b, 2, 1, 4);
  const auto with = stage_activations(student(), taught(4), split(1, 2), schedule);
  const auto without = stage_activations(student(), alone, split(1, 2), schedule);
  // The first stage holds two micro-batches of the student's; its messages are wider.
  EXPECT_EQ(with[0].at_layers.total(), without[0].at_layers.total());
  EXPECT_NEAR(with[0].buffers / without[0].buffers, 3, 1e-12);
  // A teacher whose layer is wider than all that the student keeps is what there is at most.
  ModelSpec small = student(2);
  small.hidden = 128;
  small.heads = 1;
  small.key_value_heads = 1;
  small.ffn = 128;
  const auto fullest = stage_activations(small, taught(1), split(1, 1),
                                         pipeline_schedule(ScheduleKind::one_f_one_b, 1, 1, 1));
  EXPECT_EQ(fullest[0].at_layers.activations.si(), teacher_working_set(taught(1), split(1, 1)));
}

TEST(Teacher, IsDividedAsTheStudentIs) {
  ParallelismSpec student_layout = split(4, 2);
  student_layout.expert = 2;
  student_layout.recompute = Recompute::full;
  student_layout.offload = Offload::optimizer;
  student_layout.first_stage_layers = 3;
  const ParallelismSpec layout = teacher_layout(taught(8), student_layout);
  EXPECT_EQ(layout.tensor, 4);
  EXPECT_EQ(layout.pipeline, 2);
  EXPECT_EQ(layout.expert, 1);  // it has none
  EXPECT_EQ(layout.recompute, Recompute::none);
  EXPECT_EQ(layout.offload, Offload::none);
  EXPECT_EQ(layout.first_stage_layers, 0);
  TrainingSpec training = taught(8);
  training.distillation->teacher = mixtral_8x7b();
  EXPECT_EQ(teacher_layout(training, student_layout).expert, 2);
}

}  // namespace
}  // namespace headway::workload

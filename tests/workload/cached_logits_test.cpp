// Logits of a teacher that ran before: in storage, on their way, in the loss, in memory.
#include "sim/workload/teacher/cached_logits.h"

#include <gtest/gtest.h>

#include "sim/workload/closed_form.h"
#include "sim/workload/memory/activation_memory.h"
#include "sim/workload/memory/memory.h"
#include "sim/workload/teacher/distillation_loss.h"
#include "sim/workload/teacher/teacher.h"

#include "tests/workload/taught_models.h"

namespace headway::workload {
namespace {

using namespace tests;

constexpr double kLogitsOfMicroBatch = kS * kVocabulary;
constexpr int kFew = 256;
constexpr double kFewOfMicroBatch = kS * kFew;

StepGraph step_before(const TrainingSpec& training, int tensor = 1, int micro_batches = 1) {
  return build_step_graph(student(), training, split(tensor, 1), 1, micro_batches);
}

// 256 values of 16 bits and numbers of 24: 256 x 5 B. Whole: 128,256 x 2 B.
TEST(CachedLogits, InStorageAreValuesAndNumbersOfTokens) {
  TrainingSpec training = taught_before(1, kFew);
  EXPECT_EQ(stored_logit_bytes(student(), training), 1280);
  training.distillation->cached->token_id_bits = 17;
  training.distillation->cached->value_bits = 7;
  EXPECT_EQ(stored_logit_bytes(student(), training), 256 * 3);
  EXPECT_EQ(stored_logit_bytes(student(), taught_before(1, 0)), 2 * kVocabulary);
  EXPECT_EQ(stored_logit_bytes(student(), taught(1)), 0);
  EXPECT_EQ(stored_logit_bytes(student(), recipe(int(kS), 1)), 0);
}

// A rank gets all values of its tokens, 2 B and 8 B of number each; of a whole vocabulary its part.
TEST(CachedLogits, ComeFromTheHostWithEachMicroBatchToTheRanksOfTheLoss) {
  for (const int tensor : {1, 4}) {
    EXPECT_EQ(kernel_traffic(step_before(taught_before(3, kFew), tensor, 3), kLogitsFromHost),
              3 * kFewOfMicroBatch * 10)
        << tensor;
    EXPECT_EQ(kernel_traffic(step_before(taught_before(3, 0), tensor, 3), kLogitsFromHost),
              3 * kLogitsOfMicroBatch * 2 / tensor)
        << tensor;
  }
  TrainingSpec wide = taught_before(1, kFew);
  wide.distillation->cached->value_bits = 32;
  EXPECT_EQ(kernel_traffic(step_before(wide), kLogitsFromHost), kFewOfMicroBatch * 12);
  const StepGraph staged = build_step_graph(student(), taught_before(4, kFew), split(1, 4), 1, 4);
  for_each_operation(staged, [&](int stage, const Operation& operation, int) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (kernel.kind == core::KernelKind::host_copy) {
        EXPECT_EQ(stage, 3);
        EXPECT_EQ(operation.activity, core::Activity::input);
      }
    }
  });
}

TEST(CachedLogits, NeedNoTeacherInTimeWorkMessagesOrMemory) {
  const TrainingSpec before = taught_before(4, kFew);
  const TrainingSpec alone = recipe(int(kS), 4);
  const StepGraph graph = build_step_graph(student(), before, split(1, 2), 1, 4);
  for (const Block& block : graph.blocks) {
    EXPECT_FALSE(block.teacher) << block.name;
  }
  EXPECT_EQ(matrix_work(graph), matrix_work(build_step_graph(student(), alone, split(1, 2), 1, 4)));
  EXPECT_EQ(teacher_flops_per_token(before).linear().si(), 0);
  EXPECT_EQ(teacher_bytes(before, {}, 0, data_ranks({}, 8)).weights, 0);
  EXPECT_EQ(teacher_working_set(before, {}), 0);
  const RankShape shape = rank_shape(student(), before, {});
  EXPECT_EQ(message_elements(before, shape), shape.stream());
}

// One kernel: logits twice 4 B, each stored one 8 + 2 + 32 B; backward logits and gradient 4 B,
// each stored one 8 + 2 + 64.
TEST(CachedLogits, OfFewTokensInOneKernelAreGathered) {
  const StepGraph fused = step_before(taught_before(1, kFew));
  EXPECT_NEAR(kernel_traffic(fused, "divergence") / kLogitsOfMicroBatch, 4 + 4, 1e-9);
  EXPECT_NEAR(kernel_traffic(fused, "stored tokens") / kFewOfMicroBatch, 42 + 74, 1e-9);
  EXPECT_EQ(kernel_traffic(fused, "cross entropy"), 0);
  const StepGraph four = step_before(taught_before(1, kFew), 4);
  EXPECT_NEAR(kernel_traffic(four, "divergence") / (kLogitsOfMicroBatch / 4), 4 + 4, 1e-9);
  EXPECT_NEAR(kernel_traffic(four, "stored tokens") / kFewOfMicroBatch, 42 + 74, 1e-9);
  EXPECT_EQ(bytes_of(four, "divergence maximum"), 4 * kS);
  EXPECT_EQ(bytes_of(four, "divergence sum"), 3 * 4 * kS);
}

// Operators, a logit: 6 + 4 + 8 + 8 + 4 + 8 = 38, back 4 + 8 + 4 + 8 + 12 + 6 = 42; a stored one:
// 6 + 29 + 32 + 44 + 51 + 45 = 207, back 5 + 12 + 8 + 5 + 12 + 12 + 76 = 130.
TEST(CachedLogits, OfFewTokensInOperatorsPassOverThemManyTimes) {
  const StepGraph graph = step_before(taught_before(1, kFew, Loss::separate), 4);
  EXPECT_NEAR(kernel_traffic(graph, "divergence") / (kLogitsOfMicroBatch / 4), 38 + 42, 1e-9);
  EXPECT_NEAR(kernel_traffic(graph, "stored tokens") / kFewOfMicroBatch, 207 + 130, 1e-9);
  EXPECT_EQ(bytes_of(graph, "divergence maximum"), 4 * kS);
  EXPECT_EQ(bytes_of(graph, "divergence sum"), 2 * 4 * kS);      // backward again
  EXPECT_EQ(bytes_of(graph, "stored probability"), 2 * 4 * kS);  // backward again
  EXPECT_EQ(bytes_of(graph, "divergence"), 4);                   // of the micro-batch
  EXPECT_EQ(bytes_of(graph, "candidates"), 0);                   // nothing is chosen
}

// The whole vocabulary is a running teacher's loss; in 32 bits its logits are 4 B and not widened.
TEST(CachedLogits, OfTheWholeVocabularyAreTheLossOfARunningTeacher) {
  for (const Loss loss : {Loss::fused, Loss::separate}) {
    EXPECT_EQ(kernel_traffic(step_before(taught_before(1, 0, loss)), "divergence"),
              kernel_traffic(step_before(taught(1, loss)), "divergence"));
  }
  TrainingSpec wide = taught_before(1, 0);
  wide.distillation->cached->value_bits = 32;
  EXPECT_NEAR(kernel_traffic(step_before(wide), "divergence") / kLogitsOfMicroBatch,
              (2 * 2 + 2 * 4) + (2 * 2 + 4), 1e-9);
  wide.framework.loss = Loss::separate;
  EXPECT_NEAR(kernel_traffic(step_before(wide), "divergence") / kLogitsOfMicroBatch, 122 + 78,
              1e-9);
}

TEST(CachedLogits, LieOnTheGpuBesideTheStudents) {
  const auto kept = [](const TrainingSpec& training) {
    return logits_bytes(student(), training, split(1, 1)).si();
  };
  const auto passing = [](const TrainingSpec& training) {
    return logit_gradient_bytes(student(), training, split(1, 1)).si();
  };
  const TrainingSpec fused = taught_before(1, kFew);
  EXPECT_EQ(kept(fused), 2 * kLogitsOfMicroBatch + 10 * kFewOfMicroBatch);
  EXPECT_EQ(passing(fused), 2 * kLogitsOfMicroBatch);
  const TrainingSpec operators = taught_before(1, kFew, Loss::separate);
  EXPECT_EQ(kept(operators), 4 * kLogitsOfMicroBatch + 18 * kFewOfMicroBatch);
  EXPECT_EQ(passing(operators), 12 * kLogitsOfMicroBatch);
  // Half the vocabulary is stored: (8 + 2) V + 39 V / 2 is more than 12 V.
  const TrainingSpec many = taught_before(1, 64128, Loss::separate);
  EXPECT_EQ(passing(many), (10 + 39.0 / 2) * kLogitsOfMicroBatch);
  EXPECT_EQ(kept(taught_before(1, 0)), kept(taught(1)));
  EXPECT_EQ(passing(taught_before(1, 0)), passing(taught(1)));
}

}  // namespace
}  // namespace headway::workload

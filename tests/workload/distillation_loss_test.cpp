// The loss of a distilled model: bytes that its kernels move, what travels, what is kept.
#include "sim/workload/teacher/distillation_loss.h"

#include <gtest/gtest.h>

#include "sim/workload/memory/activation_memory.h"

#include "tests/workload/taught_models.h"

namespace headway::workload {
namespace {

using namespace tests;

constexpr double kLogits = kS * kVocabulary;

StepGraph step(const TrainingSpec& training, int tensor = 1) {
  return build_step_graph(student(), training, split(tensor, 1), 1, 1);
}

TEST(DistillationLoss, PassesOverTheLogitsOfBothModels) {
  EXPECT_NEAR(kernel_traffic(step(taught(1)), "divergence") / kLogits, 4 * 2 + 3 * 2, 1e-9);
  const TrainingSpec operators = taught(1, Loss::separate);
  EXPECT_NEAR(kernel_traffic(step(operators), "divergence") / kLogits, 128 + 78, 1e-9);
  EXPECT_NEAR(kernel_traffic(step(operators, 4), "divergence") / (kLogits / 4), 128 + 62, 1e-9);
  TrainingSpec few = operators;
  few.distillation->top_k = 512;
  EXPECT_NEAR(kernel_traffic(step(few), "divergence") / kLogits, 100 + 54, 1e-9);
  few.framework.loss = Loss::fused;  // choosing is an operator of its own
  EXPECT_NEAR(kernel_traffic(step(few), "divergence") / kLogits, 100 + 54, 1e-9);
}

TEST(DistillationLoss, HasTheLabelsOnlyIfAsked) {
  TrainingSpec training = taught(1);
  EXPECT_EQ(kernel_traffic(step(training), "cross entropy"), 0);
  training.distillation->label_loss = true;
  EXPECT_NEAR(kernel_traffic(step(training), "cross entropy") / kLogits, 2 + 4, 1e-9);
  EXPECT_FALSE(compares_labels(taught(1)));
  EXPECT_TRUE(compares_labels(recipe(int(kS), 1)));
}

TEST(DistillationLoss, TravelsBetweenTensorRanks) {
  const StepGraph fused = step(taught(1), 4);
  EXPECT_EQ(bytes_of(fused, "divergence maximum"), 2 * 4 * kS);
  EXPECT_EQ(bytes_of(fused, "divergence sum"), 3 * 4 * kS);
  const StepGraph operators = step(taught(1, Loss::separate), 4);
  EXPECT_EQ(bytes_of(operators, "divergence maximum"), 2 * 4 * kS);
  EXPECT_EQ(bytes_of(operators, "divergence sum"), 3 * 4 * kS);  // one of them backward
  EXPECT_EQ(bytes_of(operators, "divergence"), 4 * kS);
  TrainingSpec few = taught(1);
  few.distillation->top_k = 512;
  // 512 of each of four ranks, of both models, and the student's gradients.
  EXPECT_EQ(bytes_of(step(few, 4), "candidates"), 3 * 4 * 4 * 512 * kS);
  few.distillation->top_k = 100000;  // a rank has 32064
  EXPECT_EQ(bytes_of(step(few, 4), "candidates"), 3 * 4 * kVocabulary * kS);
  EXPECT_EQ(bytes_of(step(few), "candidates"), 0);
}

TEST(DistillationLoss, KeepsLogitsOfBothModels) {
  const auto kept = [](const TrainingSpec& training) {
    return logits_bytes(student(), training, split(1, 1)).si() / kLogits;
  };
  const auto passing = [](const TrainingSpec& training) {
    return logit_gradient_bytes(student(), training, split(1, 1)).si() / kLogits;
  };
  EXPECT_NEAR(kept(taught(1)), 2 + 2, 1e-12);
  EXPECT_NEAR(passing(taught(1)), 2, 1e-12);
  TrainingSpec operators = taught(1, Loss::separate);
  EXPECT_NEAR(kept(operators), 4 + 4, 1e-12);
  EXPECT_NEAR(passing(operators), 5 * 4 + 2 + 2, 1e-12);
  operators.distillation->top_k = 512;
  EXPECT_NEAR(kept(operators), 4 + 8 * 512 / kVocabulary, 1e-12);
  EXPECT_NEAR(passing(operators), 2 * 4 + 2 + 2, 1e-12);
  operators.distillation->label_loss = true;
  EXPECT_NEAR(kept(operators), 2 + 4 + 4 + 8 * 512 / kVocabulary, 1e-12);
  EXPECT_NEAR(passing(operators), 12, 1e-12);  // not at the same time as the labels' 8
}

}  // namespace
}  // namespace headway::workload

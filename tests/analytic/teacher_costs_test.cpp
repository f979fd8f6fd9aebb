// A teacher's forward as the analytic tier reads it off probes.
#include "sim/analytic/teacher_costs.h"

#include <gtest/gtest.h>

#include "sim/analytic/chunk_costs.h"

namespace headway::analytic {
namespace {

training::Scenario taught(int layers) {
  training::Scenario s;
  s.training.distillation = workload::DistillationSpec{};
  auto& teacher = s.training.distillation->teacher.emplace();
  teacher.layers = layers;
  teacher.hidden = 1024;
  teacher.heads = 8;
  teacher.key_value_heads = 8;
  teacher.head_dim = 128;
  teacher.ffn = 4096;
  teacher.vocabulary = 32000;
  return s;
}

TEST(TeacherCosts, KnowTheTeachersStages) {
  training::Scenario s = taught(12);
  workload::ParallelismSpec layout;
  layout.pipeline = 3;
  const auto even = teacher_chunks(s, layout);
  ASSERT_EQ(even.size(), 3U);
  EXPECT_EQ(even[1].first_layer, 4);
  EXPECT_EQ(even[1].layers, 4);
  s.training.distillation->teacher_layers = {6, 5, 1};
  EXPECT_EQ(teacher_chunks(s, layout)[2].first_layer, 11);
  s.training.distillation.reset();
  EXPECT_TRUE(teacher_chunks(s, layout).empty());
}

TEST(TeacherCosts, TellCallsByTheirPlace) {
  workload::ChunkLayout first{0, 0, 0, 2, true, false}, last{1, 0, 2, 2, false, true};
  const workload::ChunkLayout of_first{0, 0, 0, 5, true, false}, of_last{1, 0, 5, 3, false, true};
  EXPECT_TRUE(teacher_part(first, of_first, 0, 1).embedding);
  const PassPart layers = teacher_part(first, of_first, 1, 5);
  EXPECT_TRUE(layers.teacher);
  EXPECT_EQ(layers.first_layer, 0);
  EXPECT_EQ(layers.layers, 5);
  EXPECT_EQ(teacher_part(last, of_last, 1, 2).first_layer, 1);
  EXPECT_TRUE(teacher_part(last, of_last, 3, 1).head);
}

TEST(TeacherCosts, ProbeOneLayerForAllWhereTheyAreAlike) {
  EXPECT_EQ(probed_training(taught(80), 1).distillation->teacher->layers, 1);
  const auto two = *probed_training(taught(80), 2).distillation;
  EXPECT_EQ(two.teacher->layers, 2);
  EXPECT_EQ(two.teacher_layers, (std::vector<int>{1, 1}));
  training::Scenario mixture = taught(80);
  mixture.training.distillation->teacher->moe = workload::ExpertsSpec{};
  EXPECT_EQ(probed_training(mixture, 2).distillation->teacher_layers, (std::vector<int>{1, 79}));
}

TEST(TeacherCosts, LengthenTheForwardOfAChunk) {
  RankCosts rank;
  rank.forward = {0, 1, 2};
  rank.backward = {0, 2, 4};
  rank.weight_gradient = {0, 0, 0};
  rank.teacher = {0, 3, 6, 9};
  rank.teacher_embedding = 0.5;
  rank.teacher_head = 0.25;
  ChunkClass chunk;
  chunk.layers = 2;
  chunk.teacher_layers = 2;
  chunk.embedding = true;
  ChunkScratch scratch;
  const auto costs = chunk_costs(chunk, {0, 1}, rank, {}, scratch);
  EXPECT_DOUBLE_EQ(costs.passes[static_cast<std::size_t>(workload::Pass::forward)], 2 + 6 + 0.5);
  EXPECT_DOUBLE_EQ(costs.passes[static_cast<std::size_t>(workload::Pass::backward)], 4);
}

}  // namespace
}  // namespace headway::analytic

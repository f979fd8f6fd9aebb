// The forward of a teacher in a step graph: its work, its place, its messages and gathers.
#include "sim/workload/teacher/teacher_pass.h"

#include <gtest/gtest.h>
#include <set>

#include "sim/workload/closed_form.h"

#include "tests/workload/taught_models.h"

namespace headway::workload {
namespace {

using namespace tests;

double work(const TrainingSpec& training, const ParallelismSpec& parallelism, int micro_batches) {
  return matrix_work(build_step_graph(student(), training, parallelism, 1, micro_batches));
}

TEST(TeacherPass, WorksAsTheClosedFormSays) {
  TrainingSpec alone = taught(2);
  alone.distillation.reset();
  const double forward =
      2 * (2 * kS * (8 * kTaughtLayer + kTaughtHead) + 8 * kTaughtCore);  // two micro-batches
  for (const int tensor : {1, 4, 8}) {
    const auto layout = split(tensor, 1);
    EXPECT_NEAR(tensor * (work(taught(2), layout, 2) - work(alone, layout, 2)) / forward, 1, 1e-12)
        << tensor;
  }
  // Stages together do what one does.
  EXPECT_NEAR((work(taught(2), split(1, 4), 2) - work(alone, split(1, 4), 2)) / forward, 1, 1e-12);
  // As model FLOPs, a token: attention in full, and halved.
  const auto with = training_flops_per_token(student(), taught(2), split(1, 1));
  const auto without = training_flops_per_token(student(), alone, split(1, 1));
  const double linear = 2 * (8 * kTaughtLayer + kTaughtHead);
  EXPECT_NEAR((with.mfu - without.mfu).si() / (linear + 2 * 8 * kTaughtCore / kS), 1, 1e-12);
  EXPECT_NEAR((with.mfu_causal - without.mfu_causal).si() / (linear + 8 * kTaughtCore / kS), 1,
              1e-12);
  EXPECT_EQ((with.hfu - with.mfu).si(), (without.hfu - without.mfu).si());
}

TEST(TeacherPass, OfPackedDocumentsAttendsInsideThem) {
  TrainingSpec training = taught(2);
  const double whole = teacher_flops_per_token(training).attention_core.si();
  training.documents = {{1024, 1}};
  EXPECT_NEAR(teacher_flops_per_token(training).attention_core.si() / whole, 0.25, 1e-3);
}

TEST(TeacherPass, RunsBeforeTheStudentInEveryForwardAndInNoBackward) {
  const StepGraph graph = build_step_graph(student(), taught(4), split(1, 2), 1, 4);
  for (const Stage& stage : graph.stages) {
    int taught_layers = 0;
    std::set<int> own;  // micro-batches that the student has begun
    for (const Call& call : stage.calls) {
      const Block& block = graph.blocks[static_cast<std::size_t>(call.block)];
      if (block.teacher) {
        EXPECT_EQ(call.kind, CallKind::forward);
        EXPECT_FALSE(own.contains(call.micro_batch)) << block.name;
        taught_layers += block.name == "teacher layer" ? call.repeat : 0;
      } else if (block.name == "layer forward") {
        own.insert(call.micro_batch);
      }
    }
    EXPECT_EQ(taught_layers, 4 * 4);  // half of eight layers, four micro-batches
  }
}

TEST(TeacherPass, SendsItsStreamBesideTheStudents) {
  const auto sent = [](const TrainingSpec& training) {
    double bytes = 0;
    for_each_operation(
        build_step_graph(student(), training, split(1, 2), 1, 4),
        [&](int, const Operation& operation, int times) {
          bytes += operation.kind == OperationKind::send ? operation.bytes.si() * times : 0.0;
        });
    return bytes;
  };
  // Four micro-batches, there and back, 2 B of 4096 and 8192 channels.
  EXPECT_EQ(sent(taught(4)), 4 * 2 * 2 * kS * (4096 + 8192));
}

TEST(TeacherPass, GathersShardedWeightsOnceAForward) {
  ParallelismSpec layout;
  layout.sharding = Sharding::zero3;
  const auto gathered = [&](const TrainingSpec& training) {
    return collective_bytes(build_step_graph(student(), training, layout, 4, 2),
                            Group::data_context, core::CollectiveKind::all_gather);
  };
  TrainingSpec alone = taught(8);
  alone.distillation.reset();
  // Two micro-batches, 2 B: layers with two norms, embedding, head with one.
  const double weights = 8 * (kTaughtLayer + 2 * 8192) + 2 * kTaughtHead + 8192;
  EXPECT_NEAR((gathered(taught(8)) - gathered(alone)) / (2 * 2 * weights), 1, 1e-12);
  layout.sharding = Sharding::zero2;
  EXPECT_EQ(gathered(taught(8)), gathered(alone));
}

// Weights that nobody changes stay gathered for good where a pipeline's are gathered once a step.
TEST(TeacherPass, GathersNothingWhereWeightsStayGathered) {
  ParallelismSpec layout = split(1, 2);
  layout.sharding = Sharding::zero3;
  const auto gathered = [&](TrainingSpec training, bool taught, bool once) {
    training.framework.gather_once = once;
    if (!taught) {
      training.distillation.reset();
    }
    return collective_bytes(build_step_graph(student(), training, layout, 4, 4),
                            Group::data_context, core::CollectiveKind::all_gather);
  };
  EXPECT_EQ(gathered(taught(8), true, true), gathered(taught(8), false, true));
  EXPECT_GT(gathered(taught(8), true, false), gathered(taught(8), false, false));
}

TEST(TeacherPass, HasLayersWhereTheListPutsThem) {
  TrainingSpec training = taught(4);
  training.distillation->teacher_layers = {6, 2};
  const StepGraph graph = build_step_graph(student(), training, split(1, 2), 1, 4);
  int layers = 0;
  for (const Call& call : graph.stages.front().calls) {
    layers += graph.blocks[static_cast<std::size_t>(call.block)].name == "teacher layer"
                  ? call.repeat
                  : 0;
  }
  EXPECT_EQ(layers, 4 * 6);
}

}  // namespace
}  // namespace headway::workload

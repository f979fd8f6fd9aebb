// A teacher from the command line: run, explain, plan, refusal.
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;
using testing::Not;
using Distillation = ProgramTest;

const std::string kTaught = " --set 'training.distillation={teacher: {use: llama-3.1-70b}}'";

TEST_F(Distillation, RunsTheTeacherBesideTheStep) {
  write_small("s.yaml");
  const std::string sets = kTaught + " --set parallelism.tensor=8 --set parallelism.pipeline=1";
  const auto outcome = run("run s.yaml" + sets);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("8.03 B parameters, taught by Llama 3.1 70B of 70.6 B"));
  const auto figures = run("run s.yaml --format json" + sets);
  EXPECT_THAT(figures.out, HasSubstr("\"teacher_parameters\": 70553706496"));
  EXPECT_THAT(figures.out, HasSubstr("\"trained_parameters\": 8030261248"));
  EXPECT_THAT(run("run s.yaml --explain" + sets).out, HasSubstr("divergence"));
  EXPECT_THAT(run("run s.yaml --show assumptions" + sets).out,
              HasSubstr("training.distillation.teacher"));
}

TEST_F(Distillation, IsPlanned) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --full --top 3" + kTaught);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // Layouts with several chunks a stage are left out, and it is said why.
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("a teacher's forward in schedule"));
}

TEST_F(Distillation, IsExplainedAndRefusedByName) {
  EXPECT_THAT(run("explain training.distillation.top_k").out, HasSubstr("whole vocabulary"));
  EXPECT_THAT(run("explain training.distillation.teacher_layers").out, HasSubstr("even"));
  write_small("s.yaml");
  const auto other =
      run("check s.yaml --set 'training.distillation={teacher: {use: mixtral-8x7b}}'");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("pad the smaller to the larger"));
  const auto uneven =
      run("check s.yaml --set 'training.distillation={teacher: {use: "
          "llama-3.1-70b}, teacher_layers: [40, 41]}'");
  EXPECT_EQ(uneven.code, 2);
  EXPECT_THAT(uneven.err, HasSubstr("the teacher: "));
}

const std::string kCached =
    " --set 'training.distillation={top_k: 256, label_loss: true, cached: {}}'";

// 256 values of two bytes and numbers of three.
TEST_F(Distillation, ReadsLogitsOfATeacherThatRanBefore) {
  write_small("s.yaml");
  const std::string sets = kCached + " --set parallelism.tensor=8 --set parallelism.pipeline=1";
  const auto outcome = run("run s.yaml" + sets);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("taught by cached logits of 1.28 kB a"));
  const auto figures = run("run s.yaml --format json" + sets);
  EXPECT_THAT(figures.out, HasSubstr("\"teacher_parameters\": 0"));
  EXPECT_THAT(figures.out, HasSubstr("\"logits_bytes_per_token\": 1280"));
  EXPECT_THAT(run("run s.yaml --show assumptions" + sets).out,
              HasSubstr("training.distillation.cached"));
  const auto run_of_steps = run("run s.yaml --set 'run={until: {steps: 100}, trials: 2}'" + sets);
  EXPECT_EQ(run_of_steps.code, 0) << run_of_steps.err;
}

TEST_F(Distillation, OfCachedLogitsIsPlannedWithoutATeachersLimits) {
  write_small("s.yaml");
  const auto outcome = run("plan s.yaml --full --top 3" + kCached);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("a teacher's forward in schedule")));
}

TEST_F(Distillation, OfCachedLogitsIsExplainedAndRefusedByName) {
  EXPECT_THAT(run("explain training.distillation.cached.token_id_bits").out, HasSubstr("24"));
  EXPECT_THAT(run("explain training.distillation.cached.value_bits").out, HasSubstr("fp16"));
  write_small("s.yaml");
  const auto both =
      run("check s.yaml --set 'training.distillation={teacher: {use: llama-3.1-70b}, top_k: 256, "
          "cached: {}}'");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("leave out 'teacher' or 'cached'"));
  const auto layers = run(
      "check s.yaml --set 'training.distillation={teacher_layers: [16, 16], top_k: 256, cached: "
      "{}}'");
  EXPECT_EQ(layers.code, 2);
  EXPECT_THAT(layers.err, HasSubstr("leave out 'teacher_layers'"));
  const auto nobody = run("check s.yaml --set 'training.distillation={top_k: 256}'");
  EXPECT_EQ(nobody.code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("nobody teaches"));
}

// A launch script has the folder of the logits, not how many lie there.
TEST_F(Distillation, OfALaunchScriptWithCachedLogitsHasToBeWritten) {
  write("pretrain.sh",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 4096 --max-position-embeddings 4096 "
        "--micro-batch-size 1 --global-batch-size 32 --bf16 --logits-load-dir /logits\n");
  const auto outcome = run("import megatron-args pretrain.sh --out my.yaml");
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("write training.distillation.cached"));
}

// A launch script has the teacher's checkpoint, not its sizes.
TEST_F(Distillation, OfALaunchScriptHasToBeWritten) {
  write("pretrain.sh",
        "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
        "--num-attention-heads 16 --seq-length 4096 --max-position-embeddings 4096 "
        "--micro-batch-size 1 --global-batch-size 32 --bf16 --export-kd-teacher-load /teacher\n");
  const auto outcome = run("import megatron-args pretrain.sh --out my.yaml");
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("name the teacher in training.distillation"));
}

}  // namespace
}  // namespace headway::apps

// Steps that read a teacher's logits: where their copy is seen, and folded as rank by rank.
#include <gtest/gtest.h>

#include "sim/training/check.h"
#include "sim/training/step/step.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;

/// Tensor 8 x pipeline 4 x data 2; 16 micro-batches of 4,096 tokens.
Scenario with_cached_logits(int top_k) {
  Scenario s = eight_nodes();
  s.training.framework.host.launch = core::Seconds(0);
  s.cluster.node.gpu.host_bandwidth = core::BytesPerSecond(10e9);
  s.training.distillation = workload::DistillationSpec{};
  s.training.distillation->top_k = top_k;
  s.training.distillation->cached = workload::CachedLogitsSpec{};
  return s;
}

// On the last of four stages 16 micro-batches x 4,096 tokens x 1,024 values x 10 B at 10 GB/s:
// 67.1 ms, a quarter of it in the mean of ranks.
TEST(CachedLogitsSteps, CopyThemOnTheLastStage) {
  const StepResult step = simulate_step(check(with_cached_logits(1024)));
  const double copies = 16 * 4096 * 1024 * 10 / 10e9;
  EXPECT_NEAR(step.breakdown[Activity::input].si() / (copies / 4), 1, 0.02);
  Scenario alone = with_cached_logits(1024);
  alone.training.distillation.reset();
  EXPECT_EQ(simulate_step(check(alone)).breakdown[Activity::input].si(), 0);
}

TEST(CachedLogitsSteps, GiveTheSameTicksFoldedAndRankByRank) {
  for (const int top_k : {0, 256}) {
    for (const workload::ScheduleKind schedule :
         {workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::dual_pipe}) {
      Scenario s = with_cached_logits(top_k);
      s.parallelism.schedule = schedule;
      const auto checked = check(s);
      const StepResult folded = simulate_step(checked, {.fold = true});
      const StepResult whole = simulate_step(checked, {.fold = false});
      EXPECT_EQ(folded.time, whole.time) << core::to_word(schedule);
      EXPECT_EQ(folded.result_digest, whole.result_digest) << core::to_word(schedule);
      EXPECT_LT(folded.rank_classes, folded.ranks);
    }
  }
}

// The first stages have no logits of anybody; a teacher would lie on all of them.
TEST(CachedLogitsSteps, HoldNoTeacher) {
  Scenario s = with_cached_logits(256);
  const StepResult cached = simulate_step(check(s));
  s.training.distillation->cached.reset();
  s.training.distillation->teacher = s.model;
  const StepResult taught = simulate_step(check(s));
  EXPECT_LT(cached.time, taught.time);
  EXPECT_LT(cached.memory.stage_peak.front(), taught.memory.stage_peak.front());
  s.training.distillation.reset();
  EXPECT_EQ(cached.memory.stage_peak.front(), simulate_step(check(s)).memory.stage_peak.front());
}

}  // namespace
}  // namespace headway::training

#include "sim/training/step/breakdown.h"

#include <gtest/gtest.h>
#include <numeric>

#include "sim/training/step/step.h"
#include "sim/workload/blocks/build.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;
using network::StepCode;

/// Stage 0 computes 30 ticks, 5 of them by the CPU, and sends; the message takes 7; stage 1 then
/// computes 50, 10 of them by the CPU. The step ends at 87.
LoweredStep two_stages() {
  LoweredStep lowered;
  network::Problem& p = lowered.problem;
  p.programs = {{{StepCode::compute, Activity::compute, 0, 0, 30},
                 {StepCode::arrive, Activity::pipeline_p2p, 0, 0, 0}},
                {{StepCode::arrive, Activity::pipeline_p2p, 0, 0, 0},
                 {StepCode::wait, Activity::pipeline_p2p, 0, 0, 0},
                 {StepCode::compute, Activity::compute, 0, 0, 50}}};
  p.actors.resize(2);
  p.actors[0].program = 0;
  p.actors[0].groups = {0};
  p.actors[1].program = 1;
  p.actors[1].groups = {0};
  network::TransferGroup group;
  group.need = 2;
  group.delay = 7;
  group.activity = Activity::pipeline_p2p;
  p.groups = {group};
  lowered.launch = {{5, 0}, {0, 0, 10}};
  lowered.idle = {{5, 0}, {0, 0, 14}};  // of the 50 ticks 4 are a delay of the software
  return lowered;
}

// W = 30 and 50. Stage 0 waits for 57 ticks at the end, 50 - 30 = 20 of them because it has less to
// do; stage 1 waits for 30 ticks at the beginning, and nobody has more to do.
TEST(BreakDown, TellsUnequalStagesFromTheBubbleAndTheCpuFromCompute) {
  const LoweredStep lowered = two_stages();
  const auto run = network::run(lowered.problem, {});
  ASSERT_EQ(run.end, 87);
  const StepBreakdown step = break_down(lowered, run);
  EXPECT_EQ(step.stage_work, (std::vector<core::Tick>{30, 50}));
  EXPECT_EQ(step.kernels[run.class_of_actor[0]], 30 - 5);
  EXPECT_EQ(step.kernels[run.class_of_actor[1]], 50 - 14);
  const auto& first = step.classes[run.class_of_actor[0]];
  EXPECT_EQ(first[Activity::compute], 25);
  EXPECT_EQ(first[Activity::launch], 5);
  EXPECT_EQ(first[Activity::stage_imbalance], 20);
  EXPECT_EQ(first[Activity::pipeline_bubble], 37);
  const auto& second = step.classes[run.class_of_actor[1]];
  EXPECT_EQ(second[Activity::compute], 40);
  EXPECT_EQ(second[Activity::launch], 10);
  EXPECT_EQ(second[Activity::pipeline_bubble], 30);
  EXPECT_EQ(second[Activity::pipeline_p2p], 7);
  EXPECT_EQ(second[Activity::stage_imbalance], 0);
}

/// Tensor 8 x pipeline 4, 64 micro-batches, a model whose embedding and head are as good as free.
Scenario long_pipeline() {
  Scenario s = eight_nodes();
  s.cluster.nodes = 4;
  s.training.global_batch = 64;
  s.model.layers = 64;
  s.model.vocabulary = 8;
  return s;
}

// (p - 1) / (m v) of the passes: 3 / 64, and half of it with two chunks a stage.
TEST(BreakDown, EqualStagesWaitForTheScheduleAlone) {
  for (const int chunks : {1, 2}) {
    Scenario s = long_pipeline();
    s.parallelism.virtual_stages = chunks;
    s.parallelism.schedule =
        chunks > 1 ? workload::ScheduleKind::interleaved : workload::ScheduleKind::one_f_one_b;
    const StepResult step = simulate_step(check(s));
    EXPECT_NEAR(step.breakdown[Activity::pipeline_bubble] / step.stage_work[0], 3.0 / 64 / chunks,
                0.003);
    EXPECT_LT(step.breakdown[Activity::stage_imbalance] / step.time, 0.01);
  }
}

// A head of 256,000 words on the last of four stages. With free transfers the step is
//     T = sum_i w_i / m + (m - 1) / m max_i w_i,      w_i: work of stage i in all micro-batches
// (workload::unequal_pipeline_time), so the slowest stage waits for sum of the others / m: the
// schedule's bubble, as large as with equal stages. What the others wait beyond that is
// max w - w_i.
TEST(BreakDown, AWideHeadIsNoBubble) {
  Scenario s = long_pipeline();
  const StepResult equal = simulate_step(check(s));
  s.model.vocabulary = 256000;
  const StepResult step = simulate_step(check(s));
  const auto& w = step.stage_work;
  ASSERT_EQ(w.size(), 4U);
  const core::Seconds mean = std::accumulate(w.begin(), w.end(), core::Seconds(0)) / 4;
  EXPECT_GT(w[3], 1.1 * w[1]);
  EXPECT_NEAR(step.breakdown[Activity::stage_imbalance] / (w[3] - mean), 1, 0.01);
  EXPECT_NEAR(step.breakdown[Activity::pipeline_bubble] / ((w[0] + w[1] + w[2]) / 64), 1, 0.06);
  EXPECT_NEAR(
      step.breakdown[Activity::pipeline_bubble] / equal.breakdown[Activity::pipeline_bubble], 1,
      0.06);
  EXPECT_GT(step.breakdown[Activity::stage_imbalance],
            2 * step.breakdown[Activity::pipeline_bubble]);
}

// What the CPU adds is all in `launch`: compute is what it is with a CPU that costs nothing, to the
// bit.
TEST(BreakDown, ComputeDoesNotDependOnTheCpu) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.training.framework.host.launch = core::Seconds(0);
  const StepResult free = simulate_step(check(s));
  s.training.framework.host.launch = core::Seconds(150e-6);
  const StepResult slow = simulate_step(check(s));
  EXPECT_EQ(free.breakdown[Activity::launch].si(), 0);
  EXPECT_EQ(slow.breakdown[Activity::compute], free.breakdown[Activity::compute]);
  EXPECT_GT(slow.breakdown[Activity::launch], 0.05 * slow.breakdown[Activity::compute]);
  EXPECT_GT(slow.critical_path[Activity::launch], 0.05 * slow.critical_path[Activity::compute]);
  core::Seconds path;
  for (const core::Seconds part : slow.critical_path.values) {
    path += part;
  }
  EXPECT_NEAR(path / slow.time, 1, 1e-12);
}

/// Sum over all ranks, by cause.
core::ByActivity<core::Tick> sum_of_ranks(const StepBreakdown& step,
                                          const network::RunResult& run) {
  core::ByActivity<core::Tick> sums;
  for (std::size_t c = 0; c < step.classes.size(); ++c) {
    for (std::size_t a = 0; a < core::kActivities; ++a) {
      sums.values[a] += step.classes[c].values[a] * run.multiplicity[c];
    }
  }
  return sums;
}

TEST(BreakDown, AddsUpToTheTickAndIsTheSameFoldedOrNot) {
  Scenario s = eight_nodes();
  s.training.framework.host.launch = core::Seconds(20e-6);
  for (const auto schedule :
       {workload::ScheduleKind::one_f_one_b, workload::ScheduleKind::zero_bubble_h1,
        workload::ScheduleKind::gpipe}) {
    s.parallelism.schedule = schedule;
    const auto checked = check(s);
    const auto graph =
        workload::build_step_graph(s.model, s.training, s.parallelism, checked.data_parallel(),
                                   checked.micro_batches(), rank_layout(checked).expert_domains());
    const auto lowered = lower(checked, graph, build_fabric(s.cluster));
    std::vector<core::ByActivity<core::Tick>> sums;
    for (const bool fold : {true, false}) {
      network::RunOptions options;
      options.fold = fold;
      const auto run = network::run(lowered.problem, options);
      const StepBreakdown step = break_down(lowered, run);
      for (const auto& times : step.classes) {
        EXPECT_EQ(std::accumulate(times.values.begin(), times.values.end(), core::Tick{0}),
                  run.end);
        EXPECT_GE(*std::min_element(times.values.begin(), times.values.end()), 0);
      }
      sums.push_back(sum_of_ranks(step, run));
    }
    EXPECT_EQ(sums[0], sums[1]);
    EXPECT_GT(sums[0][Activity::stage_imbalance], 0);
    EXPECT_GT(sums[0][Activity::launch], 0);
  }
}

}  // namespace
}  // namespace headway::training

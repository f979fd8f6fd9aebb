// Steps of many micro-batches: programs with loops, which are jumped over, give what programs
// without give.
#include <gtest/gtest.h>

#include "sim/core/tick.h"
#include "sim/training/step/breakdown.h"
#include "sim/training/step/critical_path.h"
#include "sim/training/step/lower.h"
#include "sim/training/step/step.h"
#include "sim/training/step/step_clock.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

/// A step lowered and run, with loops from so many repetitions on; 0: none.
struct RunOfStep {
  LoweredStep lowered;
  network::RunResult run;

  RunOfStep(const CheckedScenario& checked, std::int64_t loops_from, bool fold) {
    const auto fabric = build_fabric(checked.scenario().cluster);
    const RankOrbits orbits = fold ? rank_orbits(checked, fabric) : RankOrbits{};
    lowered =
        lower(checked, step_graph(checked), fabric, {.loops_from = loops_from, .orbits = &orbits});
    network::RunOptions options;
    options.fold = fold;
    options.paths = true;
    options.launch = &lowered.launch;
    run = run_step(lowered, options);
  }

  [[nodiscard]] std::size_t steps() const {
    std::size_t sum = 0;
    for (const auto& program : lowered.problem.programs) {
      sum += program.size();
    }
    return sum;
  }
};

/// @param jumps  its micro-batches are all alike
void expect_the_same(const Scenario& s, bool jumps = true) {
  const auto checked = check(Scenario(s));
  const RunOfStep whole(checked, 0, true);
  const auto breakdown = break_down(whole.lowered, whole.run);
  for (const bool fold : {true, false}) {
    const RunOfStep looped(checked, 8, fold);
    EXPECT_EQ(2 * looped.steps() < whole.steps(), jumps);
    EXPECT_EQ(looped.run.skipped_events > 0, jumps);
    EXPECT_EQ(looped.run.end, whole.run.end);
    EXPECT_EQ(critical_path(looped.run), critical_path(whole.run));
    if (fold) {
      const auto same = break_down(looped.lowered, looped.run);
      EXPECT_EQ(same.classes, breakdown.classes);
      EXPECT_EQ(same.kernels, breakdown.kernels);
      EXPECT_EQ(same.stage_work, breakdown.stage_work);
    }
  }
  // The digest names the steps of a program, so it is that of looped steps, folded or not.
  EXPECT_EQ(RunOfStep(checked, 8, true).run.result_digest,
            RunOfStep(checked, 8, false).run.result_digest);
}

Scenario of_many_micro_batches() {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;
  s.training.global_batch = 8 * 64;
  return s;
}

TEST(LoopedStep, OfOneStageIsTheWholeOne) {
  Scenario s = of_many_micro_batches();
  expect_the_same(s);
  s.parallelism.sharding = workload::Sharding::zero1;
  expect_the_same(s);
  s.parallelism.sharding = workload::Sharding::zero3;  // reductions pile up until the end
  expect_the_same(s, false);
}

TEST(LoopedStep, OfAPipelineIsTheWholeOne) {
  Scenario s = eight_nodes();
  s.training.global_batch = 2 * 64;
  expect_the_same(s);
  s.parallelism.virtual_stages = 2;
  expect_the_same(s);
}

TEST(LoopedStep, OfCopiesToTheHostIsTheWholeOne) {
  Scenario s = of_many_micro_batches();
  s.parallelism.offload = workload::Offload::activations;  // copies go on past their block
  s.cluster.node.gpu.host_bandwidth = core::BytesPerSecond(2e9);
  expect_the_same(s);
}

// 2^20 micro-batches, written out some 2^28 steps: neither room nor time for them is needed. The
// step grows by as much with each of them.
TEST(LoopedStep, TakesNeitherRoomNorTimeForEachMicroBatch) {
  Scenario s = of_many_micro_batches();
  const auto time_of_batches = [&s](int batches) {
    s.training.global_batch = 8 * batches;
    return simulate_step(check(Scenario(s))).time.si();
  };
  const double each = (time_of_batches(4096) - time_of_batches(2048)) / 2048;
  EXPECT_NEAR(time_of_batches(1 << 20) / (time_of_batches(2048) + each * ((1 << 20) - 2048)), 1,
              1e-9);
  EXPECT_NEAR(time_of_batches(1024) + each * 1024, time_of_batches(2048), 1e-9 * 2048 * each);
}

}  // namespace
}  // namespace headway::training

#include "sim/training/step/critical_path.h"

#include <gtest/gtest.h>

#include "sim/training/step/lower.h"
#include "sim/training/step/step_clock.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using core::Activity;
using network::ProgramStep;
using network::StepCode;

// Two ranks compute 30 and 50 ticks, meet in a transfer of 7 ticks, then compute 10 and 20.
// The path is: rank 1 computes 50, transfer 7, rank 1 computes 20. Its sum is the end, 77.
network::Problem two_ranks() {
  network::Problem p;
  const auto program = [](core::Tick before, core::Tick after) {
    return network::Program{{StepCode::compute, Activity::compute, 0, 0, before},
                            {StepCode::arrive, Activity::tensor, 0, 0, 0},
                            {StepCode::wait, Activity::tensor, 0, 0, 0},
                            {StepCode::compute, Activity::optimizer, 0, 0, after}};
  };
  p.programs = {program(30, 10), program(50, 20)};
  p.actors.resize(2);
  p.actors[0].program = 0;
  p.actors[0].groups = {0};
  p.actors[1].program = 1;
  p.actors[1].groups = {0};
  network::TransferGroup group;
  group.need = 2;
  group.delay = 7;
  group.activity = Activity::tensor;
  p.groups = {group};
  return p;
}

TEST(CriticalPath, GoesThroughTheRankThatArrivedLast) {
  const auto problem = two_ranks();
  for (const bool fold : {true, false}) {
    network::RunOptions options;
    options.fold = fold;
    options.trace = true;
    const auto run = network::run(problem, options);
    ASSERT_EQ(run.end, 77);
    const auto path = critical_path(problem, run);
    EXPECT_EQ(path[Activity::compute], 50);
    EXPECT_EQ(path[Activity::tensor], 7);
    EXPECT_EQ(path[Activity::optimizer], 20);
  }
}

/// Steps whose ranks wait for one another in different ways.
std::vector<Scenario> steps() {
  std::vector<Scenario> list(4, eight_nodes());
  list[1].parallelism.virtual_stages = 4;
  list[1].parallelism.schedule = workload::ScheduleKind::interleaved;
  list[1].training.framework.host.launch = core::Seconds(40e-6);  // the CPU is on the path
  list[2].parallelism.pipeline = 1;
  list[2].parallelism.tensor = 2;
  list[2].parallelism.sharding = workload::Sharding::zero3;
  list[3].cluster.fabric.ports_per_leaf = 4;
  list[3].cluster.fabric.leaf_oversubscription = 4;
  list[3].cluster.occupancy.emplace();
  list[3].cluster.occupancy->nodes = 16;
  list[3].cluster.occupancy->jobs = {
      {"other", {"2-5"}, TrafficPattern::ring, core::BytesPerSecond(100e9)}};
  return list;
}

// Paths kept on the way and the trace walked back are two accounts of one chain, of all ranks or of
// classes, with a rank that is slower than the others.
TEST(CriticalPath, OfPathsIsThatOfTheTrace) {
  for (const Scenario& scenario : steps()) {
    const auto checked = check(Scenario(scenario));
    const auto fabric = build_fabric(scenario.cluster);
    for (const bool fold : {true, false}) {
      for (const std::int64_t slower : {0, 30'000}) {
        LoweredStep lowered = lower(checked, step_graph(checked), fabric);
        lowered.problem.actors[37].slowdown_ppm = slower;
        network::RunOptions options;
        options.fold = fold;
        options.trace = options.paths = true;
        options.launch = &lowered.launch;
        const auto run = run_step(lowered, options);
        const auto path = critical_path(run);
        EXPECT_EQ(path, critical_path(lowered.problem, run, lowered.launch));
        EXPECT_GT(path[Activity::compute], 0);
      }
    }
  }
}

TEST(CriticalPath, AddsUpToTheEnd) {
  const auto problem = two_ranks();
  network::RunOptions options;
  options.trace = true;
  const auto run = network::run(problem, options);
  const auto path = critical_path(problem, run);
  core::Tick sum = 0;
  for (const auto part : path.values) {
    sum += part;
  }
  EXPECT_EQ(sum, run.end);
}

}  // namespace
}  // namespace headway::training

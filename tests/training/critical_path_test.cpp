#include "sim/training/step/critical_path.h"

#include <gtest/gtest.h>

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

#include "sim/plan/bound.h"

#include <gtest/gtest.h>

#include "sim/plan/candidates.h"
#include "sim/training/step/step.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

TEST(StepBound, NoSimulationIsFaster) {
  auto scenario = sample_scenario();
  scenario.model.layers = 16;
  for (const auto& layout : enumerate(scenario).layouts) {
    const auto& p = layout.scenario().parallelism;
    EXPECT_LE(step_bound(layout).si(), training::simulate_step(layout).time.si() * (1 + 1e-6))
        << "tensor " << p.tensor << " pipeline " << p.pipeline << " virtual " << p.virtual_stages
        << " micro-batch " << p.micro_batch;
  }
}

TEST(StepBound, IsTheComputeOfALoneGpu) {
  auto scenario = sample_scenario();
  scenario.cluster.nodes = 1;
  scenario.cluster.node.gpus = 1;
  scenario.cluster.node.nic.count = 1;
  scenario.cluster.node.scale_up.domain_gpus = 1;
  scenario.model.layers = 2;
  scenario.training.global_batch = 4;
  const auto checked = training::check(scenario);
  const auto step = training::simulate_step(checked);
  // One GPU talks to nobody: its step is compute, then the optimizer and the fixed work, which the
  // bound leaves out.
  EXPECT_NEAR(step_bound(checked).si(), step.breakdown[core::Activity::compute].si(),
              1e-3 * step.time.si());
}

TEST(StepBound, GrowsWithTheFillOfThePipeline) {
  // m micro-batches on p equal stages take m + p - 1 times the work of one micro-batch on one
  // stage.
  auto scenario = sample_scenario();
  scenario.parallelism.pipeline = 4;
  scenario.model.vocabulary =
      4096;  // so that the head does not make the last stage the slowest by far
  scenario.training.global_batch = 16;  // data 4: m = 4
  const double few = step_bound(training::check(scenario)).si();
  scenario.training.global_batch = 160;  // m = 40
  const double many = step_bound(training::check(scenario)).si();
  // few / many = (4 + 3) / (40 + 3) for equal stages.
  EXPECT_NEAR(few / many, 7.0 / 43.0, 0.01);
}

}  // namespace
}  // namespace headway::plan

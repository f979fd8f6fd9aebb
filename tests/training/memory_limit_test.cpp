// What a peak near the GPU's memory is worth a warning of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/training/step/step.h"
#include "sim/training/step/step_inputs.h"

#include "tests/training/fixture.h"

namespace headway::training {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The peak is 96 % of the memory: it fits and leaves the allocator 4 %, less than 5.
TEST(MemoryLimit, IsWarnedOfWhereTheAllocatorHasNoRoom) {
  Scenario s = eight_nodes();
  const core::Bytes peak = predict_memory(check(s)).peak;
  s.cluster.node.gpu.memory = peak / 0.96;
  const StepResult tight = simulate_step(check(s));
  EXPECT_TRUE(tight.memory.fits);
  EXPECT_THAT(tight.warnings, Contains(HasSubstr("the peak is 96.0 % of the GPU's memory")));
  s.cluster.node.gpu.memory = peak / 0.94;
  EXPECT_THAT(simulate_step(check(s)).warnings, Not(Contains(HasSubstr("of the GPU's memory"))));
  s.cluster.node.gpu.memory = peak / 1.01;  // what does not fit is said elsewhere
  EXPECT_FALSE(near_memory_limit(predict_memory(check(s))));
}

// One stage, 4 micro-batches: 8 passes of 0.5 s more, where it does not fit.
TEST(MemoryLimit, EachPassThatDoesNotFitRetries) {
  Scenario s = eight_nodes();
  s.parallelism.pipeline = 1;  // 8 replicas of 8 tensor ranks
  const core::Bytes peak = predict_memory(check(s)).peak;
  const auto step = [&](double times, core::Seconds retry) {
    s.cluster.node.gpu.memory = peak / times;
    s.training.framework.allocation.retry = retry;
    return simulate_step(check(s));
  };
  const StepResult without = step(1.01, core::Seconds(0));
  const StepResult with = step(1.01, core::Seconds(0.5));
  EXPECT_NEAR((with.time - without.time).si(), 8 * 0.5, 0.01);  // less what now hides behind it
  EXPECT_EQ(step(0.9, core::Seconds(0.5)).time, without.time);
  EXPECT_THAT(with.warnings, Contains(HasSubstr("stage 0 needs ")));
  EXPECT_THAT(with.warnings,
              Contains(HasSubstr("each of its passes is simulated with 0.5 s in which the "
                                 "allocator frees and allocates again "
                                 "(training.framework.allocation.retry)")));
  EXPECT_THAT(without.warnings, Not(Contains(HasSubstr("frees and allocates"))));
}

// Of four stages only the fullest does not fit: the others' calls stay as they are.
TEST(MemoryLimit, StagesThatFitDoNotRetry) {
  Scenario s = eight_nodes();
  const MemoryResult all = predict_memory(check(s));
  s.training.framework.allocation.retry = core::Seconds(0.5);
  s.cluster.node.gpu.memory = all.peak / 1.0001;
  const auto plain = step_graph(check(eight_nodes()));
  const auto graph = step_graph(check(s));
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const std::size_t more = static_cast<int>(stage) == all.peak_stage ? 2 * 16 : 0;
    EXPECT_EQ(graph.stages[stage].calls.size(), plain.stages[stage].calls.size() + more);
  }
}

}  // namespace
}  // namespace headway::training

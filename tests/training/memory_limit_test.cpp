// What a peak near the GPU's memory is worth a warning of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/training/step/step.h"

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

}  // namespace
}  // namespace headway::training

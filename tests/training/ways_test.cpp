#include "sim/training/explain/ways.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::training {
namespace {

using core::Activity;
using testing::HasSubstr;
using testing::Not;

// Whatever a scenario has already, something is left to say of every loss.
TEST(Ways, EveryLossHasOne) {
  Scenario all;
  all.training.framework.tensor_overlap = all.training.framework.pipeline_overlap = true;
  all.training.framework.data_overlap = all.training.framework.cuda_graphs = true;
  all.parallelism.sharding = workload::Sharding::zero3;
  all.parallelism.schedule = workload::ScheduleKind::zero_bubble_v;
  for (const Scenario& scenario : {Scenario(), all}) {
    for (const auto& entry : core::enum_words(Activity{})) {
      const std::string ways = ways_to_shorten(entry.value, scenario);
      EXPECT_FALSE(ways.empty()) << entry.word;
      EXPECT_FALSE(ways.starts_with(";") || ways.ends_with("; ")) << ways;
    }
  }
}

TEST(Ways, LeaveOutWhatTheScenarioHas) {
  Scenario scenario;
  scenario.training.framework.cuda_graphs = false;
  EXPECT_THAT(ways_to_shorten(Activity::launch, scenario), HasSubstr("cuda_graphs"));
  scenario.training.framework.cuda_graphs = true;
  EXPECT_THAT(ways_to_shorten(Activity::launch, scenario), Not(HasSubstr("cuda_graphs")));
  scenario.parallelism.sharding = workload::Sharding::zero0;
  EXPECT_THAT(ways_to_shorten(Activity::optimizer, scenario), HasSubstr("zero1"));
  scenario.parallelism.sharding = workload::Sharding::zero1;
  EXPECT_THAT(ways_to_shorten(Activity::optimizer, scenario), Not(HasSubstr("zero1")));
  scenario.parallelism.schedule = workload::ScheduleKind::interleaved;
  EXPECT_THAT(ways_to_shorten(Activity::pipeline_bubble, scenario), HasSubstr("zero-bubble"));
  scenario.parallelism.schedule = workload::ScheduleKind::dual_pipe;
  EXPECT_THAT(ways_to_shorten(Activity::pipeline_bubble, scenario), Not(HasSubstr("zero-bubble")));
}

}  // namespace
}  // namespace headway::training

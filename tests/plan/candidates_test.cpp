#include "sim/plan/candidates.h"

#include <gtest/gtest.h>

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

std::int64_t total(const Rejections& rejections) {
  std::int64_t sum = 0;
  for (const auto& entry : rejections.list()) {
    sum += entry.count;
  }
  return sum;
}

std::int64_t rejected(const Candidates& candidates, const std::string& kind) {
  std::int64_t sum = 0;
  for (const auto& entry : candidates.rejected.list()) {
    sum += entry.kind == kind ? entry.count : 0;
  }
  return sum;
}

TEST(Candidates, EveryLayoutIsKeptOrCountedWithAReason) {
  const auto candidates = enumerate(sample_scenario());
  EXPECT_EQ(static_cast<std::int64_t>(candidates.layouts.size()) + total(candidates.rejected),
            candidates.enumerated);
  EXPECT_GT(candidates.layouts.size(), 10U);
  // tensor 1 2 4 8 16; pipeline divides 16 / tensor; chunks 1 with one stage, else 1 to 8 (32
  // layers / 4 stages at the least, 16 stages: 2, 8 stages: 4); micro-batch 1 2 4 8.
  //   tensor 1: pipeline 1 (1), 2 (8), 4 (8), 8 (4), 16 (2): 23;  tensor 2: 1 + 8 + 8 + 4 = 21
  //   tensor 4: 1 + 8 + 8 = 17;  tensor 8: 1 + 8 = 9;  tensor 16: 1;  together 71, times 4
  EXPECT_EQ(candidates.enumerated, 71 * 4);
}

TEST(Candidates, UseEveryGpuAndDivideTheBatch) {
  for (const auto& layout : enumerate(sample_scenario()).layouts) {
    const auto& p = layout.scenario().parallelism;
    EXPECT_EQ(p.tensor * p.pipeline * layout.data_parallel(), 16);
    EXPECT_EQ(layout.micro_batches() * p.micro_batch * layout.data_parallel(), 64);
    EXPECT_EQ(p.virtual_stages > 1, p.schedule == workload::ScheduleKind::interleaved);
  }
}

TEST(Candidates, TensorGroupsStayInsideTheNvlinkDomain) {
  const auto candidates = enumerate(sample_scenario());
  for (const auto& layout : candidates.layouts) {
    EXPECT_LE(layout.scenario().parallelism.tensor, 8);
  }
  EXPECT_EQ(rejected(candidates, "tensor"), 4) << "tensor 16 with micro-batches 1 2 4 8";
}

TEST(Candidates, ABatchThatDoesNotDivideIsCounted) {
  auto scenario = sample_scenario();
  scenario.training.global_batch = 1;  // only data = 1 and micro-batch 1 divide it
  const auto candidates = enumerate(scenario);
  for (const auto& layout : candidates.layouts) {
    EXPECT_EQ(layout.data_parallel(), 1);
  }
  EXPECT_GT(rejected(candidates, "batch"), 0);
}

// 2^22 sequences over at most 16 replicas of 8 sequences are 2^15 micro-batches of 32 layers and
// more: a search over them took minutes before it said anything.
TEST(Candidates, StepsOfTooManyLayersAreCounted) {
  auto scenario = sample_scenario();
  scenario.training.global_batch = 1 << 22;
  const auto candidates = enumerate(scenario);
  EXPECT_TRUE(candidates.layouts.empty());
  EXPECT_GT(candidates.rejected.count("too large"), 10);
  scenario.training.global_batch = 1 << 13;  // of one replica 2^13 micro-batches
  EXPECT_FALSE(enumerate(scenario).layouts.empty());
  EXPECT_EQ(enumerate(scenario).rejected.count("too large"), 0);
}

TEST(Candidates, UnevenLayersShortenBothEnds) {
  // 126 layers over 16 stages: 14 stages of 8 leave 14, so both ends hold 7; the published layout
  // of a 405B model.
  auto scenario = sample_scenario();
  scenario.model.layers = 126;
  scenario.cluster.nodes = 16;
  bool found = false;
  for (const auto& layout : enumerate(scenario).layouts) {
    const auto& p = layout.scenario().parallelism;
    if (p.pipeline == 16 && p.virtual_stages == 1) {
      found = true;
      EXPECT_EQ(p.first_stage_layers, 7);
      EXPECT_EQ(p.last_stage_layers, 7);
    }
  }
  EXPECT_TRUE(found);
}

TEST(Candidates, TheScenariosOwnLayoutIsAmongThem) {
  auto scenario = sample_scenario();
  scenario.parallelism.pipeline = 2;
  scenario.parallelism.first_stage_layers = 15;  // nothing that the enumeration comes upon
  bool found = false;
  for (const auto& layout : enumerate(scenario).layouts) {
    found = found || layout.scenario().parallelism.first_stage_layers == 15;
  }
  EXPECT_TRUE(found);
  scenario.parallelism.tensor = 3;  // breaks a rule: a plan is found all the same
  EXPECT_GT(enumerate(scenario).layouts.size(), 10U);
}

TEST(Candidates, InterleavedStagesMayShortenTheirEnds) {
  // The published 405B layout: 16 stages of 8 chunks of one layer; the embedding and the head stand
  // for a layer each.
  auto scenario = sample_scenario();
  scenario.model.layers = 126;
  scenario.cluster.nodes = 16;
  scenario.training.global_batch = 128;
  bool found = false;
  for (const auto& layout : enumerate(scenario).layouts) {
    const auto& p = layout.scenario().parallelism;
    found = found || (p.tensor == 8 && p.pipeline == 16 && p.virtual_stages == 8 &&
                      p.first_stage_layers == 7);
  }
  EXPECT_TRUE(found);
}

TEST(Candidates, AnotherScheduleIsKept) {
  auto scenario = sample_scenario();
  scenario.parallelism.schedule = workload::ScheduleKind::gpipe;
  for (const auto& layout : enumerate(scenario).layouts) {
    EXPECT_EQ(layout.scenario().parallelism.schedule, workload::ScheduleKind::gpipe);
    EXPECT_EQ(layout.scenario().parallelism.virtual_stages, 1);
  }
}

TEST(Rejections, CountEqualReasonsTogether) {
  Rejections rejections;
  rejections.add("memory", "too large");
  rejections.add("batch", "odd");
  rejections.add("memory", "too large");
  EXPECT_EQ(rejections.list(),
            (std::vector<Rejection>{{"memory", "too large", 2}, {"batch", "odd", 1}}));
}

}  // namespace
}  // namespace headway::plan

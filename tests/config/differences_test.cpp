// What two scenarios say differently, by the fields.
#include "sim/config/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/load.h"

namespace headway::config {
namespace {

using testing::ElementsAre;

training::Scenario small(std::vector<std::string> set = {}) {
  const std::filesystem::path root = HEADWAY_SOURCE_DIR "/configs";
  return load_scenario(root / "scenarios/small-llama-8b-64-h100.yaml", {{root}, std::move(set)})
      .scenario;
}

std::vector<std::string> differences(const std::vector<std::string>& set) {
  std::vector<std::string> words;
  for (const FieldDifference& one : differing_fields(small(), small(set))) {
    words.push_back(one.key + ": " + one.a.value_or("-") + " / " + one.b.value_or("-"));
  }
  return words;
}

TEST(Differences, AreNoneOfEqualScenarios) {
  EXPECT_THAT(differences({}), ElementsAre());
  EXPECT_THAT(differences({"name=Other", "sweep.best=step.mfu"}), ElementsAre())
      << "what changes no prediction";
}

TEST(Differences, NameTheFieldWithBothValues) {
  EXPECT_THAT(differences({"parallelism.tensor=1", "training.global_batch=256"}),
              ElementsAre("training.global_batch: 128 / 256", "parallelism.tensor: 2 / 1"));
  EXPECT_THAT(differences({"run.checkpoint.interval=5 min"}),
              ElementsAre("run.checkpoint.interval: 0.5 h / 300 s"));
}

TEST(Differences, OfOtherPartsAreTheirNames) {
  EXPECT_THAT(differences({"cluster.node=dgx-h200"}),
              ElementsAre("cluster.node: DGX H100 / DGX H200"));
}

TEST(Differences, OfPartsThatOneLacksAreTheirKeys) {
  const auto all = differences({"run.until=null"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0],
              testing::AllOf(testing::StartsWith("run.until: {"), testing::EndsWith(" / -")));
}

}  // namespace
}  // namespace headway::config

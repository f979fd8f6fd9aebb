// Every scenario of the catalogue gives the same step folded and rank by rank.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/training/check.h"
#include "sim/training/step/step.h"

#include "tests/golden/configs.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// Rank by rank, this many GPUs take a tenth of a second or so; deep runs take all of what takes
/// seconds.
std::int64_t most_gpus() { return std::getenv("HEADWAY_DEEP") != nullptr ? 16'384 : 256; }

/// The scenario with fewer replicas of the model, each with its part of the batch.
training::Scenario fewer_replicas(training::Scenario s) {
  const auto checked = training::check(training::Scenario(s));
  const std::int64_t replicas = checked.data_parallel();
  const std::int64_t each = checked.gpus() / replicas;
  std::int64_t keep = replicas;
  while (keep % 2 == 0 && keep > 2 && keep * each > most_gpus()) {
    keep /= 2;
  }
  // Experts over no more ranks than a stage has left.
  const auto& p = s.parallelism;
  const std::int64_t places = keep * p.tensor * p.context / p.expert_tensor;
  s.parallelism.expert = static_cast<int>(std::min<std::int64_t>(p.expert, places));
  s.parallelism.data = {};  // auto: what the nodes leave
  s.cluster.nodes = static_cast<int>(keep * each / s.cluster.node.gpus);
  s.training.global_batch = static_cast<int>(s.training.global_batch / replicas * keep);
  return s;
}

TEST(Scenarios, GiveTheSameStepFoldedAndRankByRank) {
  int scenarios = 0;
  for (const auto& entry : fs::directory_iterator(kConfigs / "scenarios")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    const auto loaded = config::load_scenario(entry.path(), {{kConfigs}, {}});
    const auto checked = training::check(fewer_replicas(loaded.scenario));
    training::StepOptions options;
    options.trace = false;
    const auto folded = training::simulate_step(checked, options);
    options.fold = false;
    const auto whole = training::simulate_step(checked, options);
    EXPECT_EQ(folded.time, whole.time) << entry.path();
    EXPECT_EQ(folded.result_digest, whole.result_digest) << entry.path();
    EXPECT_EQ(folded.ranks, checked.gpus()) << entry.path();
    EXPECT_LE(folded.rank_classes, whole.rank_classes) << entry.path();
    ++scenarios;
  }
  EXPECT_GE(scenarios, 8);
}

}  // namespace
}  // namespace headway

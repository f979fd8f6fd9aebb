// How torchtitan says the layers of its stages: the ends count as layers, the rest is even.
#include "sim/import/launch/torchtitan_stages.h"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace headway::import {
namespace {

/// What is written of a model of so many layers over so many stages.
std::map<std::string, std::string> words(int layers, int pipeline, int first, int last) {
  LaunchRun run;
  run.model.layers = layers;
  run.parallelism.pipeline = pipeline;
  run.parallelism.schedule = workload::ScheduleKind::one_f_one_b;
  run.parallelism.first_stage_layers = first;
  run.parallelism.last_stage_layers = last;
  LaunchWriter writer;
  write_titan_stages(run, writer);
  std::map<std::string, std::string> out;
  constexpr std::size_t kPrefix = std::string_view("parallelism.pipeline_parallel_").size();
  for (const LaunchLine& line : writer.lines()) {
    out[line.key.substr(kPrefix)] = line.values.front();
  }
  return out;
}

// 32 layers over 4 stages, 8 each: nothing counts for the ends.
TEST(TorchtitanStages, OfEqualOnesNothingIsTakenOff) {
  const auto said = words(32, 4, 0, 0);
  EXPECT_EQ(said.at("first_stage_less_layers"), "0");
  EXPECT_EQ(said.at("last_stage_less_layers"), "0");
  EXPECT_EQ(said.at("layers_per_stage"), "8");
}

// 7, 8, 8, 7 of 30: with one more for the first stage 31, evenly 8, 8, 8 and 7.
TEST(TorchtitanStages, ShorterEndsCountAsLayers) {
  const auto said = words(30, 4, 7, 7);
  EXPECT_EQ(said.at("first_stage_less_layers"), "1");
  EXPECT_EQ(said.at("last_stage_less_layers"), "0");
  EXPECT_EQ(said.at("layers_per_stage"), "8");
}

TEST(TorchtitanStages, OneStageSaysNothing) { EXPECT_TRUE(words(32, 1, 0, 0).empty()); }

}  // namespace
}  // namespace headway::import

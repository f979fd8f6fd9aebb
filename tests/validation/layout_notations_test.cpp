// Notations of recomputation and sharding that look like another: shares, groups, dimensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/cells/cell_words.h"
#include "sim/validation/training_runs.h"
#include "sim/validation/words/layout_words.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;
using workload::Recompute;
using workload::Sharding;

TEST(LayoutNotations, WithoutIsWrittenInManyWays) {
  for (const char* cell : {"w/o AC", "w/o activation checkpointing", "without recomputation",
                           "W/O recompute", "no AC", "N", "disabled"}) {
    EXPECT_EQ(recompute_words(cell).kind, Recompute::none) << cell;
  }
  EXPECT_EQ(predicted({{"recompute", "w/o AC"}}).status, "ok");
  EXPECT_EQ(undenied("bf16 w/o fp8"), "bf16 ");
  EXPECT_EQ(undenied("how/other"), "how/other");
  // What is denied beside it says nothing of recomputation, or of sharding.
  EXPECT_FALSE(recompute_words("no CPU offload").kind.has_value());
  EXPECT_FALSE(sharding_words("w/o offload").kind.has_value());
  EXPECT_FALSE(sharding_words("w/o offload").offload);
  EXPECT_EQ(sharding_words("without ZeRO").kind, Sharding::zero0);
}

TEST(LayoutNotations, SharesOfTheLayersAreToldWhereTheUnitIsNot) {
  struct Case {
    const char* cell;
    int layers, period;
    const char* told;
  };
  for (const Case& c :
       {Case{"ckpt 1/4", 1, 4, "recompute: 'ckpt 1/4' is read as 1 of 4 layers"},
        Case{"1 in 3 layers", 1, 3, ""},
        Case{"0.5", 50, 100, "recompute: '0.5' is read as a share of the layers"}}) {
    const RecomputeWords words = recompute_words(c.cell);
    EXPECT_EQ(words.kind, Recompute::full) << c.cell;
    EXPECT_EQ(words.layers, c.layers) << c.cell;
    EXPECT_EQ(words.period, c.period) << c.cell;
    EXPECT_EQ(words.nearness, c.told) << c.cell;
    EXPECT_EQ(words.open, !words.nearness.empty()) << c.cell;
  }
  EXPECT_THAT(predicted({{"recompute", "ckpt 1/4"}}).assumed, Contains("recompute"));
  EXPECT_EQ(recompute_words("full 7").unknown, "7");
}

// Megatron's "uniform" keeps one input of so many layers and recomputes them all.
TEST(LayoutNotations, UniformGroupsRecomputeEveryLayer) {
  for (const char* cell : {"uniform, num-layers 2", "num_layers=2 uniform", "full uniform 2"}) {
    const auto layout = scenario({{"recompute", cell}}).parallelism;
    EXPECT_EQ(layout.recompute, Recompute::full) << cell;
    EXPECT_EQ(layout.recompute_period, 1) << cell;
    EXPECT_THAT(predicted({{"recompute", cell}}).status, HasSubstr("not one of each group of 2"));
  }
  EXPECT_EQ(recompute_words("block, num-layers 2").first_layers, 2);
}

TEST(LayoutNotations, OffloadOfActivationsIsNoRecomputation) {
  const auto layout = scenario({{"recompute", "CPU offload of activations"}}).parallelism;
  EXPECT_EQ(layout.recompute, Recompute::none);
  EXPECT_EQ(layout.offload, workload::Offload::activations);
  const RunPrediction p = predicted({{"recompute", "CPU offload of activations"}});
  EXPECT_THAT(p.status, HasSubstr("offload of activations is read as no recomputation"));
  EXPECT_THAT(p.assumed, Contains("recompute"));
  EXPECT_EQ(recompute_words("full + CPU offload of checkpoints").kind, Recompute::full);
  EXPECT_TRUE(recompute_words("full + CPU offload of checkpoints").offload);
}

TEST(LayoutNotations, DimensionsOfParallelismAreNoStages) {
  for (const char* cell : {"3D", "2D", "3D parallelism"}) {
    const ShardingWords words = sharding_words(cell);
    EXPECT_FALSE(words.kind.has_value()) << cell;
    EXPECT_TRUE(words.open) << cell;
    EXPECT_EQ(words.nearness, fmt::format("sharding: '{}' says nothing of what is sharded", cell));
  }
  EXPECT_EQ(sharding_words("3D + ZeRO-1").kind, Sharding::zero1);
  EXPECT_EQ(sharding_words("3").kind, Sharding::zero3);
  EXPECT_EQ(sharding_words("z1").kind, Sharding::zero1);
  EXPECT_THAT(predicted({{"sharding", "quux 3"}}).status,
              StartsWith("skipped:unknown sharding 'quux 3'"));
}

TEST(LayoutNotations, ShardedDataParallelismOfSageMakerIsInGroups) {
  for (const char* cell :
       {"smp sharded data parallel 16", "sharded data parallelism (16)", "SDP-16"}) {
    EXPECT_EQ(sharding_words(cell).kind, Sharding::hsdp) << cell;
    EXPECT_EQ(sharding_words(cell).group, 16) << cell;
  }
  EXPECT_EQ(sharding_words("sdp").kind, Sharding::zero3);
  EXPECT_TRUE(sharding_words("sdp").open);
  EXPECT_EQ(sharding_words("fully_shard").kind, Sharding::zero3);
  EXPECT_EQ(sharding_words("ShardedDDP").kind, Sharding::zero2);
  const ShardingWords plugin = sharding_words("hybrid_parallel plugin");
  EXPECT_EQ(plugin.kind, Sharding::zero1);
  EXPECT_THAT(plugin.nearness, HasSubstr("Colossal-AI"));
}

}  // namespace
}  // namespace headway::validation

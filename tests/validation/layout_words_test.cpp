// Words for the layout of a run: what is sharded, what is recomputed, in which format it computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using workload::Recompute;
using workload::RecomputePart;
using workload::Sharding;

/// A run of plain data parallelism on two nodes.
Cells data_parallel(Cells changes) {
  const Cells plain{{"tp", "1"}, {"pp", "1"}, {"dp", "16"}, {"era", "pytorch-fsdp"}};
  changes.insert(plain.begin(), plain.end());
  return changes;
}

TEST(LayoutWords, ShardingIsReadHoweverItIsWritten) {
  struct Case {
    const char* words;
    Sharding kind;
    const char* status;
  };
  for (const Case& c :
       {Case{"FSDP (ZeRO-3)", Sharding::zero3, "ok"}, Case{"fully sharded", Sharding::zero3, "ok"},
        Case{"3.0", Sharding::zero3, "ok"}, Case{"dp + zero1", Sharding::zero1, "ok"},
        Case{"P_os", Sharding::zero1, "ok"}, Case{"os+g", Sharding::zero2, "ok"},
        Case{"P_os+g+p", Sharding::zero3, "ok"}, Case{"ddp+zero1", Sharding::zero1, "ok"},
        Case{"data parallel", Sharding::zero0, "ok"},
        Case{"ZeRO-1 + PP", Sharding::zero1, "ok-assumed"},
        Case{"fsdp2+tp", Sharding::zero3, "ok-assumed"},
        Case{"zero", Sharding::zero3, "ok-assumed"},
        Case{"fsdp quux", Sharding::zero3, "ok-assumed: not understood in sharding: quux"}}) {
    const Cells cells = data_parallel({{"sharding", c.words}});
    EXPECT_EQ(scenario(cells).parallelism.sharding, c.kind) << c.words;
    EXPECT_EQ(predicted(cells).status, c.status) << c.words;
  }
  // Beside stages ZeRO is ZeRO-1, of every software.
  const Cells stages{{"sharding", "ZeRO"}, {"era", "pytorch-fsdp"}};
  EXPECT_EQ(scenario(stages).parallelism.sharding, Sharding::zero1);
  EXPECT_THAT(predicted(stages).assumed, Contains("sharding"));
  // Degrees that the columns have too are no more open than without the words.
  EXPECT_EQ(predicted({{"sharding", "zero1 + TP2 + PP"}}).status, "ok");
  EXPECT_THAT(predicted({{"sharding", "zero1 + TP4"}}).assumed, Contains("tp"));
  EXPECT_EQ(predicted({{"sharding", "zero1 zero3"}}).status,
            "skipped:unknown sharding 'zero1 zero3'");
}

// "8x8" are eight copies of eight ranks; "4x8" could be told in either order.
TEST(LayoutWords, GroupsOfSharedCopiesAreReadFromTheWords) {
  const Cells groups{{"n_gpus", "64"}, {"dp", "64"}, {"global_batch", "64"}};
  const auto with_words = [&](const char* words) {
    Cells cells = groups;
    cells["sharding"] = words;
    return data_parallel(cells);
  };
  const auto square = scenario(with_words("hsdp (8x8)")).parallelism;
  EXPECT_EQ(square.sharding, Sharding::hsdp);
  EXPECT_EQ(square.shard_group_size, 8);
  EXPECT_EQ(predicted(with_words("hsdp (8x8)")).status, "ok");
  EXPECT_EQ(scenario(with_words("HSDP 4x16")).parallelism.shard_group_size, 16);
  EXPECT_THAT(predicted(with_words("HSDP 4x16")).assumed, Contains("shard_group_size"));
  EXPECT_TRUE(square.reshard);
  EXPECT_FALSE(scenario(with_words("_HYBRID_SHARD_ZERO2")).parallelism.reshard);
}

TEST(LayoutWords, OffloadedStatesAreTheOptimizers) {
  const Cells second = data_parallel({{"sharding", "ZeRO-2 offload"}});
  EXPECT_EQ(scenario(second).parallelism.offload, workload::Offload::optimizer);
  EXPECT_EQ(predicted(second).status, "ok");
  const Cells third = data_parallel({{"sharding", "Zero-3 offload"}});
  EXPECT_EQ(scenario(third).parallelism.offload, workload::Offload::optimizer);
  EXPECT_THAT(predicted(third).status, HasSubstr("offload is read as the optimizer's"));
  EXPECT_THAT(predicted(third).assumed, Contains("sharding"));
}

TEST(LayoutWords, WhatNoStageOfZeroIsIsRefusedByName) {
  EXPECT_THAT(predicted({{"sharding", "ZeRO++"}}).status,
              HasSubstr("skipped:unmodelled: sharding 'zero++' (weights and gradients travel"));
  EXPECT_THAT(predicted({{"sharding", "ZeRO-Infinity"}}).status,
              HasSubstr("skipped:unmodelled: sharding 'zeroinfinity' (weights in host memory"));
}

TEST(LayoutWords, RecomputationIsReadHoweverItIsWritten) {
  struct Case {
    const char* words;
    Recompute kind;
    int layers, period;
    const char* status;
  };
  for (const Case& c : {Case{"gradient checkpointing", Recompute::full, 1, 1, "ok"},
                        Case{"act ckpt full", Recompute::full, 1, 1, "ok"},
                        Case{"ac=full", Recompute::full, 1, 1, "ok"},
                        Case{"granularity=full", Recompute::full, 1, 1, "ok"},
                        Case{"nothing_saveable", Recompute::full, 1, 1, "ok"},
                        Case{"layer", Recompute::full, 1, 1, "ok"},
                        Case{"no AC", Recompute::none, 1, 1, "ok"},
                        Case{"gradient checkpointing off", Recompute::none, 1, 1, "ok"},
                        Case{"gelu", Recompute::selective, 1, 1, "ok"},
                        Case{"activation checkpointing", Recompute::full, 1, 1, "ok-assumed"},
                        Case{"AC", Recompute::full, 1, 1, "ok-assumed"},
                        Case{"every other layer", Recompute::full, 1, 2, "ok"},
                        Case{"selective (every 2nd layer)", Recompute::full, 1, 2, "ok"},
                        Case{"selective 2", Recompute::full, 1, 2, "ok"},
                        Case{"3 of 8 layers", Recompute::full, 3, 8, "ok"},
                        Case{"25% of layers", Recompute::full, 25, 100, "ok"},
                        Case{"block 1 layer", Recompute::full, 1, 2, "ok-assumed"},
                        Case{"block 3 layers", Recompute::full, 3, 4, "ok"},
                        Case{"block 8 layers", Recompute::full, 1, 1, "ok"},
                        Case{"selective AC", Recompute::selective, 1, 1, "ok"},
                        Case{"full quux", Recompute::full, 1, 1,
                             "ok-assumed: not understood in recompute: quux"}}) {
    const auto layout = scenario({{"recompute", c.words}}).parallelism;
    EXPECT_EQ(layout.recompute, c.kind) << c.words;
    EXPECT_EQ(layout.recompute_layers, c.layers) << c.words;
    EXPECT_EQ(layout.recompute_period, c.period) << c.words;
    EXPECT_EQ(predicted({{"recompute", c.words}}).status, c.status) << c.words;
  }
  for (const char* contradictory : {"none, full", "no selective"}) {
    EXPECT_EQ(predicted({{"recompute", contradictory}}).status,
              "skipped:unknown recompute '" + std::string(contradictory) + "'");
  }
}

TEST(LayoutWords, PartsOfALayerAreReadFromTheWords) {
  const auto parts = [](const char* words) {
    return scenario({{"recompute", words}}).parallelism.recompute_parts;
  };
  for (const char* words : {"op", "per-op SAC", "selective op"}) {
    EXPECT_THAT(parts(words), ElementsAre(RecomputePart::operators)) << words;
    EXPECT_EQ(predicted({{"recompute", words}}).status, "ok") << words;
  }
  for (const char* words : {"attn", "core attention", "selective core_attn"}) {
    EXPECT_THAT(parts(words), ElementsAre(RecomputePart::core_attention)) << words;
  }
  for (const char* policy : {"minimal", "dots_saveable"}) {
    EXPECT_THAT(parts(policy), Contains(RecomputePart::core_attention)) << policy;
    EXPECT_THAT(parts(policy), Not(Contains(RecomputePart::mlp))) << policy;
    EXPECT_THAT(predicted({{"recompute", policy}}).status, HasSubstr("XLA's policy")) << policy;
    EXPECT_THAT(predicted({{"recompute", policy}}).assumed, Contains("recompute")) << policy;
  }
}

// Of several formats the products have the narrowest; the others are of what lies beside them.
TEST(LayoutWords, FormatsAreReadHoweverTheyAreWritten) {
  using core::Precision;
  struct Case {
    const char* words;
    Precision format;
    const char* status;
  };
  for (const Case& c :
       {Case{"amp bf16", Precision::bf16, "ok"}, Case{"mixed (bf16)", Precision::bf16, "ok"},
        Case{"bf16/fp32", Precision::bf16, "ok"}, Case{"fp16-mixed", Precision::fp16, "ok"},
        Case{"transformer engine fp8", Precision::fp8, "ok"},
        Case{"bf16+fp8", Precision::fp8, "ok"}, Case{"bf16 + float8 rowwise", Precision::fp8, "ok"},
        Case{"mixed", Precision::bf16, "ok-assumed"}, Case{"AMP", Precision::bf16, "ok-assumed"},
        Case{"fp8 quux", Precision::fp8, "ok-assumed: not understood in precision: quux"}}) {
    EXPECT_EQ(scenario({{"precision", c.words}}).training.precision, c.format) << c.words;
    EXPECT_EQ(predicted({{"precision", c.words}}).status, c.status) << c.words;
  }
  EXPECT_EQ(scenario({{"precision", "bf16 + float8 rowwise"}}).training.framework.scaling,
            workload::Scaling::row);
  EXPECT_THAT(predicted({{"precision", "DeepSeek fp8"}}).status, HasSubstr("scales of blocks"));
  EXPECT_EQ(scenario({{"precision", "pure bf16"}}).training.optimizer_state,
            workload::OptimizerState::adam_bf16);
  EXPECT_THAT(predicted({{"precision", "pure bf16"}}).assumed, Contains("precision"));
  const Cells old{{"gpu", "V100-SXM2-32GB"}, {"precision", "AMP"}};
  EXPECT_EQ(scenario(old).training.precision, Precision::fp16);  // it has no bf16
}

}  // namespace
}  // namespace headway::validation

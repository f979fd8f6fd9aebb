// Published runs of PyTorch, torchtitan and torchao, and of Megatron by the year of its attention:
// what their words become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::ElementsAre;
using workload::AttentionKernels;
using workload::Elementwise;
using workload::Loss;
using workload::Recompute;
using workload::RecomputePart;
using workload::Scaling;

std::string profile(const Cells& changes) { return scenario(changes).training.framework.name; }

// Whether a run compiles says nothing about which FSDP it has.
TEST(PyTorchRows, CompilationChoosesKernelsNotTheProfile) {
  for (const char* era : {"pytorch-fsdp", "torchtitan"}) {
    const auto software = [&](const char* compiled) {
      return scenario(
                 {{"era", era}, {"year", "2025"}, {"sharding", "3"}, {"torch_compile", compiled}})
          .training.framework;
    };
    EXPECT_EQ(software("no").elementwise, Elementwise::eager);
    EXPECT_EQ(software("no").loss, Loss::separate);
    EXPECT_EQ(software("yes").elementwise, Elementwise::compiled);
    EXPECT_EQ(software("yes").name, software("no").name);
  }
}

TEST(PyTorchRows, AreOfTheirYearsProfile) {
  const auto named = [](const char* era, const char* year) {
    return profile({{"era", era}, {"year", year}, {"sharding", "3"}});
  };
  EXPECT_EQ(named("torchtitan", "2024"), "torchtitan (FSDP2) of 2024");
  EXPECT_EQ(named("torchtitan", "2025"), "torchtitan (FSDP2)");
  EXPECT_EQ(named("pytorch-fsdp", "2024"), "PyTorch FSDP");
}

TEST(PyTorchRows, OfDeepSpeedWithoutMegatronAreItsOwn) {
  const auto named = [](const char* era) { return profile({{"era", era}, {"sharding", "3"}}); };
  EXPECT_EQ(named("deepspeed-2024"), "DeepSpeed");
  EXPECT_EQ(named("HF Trainer with DeepSpeed ZeRO-3"), "DeepSpeed");
  EXPECT_NE(named("unfused-megatron-deepspeed-2022"), "DeepSpeed");
}

TEST(PyTorchRows, RecomputeByOperatorOrByBlocks) {
  const auto layout = [](const char* kind, const char* detail) {
    return scenario({{"era", "torchtitan"},
                     {"sharding", "3"},
                     {"recompute", kind},
                     {"recompute_detail", detail}})
        .parallelism;
  };
  const auto operators =
      layout("selective", "per-operator: matrix products saved every other one, rest recomputed");
  EXPECT_EQ(operators.recompute, Recompute::selective);
  EXPECT_THAT(operators.recompute_parts, ElementsAre(RecomputePart::operators));
  // cuDNN's attention, Blackwell's, was not among what torchtitan keeps before December 2025.
  const auto on = [](const char* gpu, const char* year) {
    return scenario({{"era", "torchtitan"},
                     {"year", year},
                     {"gpu", gpu},
                     {"sharding", "3"},
                     {"recompute", "selective"},
                     {"recompute_detail", "per-operator"}})
        .parallelism.recompute_parts;
  };
  EXPECT_THAT(on("B200", "2025"),
              ElementsAre(RecomputePart::operators, RecomputePart::core_attention));
  EXPECT_THAT(on("B200", "2026"), ElementsAre(RecomputePart::operators));
  EXPECT_THAT(on("H100", "2025"), ElementsAre(RecomputePart::operators));
  for (const auto& [detail, percent] :
       {std::pair{"whole-block checkpointing of about 47% of the blocks (from HFU/MFU)", 47},
        {"whole-block checkpointing of about 5% of the blocks", 5},
        {"every 2nd layer recomputed whole", 50}}) {
    const auto some = layout("selective", detail);
    EXPECT_EQ(some.recompute, Recompute::full) << detail;
    EXPECT_EQ(some.recompute_period, 100);
    EXPECT_EQ(some.recompute_layers, percent);
  }
  const auto all = layout("full", "whole-block checkpointing of about 100% of the blocks");
  EXPECT_EQ(all.recompute, Recompute::full);
  EXPECT_EQ(all.recompute_period, 1);
}

TEST(PyTorchRows, ScaleAsTheirRecipe) {
  const auto scaling = [](const char* detail) {
    return scenario({{"era", "torchtitan"},
                     {"sharding", "3"},
                     {"precision", "fp8"},
                     {"precision_detail", detail}})
        .training.framework.scaling;
  };
  EXPECT_EQ(scaling("fp8 rowwise"), Scaling::row);
  EXPECT_EQ(scaling("fp8 tensorwise, fp8 all-gather"), Scaling::tensor);
  EXPECT_EQ(scaling(""), Scaling::tensor);
}

TEST(PyTorchRows, ACappedBoardIsMeantWhereItsMemoryIsTold) {
  const auto gpu = [](const char* name) { return scenario({{"gpu", name}}).cluster.node.gpu.name; };
  EXPECT_EQ(gpu("H100-96G-HBM2e-500W (Grand Teton)"), "H100 96 GB SXM, 500 W");
  EXPECT_EQ(gpu("H100 SXM5"), "H100 80 GB SXM");
  const Cells stated = with({{"gpu", "H100-96G-HBM2e-500W (Grand Teton)"}});
  EXPECT_THAT(predict_runs(table_of({stated}), catalogue()).front().assumed, testing::IsEmpty());
}

// Selective recomputation of core attention is of software without fused attention; modules that
// are named, or later years, are another matter.
TEST(MegatronRows, AttentionIsOfItsYear) {
  const auto kernels = [](const char* era, const char* year, const char* recompute,
                          const char* detail) {
    return scenario({{"era", era},
                     {"year", year},
                     {"recompute", recompute},
                     {"recompute_detail", detail}})
        .training.framework.attention_kernels;
  };
  EXPECT_EQ(kernels("nemo-2023", "2023", "selective", ""), AttentionKernels::unfused);
  EXPECT_EQ(kernels("nemo-2023", "2023", "none", ""), AttentionKernels::flash2);
  EXPECT_EQ(kernels("nemo-2023", "2023", "selective", "modules=layernorm"),
            AttentionKernels::flash2);
  EXPECT_EQ(kernels("megatron-core-2024+", "2024", "none", ""), AttentionKernels::flash2);
  EXPECT_EQ(kernels("megatron-core-2024+", "2025", "none", ""), AttentionKernels::newest);
  EXPECT_EQ(kernels("megatron-flash-2023", "2024", "none", ""), AttentionKernels::flash2);
}

}  // namespace
}  // namespace headway::validation

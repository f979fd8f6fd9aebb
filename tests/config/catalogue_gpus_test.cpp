// Every GPU of the catalogue: its power limit acts, and what it does not have is refused by name.
#include <filesystem>
#include <gtest/gtest.h>

#include "sim/config/load.h"
#include "sim/core/error.h"
#include "sim/gpu/closed_form.h"
#include "sim/gpu/kernel_time.h"

namespace headway::config {
namespace {

using core::Precision;
using gpu::GpuSpec;

const std::filesystem::path kConfigs = std::filesystem::path(HEADWAY_SOURCE_DIR) / "configs";

std::vector<std::pair<std::string, Loaded<GpuSpec>>> all_gpus() {
  std::vector<std::pair<std::string, Loaded<GpuSpec>>> gpus;
  for (const auto& entry : list_entries("gpus", {kConfigs})) {
    gpus.emplace_back(entry.name, load_entry<GpuSpec>(entry.path, {{kConfigs}, {}}));
  }
  return gpus;
}

/// 8,192 x 8,192 x 8,192 in 16 bits.
core::Seconds product_time(const GpuSpec& gpu) {
  core::Kernel kernel;
  kernel.kind = core::KernelKind::gemm;
  kernel.precision = gpu.peak.bf16.si() > 0 ? Precision::bf16 : Precision::fp16;
  kernel.m = kernel.n = kernel.k = 8192;
  kernel.work = core::Flops(2.0 * 8192 * 8192 * 8192);
  return gpu::kernel_time(gpu, gpu.sustained, kernel, {});
}

TEST(CatalogueGpus, AreManyAndHaveTheUsualNames) {
  const auto gpus = all_gpus();
  EXPECT_GE(gpus.size(), 35U);
  for (const char* name : {"h800-sxm",      "h20",           "a800-80gb-sxm", "l40s",
                           "l40",           "v100-16gb-sxm", "v100-32gb-sxm", "rtx-4090",
                           "rtx-a6000",     "rtx-6000-ada",  "a10",           "a40",
                           "gh200-96gb",    "h100-nvl",      "h100-pcie",     "a100-80gb-pcie",
                           "a100-40gb-sxm", "mi325x",        "mi250x",        "mi300a"}) {
    EXPECT_TRUE(std::any_of(gpus.begin(), gpus.end(), [&](const auto& g) {
      return g.first == name;
    })) << name;
  }
}

TEST(CatalogueGpus, SayAtWhichPowerLimitTheirSharesHold) {
  for (const auto& [name, loaded] : all_gpus()) {
    EXPECT_GT(loaded.spec.sustained.power.si(), 0) << name;
    EXPECT_FALSE(find_source(loaded.sources, "sustained.power").empty()) << name;
    EXPECT_GT(loaded.spec.power, loaded.spec.idle_power) << name;
  }
}

TEST(CatalogueGpus, HalfThePowerLimitSlowsMatrixProducts) {
  for (const auto& [name, loaded] : all_gpus()) {
    GpuSpec half = loaded.spec;
    half.power = half.power / 2.0;
    EXPECT_GT(product_time(half) / product_time(loaded.spec), 1.2) << name;
  }
}

TEST(CatalogueGpus, TheListedPowerLimitChangesNothing) {
  for (const auto& [name, loaded] : all_gpus()) {
    if (loaded.spec.power != loaded.spec.sustained.power) {
      continue;  // shares of a sister board with another limit
    }
    GpuSpec unscaled = loaded.spec;
    unscaled.sustained.power = core::Watts(0);
    EXPECT_EQ(product_time(loaded.spec), product_time(unscaled)) << name;
  }
}

// sqrt((300 - 70) / (700 - 70)) = 0.6042.
TEST(CatalogueGpus, AnH100At300WattsRunsProductsAtSixtyPercent) {
  auto h100 = load_entry<GpuSpec>(kConfigs / "gpus/h100-sxm.yaml", {{kConfigs}, {}}).spec;
  h100.power = core::Watts(300);
  EXPECT_NEAR(gpu::power_share(h100, h100.sustained), 0.6042, 1e-4);
}

TEST(CatalogueGpus, WithoutBf16SayWhatToUse) {
  const auto v100 =
      load_entry<GpuSpec>(kConfigs / "gpus/v100-32gb-sxm.yaml", {{kConfigs}, {}}).spec;
  EXPECT_EQ(gpu::missing_precision(v100, Precision::bf16), "V100 32 GB SXM2 has no bf16; use fp16");
  EXPECT_EQ(gpu::missing_precision(v100, Precision::fp16), "");
  EXPECT_THROW(gpu::peak_rate(v100, Precision::bf16), core::Error);
}

// fp32 from 8.1 (T4) to 163 TFLOP/s (MI300X), never above tf32, tf32 never above 16 bits.
TEST(CatalogueGpus, AllHaveAPeakOfFp32) {
  for (const auto& [name, loaded] : all_gpus()) {
    const auto& peak = loaded.spec.peak;
    EXPECT_GE(peak.fp32.si(), 8e12) << name;
    EXPECT_LE(peak.fp32.si(), 170e12) << name;
    EXPECT_EQ(gpu::missing_precision(loaded.spec, Precision::fp32), "") << name;
    if (peak.tf32.si() > 0) {
      EXPECT_GE(peak.tf32, peak.fp32) << name;
      EXPECT_LE(peak.tf32, peak.fp16) << name;
    }
  }
}

TEST(CatalogueGpus, WithoutTf32SayWhatToUse) {
  const auto without = [](const char* name) {
    const auto gpu = load_entry<GpuSpec>(kConfigs / "gpus" / name, {{kConfigs}, {}}).spec;
    return gpu::missing_precision(gpu, Precision::tf32);
  };
  EXPECT_EQ(without("v100-32gb-sxm.yaml"), "V100 32 GB SXM2 has no tf32; use fp16 or fp32");
  EXPECT_EQ(without("mi250x.yaml"), "MI250X GCD has no tf32; use bf16, fp16 or fp32");
  EXPECT_EQ(without("a100-80gb-sxm.yaml"), "");
}

TEST(CatalogueNodes, OfCardsWithoutNvlinkAreJoinedByPcie) {
  for (const char* name : {"l40s-server", "a10-server", "a40-server", "rtx-4090-server",
                           "a100-pcie-server", "h100-pcie-server"}) {
    const auto node = load_entry<training::NodeSpec>(
                          kConfigs / "nodes" / (std::string(name) + ".yaml"), {{kConfigs}, {}})
                          .spec;
    EXPECT_EQ(node.scale_up.kind, network::ScaleUpKind::pcie) << name;
  }
}

}  // namespace
}  // namespace headway::config

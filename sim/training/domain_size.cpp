#include "sim/training/domain_size.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace headway::training {

namespace {

/// The largest domain that sources describe, by what architecture.
struct DescribedDomain {
  gpu::Architecture architecture;
  int gpus = 0;
  const char* source = "";
  std::string_view gpu = "";  ///< the one that it is of; empty: any of the architecture
};
constexpr std::array<DescribedDomain, 7> kDescribedDomains{{
    {gpu::Architecture::volta, 16, "NVIDIA DGX-2 data sheet, 2018"},
    {gpu::Architecture::ampere, 16, "NVIDIA A100 data sheet, 2021: HGX A100 with 16 GPUs"},
    {gpu::Architecture::hopper, 256, "NVIDIA DGX GH200 data sheet, 2023"},
    {gpu::Architecture::blackwell, 72, "NVIDIA GB200 NVL72 and GB300 NVL72 data sheets"},
    {gpu::Architecture::cdna3, 8, "AMD Instinct MI300X platform data sheet, 2023"},
    {gpu::Architecture::cdna4, 72, "AMD Helios rack pages, 2026", "MI455X"},
    {gpu::Architecture::cdna4, 8, "AMD Instinct MI350 Series platform data sheets, 2025"},
}};

}  // namespace

std::optional<std::string> domain_warning(const ClusterSpec& cluster, int domain_gpus) {
  const auto& gpu = cluster.node.gpu;
  const auto known = std::find_if(kDescribedDomains.begin(), kDescribedDomains.end(),
                                  [&](const DescribedDomain& domain) {
                                    return domain.architecture == gpu.architecture &&
                                           gpu.name.find(domain.gpu) != std::string::npos;
                                  });
  if (known == kDescribedDomains.end() || domain_gpus <= known->gpus) {
    return std::nullopt;
  }
  return fmt::format(
      "a domain of {} GPUs is larger than any of {} GPUs that sources describe ({}: {}); it is "
      "taken to be one tier of switches with the bandwidth and latency of scale_up, which nothing "
      "was measured on",
      domain_gpus, core::to_word(gpu.architecture), known->gpus, known->source);
}

}  // namespace headway::training

#include "sim/training/price_warning.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/training/unequal/node_kinds.h"

namespace headway::training {

namespace {

std::string price_warning(const gpu::GpuSpec& gpu, const price::PriceSpec& prices) {
  using namespace core::literals;
  return fmt::format(
      "run.prices bills {} at {:.2f} USD a GPU-hour, which is a price of {} ({}): dollars are not "
      "those of this GPU; name one of its own in run.prices.use, in a search or sweep a list over "
      "run.prices or --machine with both, or set run.prices.gpu_hour and run.prices.gpu",
      gpu.name, (prices.gpu_hour * 1_h).si(), prices.gpu, prices.name);
}

}  // namespace

bool is_named(const gpu::GpuSpec& gpu, const std::string& words) {
  return (" " + gpu.name + " ").find(" " + words + " ") != std::string::npos;
}

std::vector<std::string> price_warnings(const Scenario& scenario) {
  std::vector<std::string> warnings;
  const auto& prices = scenario.run.prices;
  if (!prices || prices->gpu.empty()) {
    return warnings;
  }
  const auto& cluster = scenario.cluster;
  for (int kind = 0; kind < node_kinds(cluster); ++kind) {
    const bool own = kind > 0 && cluster.other_nodes[static_cast<std::size_t>(kind) - 1].gpu_hour;
    const auto& gpu = node_of_kind(cluster, kind).gpu;
    if (own || is_named(gpu, prices->gpu)) {
      continue;
    }
    std::string text = price_warning(gpu, *prices);
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end()) {
      warnings.push_back(std::move(text));
    }
  }
  return warnings;
}

}  // namespace headway::training

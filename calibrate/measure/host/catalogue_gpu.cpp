#include "calibrate/measure/host/catalogue_gpu.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "sim/config/files.h"
#include "sim/config/load.h"

namespace headway::measure {

namespace {

namespace fs = std::filesystem;

/// The folder of the installed catalogue, seen from the running program.
fs::path installed_configs() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path{} : program.parent_path().parent_path() / "share" / "headway" / "configs";
}

}  // namespace

std::string catalogue_gpu(const std::string& device) {
  // Words of the driver's name, the more telling first.
  static const std::vector<std::pair<std::string, std::string>> kEntries{
      {"H100 PCIe", "h100-pcie"},
      {"H100 80GB HBM3", "h100-sxm"},
      {"H200 NVL", ""},
      {"GH200", ""},
      {"H200", "h200-sxm"},
      {"H800", "h800-sxm"},
      {"A100-SXM4-40GB", "a100-40gb-sxm"},
      {"A100-SXM4-80GB", "a100-80gb-sxm"},
      {"GB200", "gb200"},
      {"GB300", "gb300"},
      {"B200", "b200-sxm"},
      {"B300", "b300-sxm"}};
  for (const auto& [words, entry] : kEntries) {
    if (device.find(words) != std::string::npos) {
      return entry;
    }
  }
  return "";
}

std::optional<gpu::GpuSpec> load_catalogue_gpu(const std::string& entry) {
  const auto roots = config::config_roots(installed_configs(), HEADWAY_SOURCE_CONFIGS);
  for (const auto& known : config::list_entries("gpus", roots)) {
    if (known.name == entry) {
      return config::load_entry<gpu::GpuSpec>(known.path, {roots, {}}).spec;
    }
  }
  return std::nullopt;
}

}  // namespace headway::measure

#include "sim/config/spec_type.h"

#include <algorithm>

#include "sim/config/reflect.h"
#include "sim/training/scenario.h"

namespace headway::config {

const std::vector<CatalogueKind>& catalogue() {
  static const std::vector<CatalogueKind> kinds{
      {gpu::GpuSpec::kCatalogue, &spec_type<gpu::GpuSpec>()},
      {gpu::KernelTables::kCatalogue, &spec_type<gpu::KernelTables>()},
      {training::NodeSpec::kCatalogue, &spec_type<training::NodeSpec>()},
      {network::FabricSpec::kCatalogue, &spec_type<network::FabricSpec>()},
      {storage::StorageSpec::kCatalogue, &spec_type<storage::StorageSpec>()},
      {training::ClusterSpec::kCatalogue, &spec_type<training::ClusterSpec>()},
      {workload::ModelSpec::kCatalogue, &spec_type<workload::ModelSpec>()},
      {workload::FrameworkSpec::kCatalogue, &spec_type<workload::FrameworkSpec>()},
      {failures::FailureSpec::kCatalogue, &spec_type<failures::FailureSpec>()},
      {failures::RecoverySpec::kCatalogue, &spec_type<failures::RecoverySpec>()},
      {price::PriceSpec::kCatalogue, &spec_type<price::PriceSpec>()},
      {training::CalibrationSpec::kCatalogue, &spec_type<training::CalibrationSpec>()},
      {"scenarios", &spec_type<training::Scenario>()},
  };
  return kinds;
}

const CatalogueKind* find_kind(std::string_view folder) {
  const auto& kinds = catalogue();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const CatalogueKind& kind) { return kind.folder == folder; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace headway::config

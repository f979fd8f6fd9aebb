// The catalogue's entry of a measured GPU: rates become shares of its peaks.
#pragma once

#include <optional>
#include <string>

#include "sim/gpu/spec.h"

namespace headway::measure {

/// The catalogue's name of the GPU that the driver calls `device`, such as "h100-sxm" for
/// "NVIDIA H100 80GB HBM3"; empty if the catalogue has none.
std::string catalogue_gpu(const std::string& device);

/// That entry from the folders of HEADWAY_CONFIGS, the installed catalogue or the source tree's;
/// nothing if none of them has it.
/// @throws core::Error if the entry is not correct, or HEADWAY_CONFIGS names no folder
std::optional<gpu::GpuSpec> load_catalogue_gpu(const std::string& entry);

}  // namespace headway::measure

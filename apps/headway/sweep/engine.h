// Other programs that run the shards of a folder.
#pragma once

#include <string>

#include "apps/headway/options.h"

namespace headway::apps {

/// Has the Python package's Dask engine complete the shards of a folder.
/// @param scheduler  address of a Dask scheduler; empty: workers on this machine, --threads of them
/// @returns its exit code
/// @throws core::Error if there is no Python to be started
int run_dask(const std::string& folder, const std::string& scheduler, const CommonOptions& options);

}  // namespace headway::apps

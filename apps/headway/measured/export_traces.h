// headway export chakra: the predicted step as a folder of execution traces.
#pragma once

#include <string>

#include "apps/headway/options.h"

namespace headway::apps {

/// Writes step.RANK.et of each rank into the folder that --out names, and comm_groups.json.
/// @param ranks  "0-7,64"; empty: all
/// @throws core::Error if there is no folder to write to, if it has such files and --force is not
///         given, if a rank does not exist, or if all together would be too many nodes
void export_traces(const std::string& scenario,
                   const std::string& ranks,
                   const CommonOptions& options);

}  // namespace headway::apps

// The constants of the models: figures that come from measurements or fits, not from data sheets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/report/table.h"

namespace headway::report {

/// Constants of the rooms (entries "models/ROOM", with the standard error of those that were
/// fitted), then shares of peaks, fabric efficiencies, framework overheads and calibrations of the
/// catalogue, each with unit and source.
/// @param roots  configuration folders
/// @throws core::Error if an entry cannot be read
Table constants_table(const std::vector<std::filesystem::path>& roots);

}  // namespace headway::report

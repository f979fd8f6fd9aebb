// The file that starts a training framework as a scenario says, and what it cannot say.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/launch/launch_table.h"
#include "sim/training/check.h"

namespace headway::config {

struct LaunchFile {
  std::string text;
  std::vector<std::string> lost;  ///< what its settings cannot say; the head of the file lists it
};

/// @param head   first comment, without a full stop: who wrote the file and from what
/// @param roots  of the catalogue, whose models some frameworks have names for
LaunchFile launch_file(const import::LaunchTable& table,
                       const training::CheckedScenario& checked,
                       const std::string& head,
                       const std::vector<std::filesystem::path>& roots);

/// The table of that name, as `headway export` takes it; nullptr: there is none.
const import::LaunchTable* launch_table_named(std::string_view name);

/// What files of this syntax end in, with the dot.
std::string launch_extension(import::LaunchSyntax syntax);

}  // namespace headway::config

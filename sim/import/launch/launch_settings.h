// The settings of a file that starts a training framework, whatever its syntax: keys, values,
// places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"

namespace headway::import {

/// One setting: `--num-layers 32`, `steps = 1000`, `zero_optimization: {stage: 3}`.
struct LaunchSetting {
  std::string key;                  ///< without leading dashes; sections dotted: "training.steps"
  std::vector<std::string> values;  ///< none: a bare flag
  core::SourceMark mark;
};

/// The settings of one file, in its order.
struct LaunchSettings {
  std::string file_name;
  std::vector<LaunchSetting> list;
  std::vector<std::string> remarks;  ///< what was passed over in reading, for people
};

/// Flags of a shell script or of a list of arguments. Read are words of commands, of arrays
/// (`ARGS=(--a 1)`), of quoted texts that start with a flag (`ARGS="--a 1 --b"`), each where it is
/// written. `$NAME`, `${NAME:-default}` and `$((sums))` are replaced by what the file sets above;
/// what it does not set stays as it is written. Conditions and loops are not evaluated: what stands
/// in them is read as if it ran. An option of Slurm (`#SBATCH --nodes=4`) is "sbatch-nodes", a
/// plain variable is "$NAME".
/// @throws core::Error for a quote or bracket that is not closed
LaunchSettings read_shell_settings(std::string_view text, const std::string& file_name);

/// Every value of a TOML file.
/// @throws core::Error with line and column if it is none
LaunchSettings read_toml_settings(std::string_view text, const std::string& file_name);

/// Every value of a JSON object.
/// @throws core::Error with line and column if it is none
LaunchSettings read_json_settings(std::string_view text, const std::string& file_name);

}  // namespace headway::import

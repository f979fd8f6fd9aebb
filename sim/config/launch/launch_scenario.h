// Between scenarios and the runs that files of training frameworks describe.
#pragma once

#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/import/launch/launch_run.h"
#include "sim/import/launch/launch_table.h"
#include "sim/training/check.h"

namespace headway::config {

/// The run of a scenario, normalised.
import::LaunchRun run_of(const training::CheckedScenario& checked);

/// What a scenario is made of beside the run that was imported.
struct LaunchFrame {
  std::string name;                   ///< of the scenario
  std::string cluster;                ///< the text behind "cluster:", a line or an indented block
  std::string model_entry;            ///< `use:` of the model, or empty: written out
  workload::ModelSpec model;          ///< that entry: what equals it is left out
  std::string framework_entry;        ///< `use:` of the software
  workload::FrameworkSpec framework;  ///< that entry
};

/// The text of a scenario: only what differs from defaults and entries is written.
std::string launch_scenario_text(const import::LaunchRun& run, const LaunchFrame& frame);

/// One value that the settings of a framework say otherwise than the scenario, or not at all.
struct Unsaid {
  std::string path;   ///< dotted, as in a scenario
  std::string asked;  ///< in the scenario
  std::string said;   ///< as the settings are read
};

/// What is lost when the run is written with the rows of the table and read again: differences of
/// model, recipe and layout; of the software only what the table has rows for. Of a framework whose
/// files are only written: what differs from its default and has no row.
std::vector<Unsaid> unsaid(const import::LaunchTable& table, const import::LaunchRun& run);

/// The text of a launch file as settings.
/// @throws core::Error with line and column if it is none, or larger than a file that starts a run
import::LaunchSettings read_launch_settings(import::LaunchSyntax syntax,
                                            const std::string& text,
                                            const std::string& file_name);

/// The entry of the catalogue that describes this model, or empty.
std::string model_entry_like(const workload::ModelSpec& model,
                             const std::vector<std::filesystem::path>& roots);

/// Every value of a YAML file as settings; "${a.b}" is replaced by the value of that key.
/// @throws core::Error with line and column if it is none
import::LaunchSettings read_yaml_settings(const std::string& text, const std::string& file_name);

}  // namespace headway::config

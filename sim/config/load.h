// From a YAML file to a spec struct with the place and the source of every value.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.h"
#include "sim/training/scenario.h"

namespace headway::config {

/// Where names of `use:` are looked up, and what the command line changes.
struct LoadOptions {
  /// Configuration folders in order: those of HEADWAY_CONFIGS, the installed share, the source
  /// tree's `configs`. An entry is `<root>/<kind>/<name>.yaml`. The folder of the file itself comes
  /// first.
  std::vector<std::filesystem::path> roots;
  /// Changes as "a.b=c" (`--set`), applied in order.
  std::vector<std::string> set;
};

/// Where a figure comes from, in the words of the files: dotted path -> text of `source:`.
/// A mapping's source covers the values in it that have none of their own.
using Sources = std::map<std::string, std::string, std::less<>>;

/// Standard errors of fitted figures, relative to the value: dotted path -> number of
/// `standard_error:` beside `value:`.
using StandardErrors = std::map<std::string, double, std::less<>>;

/// The source of `path`, or of its nearest parent that has one; empty if none has.
std::string find_source(const Sources& sources, std::string_view path);

/// A spec as read, with defaults filled in, and where each value was written.
template <class Spec>
struct Loaded {
  Spec spec;
  core::SourceMarks marks;
  Sources sources;
  StandardErrors standard_errors;
  std::string
      canonical_text;  ///< the resolved spec as YAML, all defaults written out: input of digests
  std::vector<std::string> files;  ///< every file that was read, in order
};

/// A scenario as read; `training::check(loaded.scenario, loaded.marks)` comes next.
struct LoadedScenario {
  training::Scenario scenario;
  core::SourceMarks marks;
  Sources sources;
  StandardErrors standard_errors;
  std::string canonical_text;        ///< the resolved scenario as YAML: input of `scenario.digest`
  std::vector<std::string> files;    ///< every file that was read, in order
  std::vector<std::string> remarks;  ///< on files of other tools that it names, a sentence each
};

/// Reads a scenario file, the files it uses, and the changes of `options.set`.
/// @throws core::Error with all complaints together
LoadedScenario load_scenario(const std::filesystem::path& path, const LoadOptions& options = {});

/// The same from text; `file_name` is printed in errors, and its folder is where relative `use:`
/// start.
LoadedScenario load_scenario_text(std::string_view text,
                                  const std::filesystem::path& file_name,
                                  const LoadOptions& options = {});

/// Reads one catalogue entry. Instantiated for every spec of `catalogue_kinds()`.
/// @throws core::Error with all complaints together
template <class Spec>
Loaded<Spec> load_entry(const std::filesystem::path& path, const LoadOptions& options = {});

/// The kind (folder name) of a configuration file: "scenarios" if it has the key `headway`, the
/// name of its folder if that is a catalogue folder, else the kind whose required keys the file
/// has, else "scenarios".
std::string kind_of_file(const std::filesystem::path& path);

/// Reads a catalogue or scenario file of the kind that `kind_of_file` says; the rules across fields
/// of a scenario (`training::check`) are not applied.
/// @throws core::Error with all complaints together
void check_entry(const std::filesystem::path& path, const LoadOptions& options = {});

/// Some values of an entry, as YAML writes them; a dash where it has none.
/// @param keys  dotted paths, such as "scale_up.bandwidth"
/// @throws core::Error with all complaints together
std::vector<std::string> entry_values(const std::filesystem::path& path,
                                      const std::vector<std::string_view>& keys,
                                      const LoadOptions& options = {});

/// The scenario as YAML text that reads back to an equal scenario; all defaults are written out.
std::string write_scenario(const training::Scenario& scenario);

/// One value of a scenario as YAML writes it, with its unit.
/// @param path  as `--set` takes it, such as "run.checkpoint.interval" or
/// "run.failures.hazards[2].mtbf"
/// @returns     empty where the scenario has no single value there
std::string value_text(const training::Scenario& scenario, std::string_view path);

/// The folders of the catalogue: gpus, nodes, fabrics, storage, models, ...
std::vector<std::string> catalogue_kinds();

/// One entry of the catalogue.
struct CatalogueEntry {
  std::string name;            ///< what `use:` takes
  std::filesystem::path path;  ///< the file
};

/// The entries of one kind, by name; where two roots have the same name, the first root's counts.
/// @throws core::Error if `kind` is no catalogue folder
std::vector<CatalogueEntry> list_entries(std::string_view kind,
                                         const std::vector<std::filesystem::path>& roots);

}  // namespace headway::config

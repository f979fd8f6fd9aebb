// Configuration files on disk: finding catalogue entries by name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::config {

/// Where an entry may be.
struct EntryQuery {
  std::string_view name;                            ///< as in `use: name`
  std::string_view kind;                            ///< folder of the catalogue; empty: none
  const std::filesystem::path& folder;              ///< of the file that says `use:`
  const std::vector<std::filesystem::path>& roots;  ///< configuration folders in order
};

/// Configuration folders that exist: those of HEADWAY_CONFIGS, then the first of these two that is
/// there: an installation never looks into the tree that it was built from.
/// @param installed  beside the running program
/// @param source     of the tree that it was built from
/// @throws core::Error if HEADWAY_CONFIGS names a folder that does not exist
std::vector<std::filesystem::path> config_roots(const std::filesystem::path& installed,
                                                const std::filesystem::path& source);

/// True if `name` is a path ("./x.yaml", "../nodes/x.yaml", "x.yaml") and not a catalogue name.
bool is_path(std::string_view name);

/// Files that `use:` may mean, best first: beside the file, then in its configuration folder, then
/// in the roots.
std::vector<std::filesystem::path> candidates(const EntryQuery& query);

/// Names that exist in the folders `candidates` looks in, sorted.
std::vector<std::string> known_names(const EntryQuery& query);

}  // namespace headway::config

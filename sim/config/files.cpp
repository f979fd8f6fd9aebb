#include "sim/config/files.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

#include "sim/config/spec_type.h"
#include "sim/core/error.h"
#include "sim/core/shown_text.h"

namespace headway::config {

namespace fs = std::filesystem;

namespace {

/// Folders in which entries of the kind lie, the nearest first.
std::vector<fs::path> entry_folders(const EntryQuery& query) {
  std::vector<fs::path> folders{query.folder};
  if (query.kind.empty()) {
    return folders;
  }
  folders.push_back(query.folder / query.kind);
  // A file of the catalogue uses its own catalogue, whatever the roots are.
  const fs::path own_folder = query.folder.lexically_normal().filename();
  if (find_kind(own_folder.string()) != nullptr) {
    folders.push_back(query.folder.parent_path() / query.kind);
  }
  for (const fs::path& root : query.roots) {
    folders.push_back(root / query.kind);
  }
  return folders;
}

}  // namespace

std::vector<fs::path> config_roots(const fs::path& installed, const fs::path& source) {
  std::vector<fs::path> roots;
  const char* variable = std::getenv("HEADWAY_CONFIGS");
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) {
      continue;
    }
    std::error_code why;
    if (!fs::is_directory(folder, why)) {
      const bool missing = !why || why == std::errc::no_such_file_or_directory;
      throw core::Error(fmt::format("HEADWAY_CONFIGS names '{}', which is no folder{}",
                                    core::shortened(folder), missing ? "" : ": " + why.message()));
    }
    roots.emplace_back(folder);
  }
  for (const fs::path& root : {installed, source}) {
    std::error_code ignored;
    if (!root.empty() && fs::is_directory(root, ignored)) {
      roots.push_back(root);
      break;
    }
  }
  return roots;
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".yaml") ||
         name.ends_with(".yml");
}

std::vector<fs::path> candidates(const EntryQuery& query) {
  if (is_path(query.name)) {
    return {(query.folder / query.name).lexically_normal()};
  }
  std::vector<fs::path> files;
  for (const fs::path& folder : entry_folders(query)) {
    files.push_back((folder / (std::string(query.name) + ".yaml")).lexically_normal());
  }
  return files;
}

std::vector<std::string> known_names(const EntryQuery& query) {
  std::set<std::string> names;
  for (const fs::path& folder : entry_folders(query)) {
    // What lies beside a scenario may be anything; only folders of the kind are worth a suggestion.
    if (folder.lexically_normal().filename() != query.kind) {
      continue;
    }
    std::error_code missing;
    for (const auto& file : fs::directory_iterator(folder, missing)) {
      if (file.path().extension() == ".yaml") {
        names.insert(file.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace headway::config

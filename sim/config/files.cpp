#include "sim/config/files.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

#include "sim/config/spec_type.h"
#include "sim/core/error.h"

namespace headway::config {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20U;

[[noreturn]] void fail(const fs::path& path, std::string message) {
  throw core::Error(core::SourceMark{path.string(), 0, 0, 1, ""}, std::move(message));
}

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

std::string read_text_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    fail(path, "there is no such file");
  }
  if (fs::is_directory(path, ignored)) {
    fail(path, "is a directory; name a file in it");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    fail(path, "cannot be opened for reading");
  }
  // Reads at most one byte over the limit, so that a device without an end is refused as well.
  std::string text(kLargestFile + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) {
    fail(path, "cannot be read to its end");
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kLargestFile) {
    fail(path, "is larger than 16 MiB; this is no configuration file");
  }
  text.shrink_to_fit();
  return text;
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

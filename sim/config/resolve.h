// Replaces every `use:` and `huggingface:` in a tree by what it names, with the overrides laid over
// it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/config/spec_type.h"
#include "sim/config/tree.h"

namespace headway::config {

/// What one load keeps: the files, the complaints, and which files are open (to find circles).
struct LoadState {
  const LoadOptions& options;
  SourceFiles files;
  std::vector<std::string> files_read;
  std::vector<std::string> remarks;  ///< on files of other tools, a sentence each
  Complaints complaints;
  std::vector<const SourceFile*>
      open;  ///< chain of `use:` from the first file to the one being read
};

/// Reads and parses a file; its top must be a mapping, and a scenario's format version must be
/// ours.
/// @throws core::Error
Node read_tree(LoadState& state, const std::filesystem::path& path, const SpecType& type);

/// The same for text that is in memory.
Node parse_tree(LoadState& state, SourceFile file, const SpecType& type);

/// Resolves `node`, a value of `type`, in place. What cannot be resolved is complained about and
/// left broken.
void resolve(LoadState& state, Node& node, const SpecType& type);

/// Reads the file that `training.documents: lengths.csv` names, beside the file that says so.
void read_length_file(LoadState& state, Node& root, const SpecType& scenario);

/// Lays `over` upon `base`: mappings merge key by key; scalars, lists and mappings with a `use:` of
/// their own replace what was there.
void lay_over(Node& base, Node over);

}  // namespace headway::config

// What somebody meant who wrote a key or a name of the catalogue that does not exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/spec_type.h"

namespace headway::config {

/// One key of scenario files and where it stands.
struct KeyPath {
  std::string path;  ///< "run.failures.hazards[].mtbf"
  const Field* field = nullptr;
  std::string_view record;  ///< the struct that has it
};

/// Every key of scenario files in their order; a path of a list ends in "[]".
const std::vector<KeyPath>& scenario_keys();

/// Keys that `text` may mean: a whole path, the end of one, or a name alone; scenario files only.
std::vector<KeyPath> find_keys(std::string_view text);

/// What to say behind "unknown key 'x'" in a mapping of this type: a key of it that is spelled
/// nearly so, that is abbreviated so (seq_length), that is known by that name elsewhere (tp), or
/// the places of a scenario that have such a key. Empty where nothing comes near.
std::string key_suggestion(std::string_view key, const SpecType& where);

/// Whether frameworks and people have this name for a key of ours.
bool is_other_name(std::string_view key);

/// The word of a list that somebody meant: one that has another name elsewhere (fsdp), or is
/// spelled nearly so.
std::optional<std::string> word_suggestion(std::string_view word,
                                           const std::vector<std::string>& known);

/// What to say behind "there is no entry 'x'": the entries that have all parts of the name, one
/// that is spelled nearly so, or those that hold it; at most six.
std::string entry_suggestion(std::string_view name, const std::vector<std::string>& known);

}  // namespace headway::config

// What a page needs to show a scenario as a form: its fields, their values, where they were
// written.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/load.h"

namespace headway::config {

/// The fields of scenarios as JSON: {"root": the struct of a scenario, "types": {struct:
/// {"catalogue", "fields": [{"key", "about", "shape", "required", "range", "default", ...}]}},
/// "units": {dimension: spellings}, "catalogue": {kind: names of its entries}}. `shape` is number,
/// integer, flag, text, quantity, word, record or list; `optional` and `auto` say what stands for
/// no value.
/// @param roots  where the entries of the catalogue are
std::string form_json(const std::vector<std::filesystem::path>& roots);

/// Of a list in a form.
inline constexpr std::size_t kMostShownItems = 40;

/// The values of a scenario as JSON: nested like its fields, each as a file writes it.
/// @param most_items  a longer list is the number of its items
std::string values_json(const training::Scenario& scenario,
                        std::size_t most_items = kMostShownItems);

/// A scenario that is being edited: the text of a file, and changes over it.
struct EditedScenario {
  std::string text;
  std::filesystem::path file_name;  ///< as in `load_scenario_text`
  LoadOptions options;
};

/// The entries that a scenario uses by name: dotted path -> entry.
/// @throws core::Error if the text is no mapping in YAML
std::map<std::string, std::string> used_entries(const EditedScenario& edited);

/// The field that a complaint is about: that of its `--set`, or the one at its place in the text;
/// empty where it is of another file or of none.
std::string field_of(const EditedScenario& edited, const core::SourceMark& mark);

/// The text with the changes written into it; `use:` stays as it is, comments are lost. Changes
/// with an index are of lists that may be in other files: with one of them all values are written
/// out.
/// @throws core::Error if the scenario cannot be read
std::string changed_text(const EditedScenario& edited);

}  // namespace headway::config

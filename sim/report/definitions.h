// What every printed figure means: the page docs/definitions.md is written from this list.
#pragma once

#include <string>
#include <vector>

namespace headway::report {

/// One figure of the JSON result.
struct Definition {
  std::string figure;   ///< dotted path
  std::string unit;     ///< SI, or "1" for a ratio
  std::string meaning;  ///< formula and convention
};

/// Figures of one part of the result.
struct DefinitionSection {
  std::string title;
  std::string preface;
  std::vector<Definition> definitions;
};

/// All figures of `headway run`, in the order of its JSON.
std::vector<DefinitionSection> definitions();

/// The page as Markdown.
std::string definitions_page();

}  // namespace headway::report

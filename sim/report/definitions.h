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

/// All figures of `headway run` in the order of its JSON, then those of the other verbs.
std::vector<DefinitionSection> definitions();

/// Figures that only the tables of `headway run` have, and those of compare, plan and validate.
std::vector<DefinitionSection> definitions_of_other_verbs();

/// The line that ends texts with figures, but for the sentence that matters.
inline constexpr const char* kWhereDefined = "Figures are defined in docs/definitions.md.";

/// The page as Markdown.
std::string definitions_page();

}  // namespace headway::report

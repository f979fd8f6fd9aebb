// What every printed figure means, from the field lists: the page docs/definitions.md.
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

/// All figures by verb, in the order of the JSON; `headway run` first.
std::vector<DefinitionSection> definitions();

/// The line that ends texts with figures, but for the sentence that matters.
inline constexpr const char* kWhereDefined = "Figures are defined in docs/definitions.md.";

/// The page as Markdown.
std::string definitions_page();

}  // namespace headway::report

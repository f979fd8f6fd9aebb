// Documents whose tables, charts and sentences belong to sections, of which --show picks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/table.h"

namespace headway::report {

/// A document in sections. What is of the section "" is always shown.
struct SectionedDocument {
  template <class Part>
  using Parts = std::vector<std::pair<std::string_view, Part>>;

  std::string title;
  std::vector<std::string> opening{};
  Parts<Table> tables{};
  Parts<TextChart> charts{};
  Parts<std::string> closing{};
};

/// Of a document the sections that are asked for; one that it has not is told by a sentence.
/// @param show  sections; none: all
/// @param why   of a section that is not there, as ": the scenario has no run.until"; or nothing
Document shown(SectionedDocument document,
               const std::vector<std::string>& show,
               const std::function<std::string(std::string_view)>& why = {});

}  // namespace headway::report

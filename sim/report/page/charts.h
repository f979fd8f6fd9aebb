// Vega-Lite specifications of a result's charts, written from its JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/read_result.h"

namespace headway::report {

/// One chart: what it shows, and how.
struct Chart {
  std::string id;     ///< of the element, unique in a page
  std::string title;  ///< also what a screen reader says
  Json specification;
};

/// The charts that a result of any verb has; what it lacks, it has no chart of. Width is that of
/// the page.
std::vector<Chart> charts_of(const ReadResult& result);

/// The timeline of the pipeline as a chart, for those that have no canvas of ours (notebooks);
/// nothing where the result has none. Waits for other stages are what is left blank.
std::optional<Chart> timeline_chart(const ReadResult& result);

}  // namespace headway::report

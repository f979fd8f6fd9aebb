// Rows of tables that are written from the figures of a result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/figures.h"
#include "sim/report/table.h"

namespace headway::report {

/// How a figure is called in a table, and in which unit it stands there.
struct LabelledFigure {
  std::string_view label;  ///< with its unit, as "time [s]"
  std::string_view path;   ///< of the JSON result
  double scale = 1;        ///< unit of the figure / unit of the label
  bool share = false;      ///< printed as per cent with one decimal

  /// The figure as the table shows it; empty where it is absent. An interval is a range_text.
  [[nodiscard]] std::string cell(const core::Figure& result) const;
};

using LabelledFigures = std::vector<LabelledFigure>;

/// "4.10 to 4.30"; one figure where both ends are shown alike.
std::string range_text(const std::string& low, const std::string& high);

/// One row a figure that is there: label and cell.
std::vector<std::vector<std::string>> rows_of(const LabelledFigures& labelled,
                                              const core::Figure& result);

/// One row a distribution that is there: label, p5, p50, p95 and mean.
std::vector<std::vector<std::string>> spreads_of(const LabelledFigures& labelled,
                                                 const core::Figure& result);

/// A table for programs: a row for each of several results of one type, a column for each value
/// that the type has outside of lists of records and of maps, called by its path of the JSON result
/// and in its unit, unrounded; ends of an interval have a column each, the values of another list
/// stand in one cell. So the columns are the same whatever the results have.
/// @param type  core::figures_of_type of them
Table plain_table(const core::Figure& type, const std::vector<core::Figure>& results);

}  // namespace headway::report

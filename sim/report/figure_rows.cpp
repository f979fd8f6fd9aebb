#include "sim/report/figure_rows.h"

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/report/table.h"

namespace headway::report {

using core::Figure;

namespace {

/// @returns nullptr if the figure, or what it is part of, is absent
const Figure* present(const Figure& result, std::string_view path) {
  const Figure* figure = core::find_figure(result, path);
  return figure == nullptr || figure->absent ? nullptr : figure;
}

std::string shown(const LabelledFigure& how, const Figure& figure) {
  const auto value = core::value_of(figure);
  if (!value) {
    return "-";
  }
  return how.share ? percent(*value * how.scale) : number(*value * how.scale);
}

}  // namespace

std::string range_text(const std::string& low, const std::string& high) {
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string LabelledFigure::cell(const Figure& result) const {
  const Figure* figure = present(result, path);
  if (figure == nullptr) {
    return "";
  }
  return figure->kind == core::FigureKind::list
             ? range_text(shown(*this, figure->parts.front()), shown(*this, figure->parts.back()))
             : shown(*this, *figure);
}

std::vector<std::vector<std::string>> rows_of(const LabelledFigures& labelled,
                                              const Figure& result) {
  std::vector<std::vector<std::string>> rows;
  for (const LabelledFigure& row : labelled) {
    if (present(result, row.path) != nullptr) {
      rows.push_back({std::string(row.label), row.cell(result)});
    }
  }
  return rows;
}

std::vector<std::vector<std::string>> spreads_of(const LabelledFigures& labelled,
                                                 const Figure& result) {
  std::vector<std::vector<std::string>> rows;
  for (const LabelledFigure& row : labelled) {
    if (const Figure* spread = present(result, row.path)) {
      std::vector<std::string> cells{std::string(row.label)};
      for (const Figure& part : spread->parts) {
        cells.push_back(shown(row, part));
      }
      rows.push_back(std::move(cells));
    }
  }
  return rows;
}

}  // namespace headway::report

#include "sim/report/figure_rows.h"

#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/report/table.h"
#include "sim/study/words.h"

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
  constexpr double kPercent = 100;  // Source: the prefix
  return how.share               ? percent(*value * how.scale)
         : how.scale == kPercent ? study::percent_figures(*value)
                                 : number(*value * how.scale);
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

namespace {

bool has_parts(const Figure& figure) {
  return figure.kind == core::FigureKind::object || figure.kind == core::FigureKind::list ||
         figure.kind == core::FigureKind::map;
}

/// Paths of the cells of a row, in the order of the field lists.
void add_paths(const Figure& figure, const std::string& path, std::vector<std::string>& out) {
  using core::FigureKind;
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (figure.kind == FigureKind::object) {
    for (const Figure& part : figure.parts) {
      add_paths(part, below(part.key), out);
    }
  } else if (figure.kind == FigureKind::list && figure.length > 0) {
    for (std::size_t i = 0; i < figure.length; ++i) {
      add_paths(figure.parts.front(), fmt::format("{}[{}]", path, i), out);
    }
  } else if (figure.kind == FigureKind::list ? !has_parts(figure.parts.front())
                                             : figure.kind != FigureKind::map) {
    out.push_back(path);
  }
}

std::string plain(const Figure& figure) {
  using core::FigureKind;
  if (figure.absent) {
    return "";
  }
  switch (figure.kind) {
    case FigureKind::number:
      return fmt::format("{}", figure.number);
    case FigureKind::integer:
      return fmt::format("{}", figure.integer);
    case FigureKind::flag:
      return figure.integer != 0 ? "true" : "false";
    case FigureKind::list: {
      std::string all;
      for (const Figure& part : figure.parts) {
        all += (all.empty() ? "" : " ") + plain(part);
      }
      return all;
    }
    default:
      return figure.text;
  }
}

}  // namespace

Table plain_table(const Figure& type, const std::vector<Figure>& results) {
  std::vector<std::string> paths;
  add_paths(type, "", paths);
  Table table;
  for (const std::string& path : paths) {
    table.columns.push_back({path, false});
  }
  for (const Figure& result : results) {
    std::vector<std::string> cells;
    for (const std::string& path : paths) {
      const Figure* figure = present(result, path);
      cells.push_back(figure == nullptr ? "" : plain(*figure));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace headway::report

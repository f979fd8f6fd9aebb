#include "sim/report/text_chart.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/core/shown_text.h"
#include "sim/report/table.h"
#include "sim/report/wrap.h"

namespace headway::report {

namespace {

constexpr std::size_t kMostWidth = 80, kLeastWidth = 10, kLines = 9, kIndent = 2;

struct Range {
  double low = 0, high = 0;
  /// @returns  of so many cells the one in which the value falls
  [[nodiscard]] std::size_t cell(double value, std::size_t cells) const {
    const double share = (value - low) / (high - low);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(cells - 1)));
  }
};

template <class Value>
Range range_of(const std::vector<TextPoint>& points, const Value& value) {
  const auto [least, most] =
      std::minmax_element(points.begin(), points.end(),
                          [&](const auto& a, const auto& b) { return value(a) < value(b); });
  return {value(*least), value(*most)};
}

/// The points on a grid; nothing in a cell: null.
std::vector<std::vector<const TextPoint*>> grid_of(const TextChart& chart,
                                                   std::size_t columns,
                                                   const Range& x,
                                                   const Range& y) {
  std::vector<std::vector<const TextPoint*>> grid(kLines,
                                                  std::vector<const TextPoint*>(columns, nullptr));
  for (const TextPoint& point : chart.points) {
    const double across = chart.log_x ? std::log(point.x) : point.x;
    auto& cell = grid[kLines - 1 - y.cell(point.y, kLines)][x.cell(across, columns)];
    if (cell == nullptr || (point.stands_out && !cell->stands_out)) {
      cell = &point;
    }
  }
  return grid;
}

std::string line_of(const std::vector<const TextPoint*>& cells, const Page& page) {
  std::string line;
  std::size_t blank = 0;
  for (const TextPoint* point : cells) {
    if (point == nullptr) {
      ++blank;
      continue;
    }
    line += std::string(blank, ' ');
    line += point->stands_out ? toned(std::string(1, point->mark), Tone::good, page)
                              : std::string(1, point->mark);
    blank = 0;
  }
  return line;
}

/// Ends of the x axis, and what it is between them where that has room.
std::string foot(const TextChart& chart, std::size_t columns) {
  const Range x = range_of(chart.points, [](const TextPoint& p) { return p.x; });
  const std::string low = number(x.low), high = number(x.high);
  const std::string words = chart.x + (chart.log_x ? ", by its logarithm" : "");
  const std::size_t ends = low.size() + high.size();
  if (ends + words.size() + 4 > columns) {
    return ends + 1 > columns ? low : low + std::string(columns - ends, ' ') + high;
  }
  const std::size_t space = columns - ends - words.size();
  return low + std::string(space / 2, ' ') + words + std::string(space - space / 2, ' ') + high;
}

}  // namespace

std::string to_text(const TextChart& chart, const Page& page) {
  if (chart.points.empty()) {
    return "";
  }
  const Range y = range_of(chart.points, [](const TextPoint& p) { return p.y; });
  const Range x =
      range_of(chart.points, [&](const TextPoint& p) { return chart.log_x ? std::log(p.x) : p.x; });
  const std::string top = number(y.high), bottom = number(y.low);
  const std::size_t labels = std::max(top.size(), bottom.size());
  const std::size_t width = page.width == 0 ? kMostWidth : std::min(page.width, kMostWidth);
  const std::size_t left = kIndent + labels + 2;  // a blank and the axis
  if (!(x.high > x.low) || !(y.high > y.low) || width < left + kLeastWidth) {
    return "";
  }
  const std::size_t columns = width - left;
  std::string out = toned(paragraph(core::visible(chart.title), page.width), Tone::title, page) +
                    paragraph(chart.y, page.width, std::string(kIndent, ' '));
  const auto grid = grid_of(chart, columns, x, y);
  for (std::size_t l = 0; l < kLines; ++l) {
    const std::string label = l == 0 ? top : l + 1 == kLines ? bottom : "";
    out += fmt::format("{}{:>{}} {}{}\n", std::string(kIndent, ' '), label, labels,
                       toned("|", Tone::faint, page), line_of(grid[l], page));
  }
  const std::string margin(left - 1, ' ');
  out += margin + toned("+" + std::string(columns, '-'), Tone::faint, page) + "\n";
  return out + margin + " " + foot(chart, columns) + "\n";
}

}  // namespace headway::report

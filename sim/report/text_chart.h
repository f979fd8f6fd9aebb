// Small charts of characters, for terminals.
#pragma once

#include <string>
#include <vector>

namespace headway::report {

struct Page;

/// One point, and the character that stands for it.
struct TextPoint {
  double x = 0, y = 0;
  char mark = 'o';
  bool stands_out = false;  ///< coloured where there is colour; drawn over those that do not
};

/// Points in a plane: y goes up, x to the right.
struct TextChart {
  std::string title;  ///< says what the marks are
  std::string x, y;   ///< what is drawn, with its unit
  bool log_x = false;
  std::vector<TextPoint> points;
};

/// At most 80 columns wide. Of points that fall into one cell the first is seen, before all those
/// that stand out.
/// @returns  nothing where there are no two points apart in x and in y
std::string to_text(const TextChart& chart, const Page& page);

}  // namespace headway::report

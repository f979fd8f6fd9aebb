// One screen of a terminal: lines that are folded or cut to its width, and how many there may be.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/campaign/result.h"
#include "sim/report/table.h"

namespace headway::report {

/// A terminal as it has always been, less the line of the next prompt; a screen is made for it,
/// whatever the page allows more.
inline constexpr std::size_t kScreenWidth = 80, kScreenLines = 23;

/// The text, or its first words and "...", in at most `width` columns; its indent stays.
std::string elided(const std::string& text, std::size_t width);

/// Of figures between commas those that fit: the head of one would be a number without its unit.
std::string figures_that_fit(std::string text, std::size_t width);

/// " (4.10 to 4.30)"; nothing where that is what stands before it.
std::string spread_text(const std::string& middle, const std::string& low, const std::string& high);

/// "63.6 days (63.2 to 63.9)", each figure as `text` writes it.
std::string spread_of(const campaign::Distribution& spread,
                      const char* unit,
                      std::string (*text)(double) = number);

/// "2 warnings" and the like: how many, and of what.
std::string how_many(std::size_t number, const std::string& what);

/// Lines of a screen, from the top.
class Screen {
 public:
  /// @param page  must live as long
  explicit Screen(const Page& page);

  [[nodiscard]] std::size_t width() const { return width_; }
  /// Lines that are there.
  [[nodiscard]] std::size_t lines() const { return lines_.size(); }
  /// Lines that there is still room for.
  [[nodiscard]] std::size_t lines_left() const;

  void line(const std::string& text) { lines_.push_back(text); }
  /// A heading of what follows.
  void heading(const std::string& text);
  /// The scenario's name.
  void title(const std::string& text);
  /// A text in as many lines as it has.
  void toned_line(const std::string& text, Tone tone);
  /// "  label    text", in at most so many lines.
  void labelled(const std::string& label, const std::string& text, std::size_t most = 1);
  /// Likewise, one line, of figures between commas those that fit.
  void figures(const std::string& label, const std::string& text);
  /// A text behind `head`: a line, or two where one of those to `spare` is left.
  void roomy_line(const std::string& head, const std::string& text);
  /// "Warning: " and all of it: what is to be done about it stands at its end.
  void warning(const std::string& text);
  /// The lines that it takes.
  [[nodiscard]] std::size_t lines_of_warning(const std::string& text) const;
  /// The lines of a text that stands behind `head`.
  [[nodiscard]] std::vector<std::string> below(const std::string& head,
                                               const std::string& text) const;
  /// Of a table as many of its first rows, those that stay before others, as `most` lines hold with
  /// title, headings and folds, and a line that says how many more there are and which option shows
  /// them.
  void table(Table table, std::size_t most, const std::string& option);

  [[nodiscard]] std::string text() const;

  [[nodiscard]] const Page& page() const { return page_; }
  std::size_t spare = 0;  ///< lines that nothing needs

 private:
  const Page& page_;
  std::size_t width_;
  std::vector<std::string> lines_;
};

}  // namespace headway::report

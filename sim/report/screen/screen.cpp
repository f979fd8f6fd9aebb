#include "sim/report/screen/screen.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <utility>

#include "sim/core/shown_text.h"
#include "sim/report/figure_rows.h"
#include "sim/report/wrap.h"

namespace headway::report {

namespace {

constexpr std::size_t kLabel = 9;  // columns of a label, behind its indent of two
constexpr const char* kWarning = "Warning: ";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::string elided(const std::string& text, std::size_t width) {
  if (shown_width(text) <= width) {
    return text;
  }
  const std::size_t indent = text.find_first_not_of(' ');
  const std::size_t room = width > indent + 5 ? width - indent - 4 : 1;
  std::string line = text.substr(0, indent) + wrapped(text.substr(indent), room).front();
  line.erase(line.find_last_not_of(" ,;:") + 1);
  return line + " ...";
}

std::string figures_that_fit(std::string text, std::size_t width) {
  while (shown_width(text) > width && text.find(", ") != std::string::npos) {
    text.erase(text.rfind(", "));
  }
  return text;
}

std::string spread_text(const std::string& middle,
                        const std::string& low,
                        const std::string& high) {
  const std::string range = range_text(low, high);
  return range == middle ? "" : fmt::format(" ({})", range);
}

std::string spread_of(const campaign::Distribution& spread,
                      const char* unit,
                      std::string (*text)(double)) {
  const std::string median = text(spread.p50);
  return fmt::format("{} {}{}", median, unit,
                     spread_text(median, text(spread.p5), text(spread.p95)));
}

std::string how_many(std::size_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

Screen::Screen(const Page& page)
    : page_(page), width_(page.width == 0 ? kScreenWidth : std::min(page.width, kScreenWidth)) {}

std::size_t Screen::lines_left() const {
  return lines_.size() < kScreenLines ? kScreenLines - lines_.size() : 0;
}

void Screen::heading(const std::string& text) {
  line(toned(elided(text, width_), Tone::faint, page_));
}

void Screen::title(const std::string& text) {
  line(toned(elided(core::visible(text), width_), Tone::title, page_));
}

void Screen::toned_line(const std::string& text, Tone tone) {
  for (const auto& part : wrapped(core::visible(text), width_)) {
    line(toned(part, tone, page_));
  }
}

void Screen::labelled(const std::string& label, const std::string& text, std::size_t most) {
  const std::size_t indent = 2 + kLabel;
  const std::size_t room = width_ > indent + 4 ? width_ - indent : 4;
  auto parts = wrapped(core::visible(text), room);
  if (parts.size() > most) {
    std::string rest;
    for (std::size_t i = most - 1; i < parts.size(); ++i) {
      rest += (rest.empty() ? "" : " ") + parts[i];
    }
    parts.resize(most);
    parts.back() = elided(rest, room);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    line(fmt::format("  {:<{}}{}", i == 0 ? label : "", kLabel, parts[i]));
  }
}

void Screen::figures(const std::string& label, const std::string& text) {
  labelled(label, figures_that_fit(text, width_ > 2 + kLabel ? width_ - 2 - kLabel : 1));
}

void Screen::roomy_line(const std::string& head, const std::string& text) {
  const std::string shown = core::visible(text);
  const auto parts = below(head, shown);
  if (parts.size() == 2 && spare > 0) {
    line(head + parts[0]);
    line(std::string(shown_width(head), ' ') + parts[1]);
    --spare;
  } else {
    line(elided(head + shown, width_));
  }
}

void Screen::warning(const std::string& text) {
  std::string head = kWarning;
  for (const std::string& part : below(head, core::visible(text))) {
    line(toned(head + part, Tone::warning, page_));
    head.assign(head.size(), ' ');
  }
}

std::size_t Screen::lines_of_warning(const std::string& text) const {
  return below(kWarning, core::visible(text)).size();
}

std::vector<std::string> Screen::below(const std::string& head, const std::string& text) const {
  const std::size_t taken = shown_width(head);
  return wrapped(text, width_ > taken + 4 ? width_ - taken : 4);
}

namespace {

/// Drops the last row that need not stay, the first row before those that have to.
void drop_a_row(Table& table) {
  const auto stays = [&](std::size_t row) { return row < table.stays.size() && table.stays[row]; };
  std::size_t row = table.rows.size() - 1;
  while (row > 0 && stays(row)) {
    --row;
  }
  row = row == 0 ? table.rows.size() - 1 : row;
  table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(row));
  if (row < table.stays.size()) {
    table.stays.erase(table.stays.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

}  // namespace

void Screen::table(Table table, std::size_t most, const std::string& option) {
  const std::size_t all = table.rows.size();
  for (; !table.rows.empty(); drop_a_row(table)) {
    const auto shown = lines_of(to_text(table, {width_, page_.colour}));
    const std::size_t more = all == table.rows.size() ? 0 : 1;
    if (shown.size() + more <= most) {
      std::for_each(shown.begin(), shown.end(), [&](const std::string& text) { line(text); });
      break;
    }
  }
  if (table.rows.size() < all) {
    line(elided(table.rows.empty() ? fmt::format("  all {}: {}", all, option)
                                   : fmt::format("  {} more: {}", all - table.rows.size(), option),
                width_));
  }
}

std::string Screen::text() const {
  std::string out;
  for (const auto& line : lines_) {
    out += line + "\n";
  }
  return out;
}

}  // namespace headway::report

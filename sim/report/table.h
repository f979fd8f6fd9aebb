// Tables and documents as values, and their printing as aligned text, Markdown and CSV.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/text.h"
#include "sim/report/text_chart.h"

namespace headway::report {

using core::cell;
using core::count;
using core::number;
using core::percent;

/// Text stands left, numbers stand right; a heading carries the unit, as "time [s]".
struct Column {
  std::string heading;
  bool numeric = true;
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
  bool last_row_is_total = false;              ///< a rule is drawn above it
  std::vector<bool> stays{};  ///< of each row, what a screen leaves out last; empty: of none
};

/// A title, sentences, tables, charts, sentences.
struct Document {
  std::string title;
  std::vector<std::string> opening;
  std::vector<Table> tables;
  std::vector<std::string> closing;  ///< the last says what limits the run
  std::vector<TextChart> charts{};
};

/// Where text is shown.
struct Page {
  std::size_t width = 0;  ///< columns; 0: lines as long as they are
  bool colour = false;    ///< headings, warnings and the last sentence stand out
};

/// Aligned text. Tables that are wider than the page are folded: headings and text in several
/// lines, and columns that still have no room below the others, each time beside the first one.
std::string to_text(const Table& table, const Page& page = {});
std::string to_text(const Document& document, const Page& page = {});
std::string to_markdown(const Table& table);
std::string to_markdown(const Document& document);

/// The text as a terminal shows it in that style; as it is where the page has no colour.
enum class Tone { title, good, warning, bad, faint };
std::string toned(const std::string& text, Tone tone, const Page& page);

/// One line for the headings, one a row; fields quoted where RFC 4180 asks for it, numbers without
/// separators of thousands.
std::string to_csv(const Table& table);
/// One CSV field, quoted where RFC 4180 asks for it.
std::string csv_field(const std::string& text);

}  // namespace headway::report

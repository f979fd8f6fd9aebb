// The few pieces of HTML that a report is made of; every text is escaped here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/result_json.h"
#include "sim/report/table.h"

namespace headway::report {

/// Text as HTML shows it, in elements and in attributes between double quotes.
std::string escaped(std::string_view text);

/// A value as people read it; of lists their members.
std::string text_of(const Json& value);

/// <name attributes>inner</name>
/// @param inner  HTML
std::string element(std::string_view name,
                    const std::string& inner,
                    const std::vector<std::pair<std::string, std::string>>& attributes = {});

/// A value inside the page for its script: nothing in it ends the script element.
std::string embedded_json(const Json& json,
                          const std::string& id,
                          const std::string& css_class = "");

/// A table with a caption; numbers stand right.
std::string html_table(const Table& table);

/// Rows of one table; more are in the JSON.
inline constexpr std::size_t kMostRows = 400;

/// Under a table that has no more than these: how many rows there are beside them; HTML, empty if
/// none.
/// @param rows  of the list
std::string cut_note(std::size_t rows);

/// What the reader may open: a summary and what it hides.
std::string folded(const std::string& summary, const std::string& inner, bool open = false);

}  // namespace headway::report

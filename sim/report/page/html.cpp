#include "sim/report/page/html.h"

#include <cctype>
#include <fmt/format.h>

namespace headway::report {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string text_of(const Json& value) {
  if (value.is_null()) {
    return "-";
  }
  if (value.is_number_float()) {
    return number(value.get<double>());
  }
  if (value.is_number()) {
    return count(value.get<double>());
  }
  if (value.is_boolean()) {
    return value.get<bool>() ? "yes" : "no";
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  std::string list;
  for (const auto& item : value) {
    list += (list.empty() ? "" : ", ") + (item.is_object() ? "..." : text_of(item));
  }
  return list;
}

std::string element(std::string_view name,
                    const std::string& inner,
                    const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::string tag(name);
  for (const auto& [key, value] : attributes) {
    tag += fmt::format(" {}=\"{}\"", key, escaped(value));
  }
  return fmt::format("<{}>{}</{}>\n", tag, inner, name);
}

std::string embedded_json(const Json& json, const std::string& id, const std::string& css_class) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    // Only texts hold it, and there it may be written so.
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return element("script", safe, {{"type", "application/json"}, {"id", id}, {"class", css_class}});
}

namespace {

/// A heading that may be broken behind each part of its name, as in
/// "predicted_tokens_per_s_per_gpu": columns of numbers are narrow, and what is wider lies over its
/// neighbour.
std::string breakable(const std::string& heading) {
  std::string html;
  const std::string text = escaped(heading);
  for (std::size_t i = 0; i < text.size(); ++i) {
    html += text[i];
    const bool number =
        i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (text[i] == '_' || (text[i] == '.' && !number)) {
      html += "<wbr>";
    }
  }
  return html;
}

}  // namespace

std::string html_table(const Table& table) {
  std::string head;
  for (const auto& column : table.columns) {
    head += element("th", breakable(column.heading),
                    {{"scope", "col"}, {"class", column.numeric ? "number" : "text"}});
  }
  std::string rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::string cells;  // there are tens of thousands, so each is as short as it can be
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      cells += (table.columns[c].numeric ? "<td>" : "<td class=text>") + escaped(table.rows[r][c]) +
               "</td>";
    }
    const bool total = table.last_row_is_total && r + 1 == table.rows.size();
    rows += (total ? "<tr class=total>" : "<tr>") + cells + "</tr>\n";
  }
  const std::string caption = table.title.empty() ? "" : element("caption", escaped(table.title));
  return element(
      "div",
      element("table", caption + element("thead", element("tr", head)) + element("tbody", rows)),
      {{"class", "table"}});
}

std::string cut_note(std::size_t rows) {
  return rows > kMostRows
             ? element("p", fmt::format("{} more rows are in the result's file.", rows - kMostRows))
             : "";
}

std::string folded(const std::string& summary, const std::string& inner, bool open) {
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  return element("details", element("summary", escaped(summary)) + inner,
                 open ? Attributes{{"open", ""}} : Attributes{});
}

}  // namespace headway::report

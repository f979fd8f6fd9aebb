#include "sim/report/page/answer_tables.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

#include "sim/report/page/figure_words.h"
#include "sim/report/page/html.h"
#include "sim/report/page/tiles.h"
#include "sim/report/points/alike_reasons.h"
#include "sim/report/points/sweep_report.h"
#include "sim/report/read_result.h"

namespace headway::report {

namespace {

/// What a plan has under one heading; where no plan has it, the column is left out.
struct PlanColumn {
  const char* heading;
  std::string_view path;
};

/// The member at a dotted path; null where there is none.
const Json& member(const Json& object, std::string_view path) {
  const Json* found = &object;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    found = &at(*found, {std::string(path.substr(begin, end - begin)).c_str()});
    begin = end + 1;
  }
  return *found;
}

std::string table_of_plans(const Json& plans) {
  static constexpr std::array columns{PlanColumn{"step [s]", "step.time_s"},
                                      PlanColumn{"days, median", "campaign.wall_days.p50"},
                                      PlanColumn{"USD, median", "cost.total_usd.p50"},
                                      PlanColumn{"MFU [%]", "step.mfu"},
                                      PlanColumn{"GiB at the peak", "memory.peak_bytes"},
                                      PlanColumn{"machine", "machine"},
                                      PlanColumn{"nodes", "nodes"},
                                      PlanColumn{"GPUs", "gpus"},
                                      PlanColumn{"variants", "variants"}};
  Table table{"", {{"plan", false}, {"layout", false}}, {}, false};
  std::vector<const PlanColumn*> shown;
  for (const PlanColumn& column : columns) {
    const bool any = std::any_of(plans.begin(), plans.end(), [&](const Json& plan) {
      const Json& value = member(plan, column.path);
      return !value.is_null() && value != "";
    });
    if (any) {
      shown.push_back(&column);
      table.columns.push_back({column.heading, column.path != "machine"});
    }
  }
  for (const Json& plan : plans) {
    if (table.rows.size() == kMostRows) {
      break;
    }
    const char* front = plan["pareto"] == true ? "*" : "";
    std::vector<std::string> row{fmt::format("{}{}", table.rows.size() + 1, front),
                                 text_at(plan, {"name"})};
    for (const PlanColumn* column : shown) {
      row.push_back(figure_number(kRunSchema, column->path, member(plan, column->path)));
    }
    table.rows.push_back(std::move(row));
  }
  return element("div", html_table(table) + cut_note(plans.size()), {{"data-list", "plans"}}) +
         element("p", "* is on the Pareto front; every figure of each plan is below.",
                 {{"class", "soft"}});
}

std::string sides_table(const Json& result) {
  constexpr const char* kCompare = "headway.compare/1";
  Table table{"", {{"figure", false}, {"A"}, {"B"}, {"B beside A"}}, {}, false};
  const Json& a = at(result, {"a", "figures"});
  for (const auto& [key, value] : a.items()) {
    const Json& other = at(result, {"b", "figures", key.c_str()});
    if (value.is_boolean() || (value.is_null() && other.is_null())) {
      continue;
    }
    const std::string path = "a.figures." + key;
    const std::string change = change_of_sides(result, key.c_str());
    const std::string unit = figure_unit(kCompare, path);
    table.rows.push_back({figure_name(key) + (unit.empty() ? "" : fmt::format(" [{}]", unit)),
                          figure_number(kCompare, path, value),
                          figure_number(kCompare, path, other), change.empty() ? "-" : change});
  }
  return html_table(table);
}

/// Which inputs of a comparison differ.
std::string inputs_table(const Json& differences) {
  Table table{"", {{"key", false}, {"A", false}, {"B", false}}, {}, false};
  for (const Json& difference : differences) {
    if (table.rows.size() == kMostRows) {
      break;
    }
    table.rows.push_back(
        {text_of(difference["key"]), text_of(difference["a"]), text_of(difference["b"])});
  }
  return table.rows.empty() ? ""
                            : element("h2", "Inputs that differ") + html_table(table) +
                                  cut_note(differences.size());
}

/// Keys that any row has, in order of their first use.
std::vector<std::string> keys_of(const Json& rows, const char* part) {
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    for (const auto& [key, value] : at(row, {part}).items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

/// "points 0, 1, 2", or with how many where that is long: "14 points, 0 to 27".
std::string points_of(const std::vector<std::int64_t>& points) {
  constexpr std::size_t kFew = 12;
  if (points.size() > kFew) {
    return fmt::format("{} points, {} to {}", points.size(), points.front(), points.back());
  }
  return fmt::format("point{} {}", points.size() == 1 ? "" : "s", fmt::join(points, ", "));
}

/// Why points have no figures, a line a reason: in the table itself they would make it far wider
/// than a page.
std::string reasons_list(const Json& rows) {
  AlikeReasons reasons;
  for (const Json& row : rows) {
    reasons.add(row["point"].get<std::int64_t>(), text_at(row, {"status"}),
                text_at(row, {"reason"}));
  }
  std::string list;
  for (std::size_t i = 0; i < std::min(reasons.all().size(), kMostRows); ++i) {
    const AlikeReason& alike = reasons.all()[i];
    list += element("li", escaped(fmt::format("{}: {}", points_of(alike.points), alike.words())));
  }
  return list.empty() ? "" : folded("Why points do not work", element("ul", list), true);
}

std::string points_table(const Json& rows) {
  const auto changed = keys_of(rows, "changes");
  const auto figures = keys_of(rows, "figures");
  Table table{"", {{"point"}}, {}, false};
  for (const auto& key : changed) {
    table.columns.push_back({key, false});
  }
  table.columns.push_back({"status", false});
  for (const auto& path : figures) {
    table.columns.push_back({figure_heading(kRunSchema, path)});
  }
  for (const Json& row : rows) {
    if (table.rows.size() == kMostRows) {
      break;
    }
    std::vector<std::string> cells{text_of(row["point"])};
    for (const auto& key : changed) {
      cells.push_back(text_of(at(row, {"changes", key.c_str()})));
    }
    cells.push_back(text_at(row, {"status"}) +
                    (text_at(row, {"memory_warning"}).empty() ? "" : kNearlyFull));
    for (const auto& path : figures) {
      cells.push_back(figure_number(kRunSchema, path, at(row, {"figures", path.c_str()})));
    }
    table.rows.push_back(std::move(cells));
  }
  return html_table(table) + cut_note(rows.size()) + reasons_list(rows);
}

/// Words of a command line: blanks inside quotes are part of them, and quotes are kept.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : command) {
    if (c == ' ' && quote == 0) {
      words.push_back(std::move(word));
      word.clear();
      continue;
    }
    if (c == '\'' || c == '"') {
      quote = quote == 0 ? c : quote == c ? '\0' : quote;
    }
    word += c;
  }
  words.push_back(std::move(word));
  return words;
}

/// Where output goes, with how many words follow; "--out=x" is one word.
struct OutputOption {
  std::string_view name;
  int values;
};
constexpr std::array kOutputs{OutputOption{"--force", 0}, OutputOption{"--quiet", 0},
                              OutputOption{"--full", 0},  OutputOption{"--report", 1},
                              OutputOption{"--out", 1},   OutputOption{"--format", 1},
                              OutputOption{"--trace", 1}, OutputOption{"--trace-run", 1},
                              OutputOption{"--color", 1}, OutputOption{"--show", 1}};

}  // namespace

std::string answer_table(const Json& result) {
  const std::string schema = text_at(result, {"schema"});
  if (schema == "headway.plan/1" && !at(result, {"plans"}).empty()) {
    return element("h2", "Plans") + table_of_plans(at(result, {"plans"}));
  }
  if (schema == "headway.compare/1") {
    return inputs_table(at(result, {"differences"})) + element("h2", "Side by side") +
           sides_table(result);
  }
  if (schema == "headway.sweep/1") {
    return element("h2", "Points") + points_table(at(result, {"rows"}));
  }
  return "";
}

std::string shown_command(const std::string& command) {
  std::string shown;
  int skipped = 0;
  for (const std::string& word : words_of(command)) {
    const auto* output =
        std::find_if(kOutputs.begin(), kOutputs.end(), [&](const OutputOption& option) {
          return word == option.name || word.starts_with(std::string(option.name) + "=");
        });
    if (skipped > 0) {
      --skipped;
    } else if (output != kOutputs.end()) {
      skipped = word == output->name ? output->values : 0;
    } else {
      shown += (shown.empty() ? "" : " ") + word;
    }
  }
  return shown;
}

}  // namespace headway::report

#include "sim/report/points/sweep_report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/report/definitions.h"
#include "sim/report/points/alike_reasons.h"
#include "sim/report/result_json.h"
#include "sim/study/words.h"

namespace headway::report {

using namespace core::literals;

namespace {

using study::PointStatus;
using study::SweepReport;
using study::SweepRow;

constexpr const char* kManifest = "headway.sweep-folder/1";

/// Rows of a table that people read; beyond, the best.
constexpr std::size_t kMostShownPoints = 40;

/// Every field that some row changes, in the order of their first appearance.
std::vector<std::string> changed_keys(const std::vector<SweepRow>& rows) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (const SweepRow& row : rows) {
    for (const auto& [key, value] : row.changes) {
      if (seen.insert(key).second) {
        keys.push_back(key);
      }
    }
  }
  return keys;
}

std::vector<std::string> figure_paths(const std::vector<SweepRow>& rows) {
  std::vector<std::string> paths;
  if (!rows.empty()) {
    for (const auto& [path, value] : rows.front().figures) {
      paths.push_back(path);
    }
  }
  return paths;
}

std::string change_of(const SweepRow& row, const std::string& key) {
  const auto found = std::find_if(row.changes.begin(), row.changes.end(),
                                  [&](const auto& change) { return change.first == key; });
  return found == row.changes.end() ? "" : found->second;
}

/// The end of a path that no other path of the table has: "tensor", or "node.gpu.power" beside
/// "switch.power".
std::string short_name(const std::string& path, const std::vector<std::string>& all) {
  std::size_t at = path.rfind('.');
  while (at != std::string::npos) {
    const std::string end = path.substr(at);
    const auto same = std::count_if(all.begin(), all.end(), [&](const std::string& other) {
      return other.ends_with(end) || "." + other == end;
    });
    if (same <= 1) {
      return path.substr(at + 1);
    }
    at = at == 0 ? std::string::npos : path.rfind('.', at - 1);
  }
  return path;
}

/// What a table shows of a figure of a run: its unit, and the value in that unit.
struct ShownFigure {
  std::string heading;
  std::string (*text)(double) = number;
};

ShownFigure shown_figure(const std::string& path) {
  static const core::Figure specimen = core::figures_of_type<study::RunReport>();
  const core::Figure* figure = core::find_figure(specimen, path);
  const std::string unit(figure == nullptr ? "" : figure->unit);
  if (unit == "B") {
    return {" [GiB]", [](double bytes) { return number(core::Bytes(bytes) / 1_GiB); }};
  }
  if (unit == "1") {
    return {" [%]", study::percent_figures};
  }
  return {unit.empty() ? "" : " [" + unit + "]"};
}

/// "time_s [s]" says it twice.
std::string without_unit(std::string name) {
  for (const std::string_view ending : {"_s", "_bytes", "_days", "_usd"}) {
    const auto at = name.find(ending);
    const auto end = at + ending.size();
    if (at != std::string::npos && (end == name.size() || name[end] == '.')) {
      return name.erase(at, ending.size());
    }
  }
  return name;
}

/// Rows that the table shows: all, or the best where they are too many to be looked at.
std::vector<const SweepRow*> shown_rows(const SweepReport& report) {
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : report.rows) {
    rows.push_back(&row);
  }
  const bool listed = std::all_of(report.rows.begin(), report.rows.end(), [](const SweepRow& row) {
    return row.status == PointStatus::listed;
  });
  if (listed || rows.size() <= kMostShownPoints) {
    return rows;
  }
  std::vector<std::pair<std::vector<double>, const SweepRow*>> ranked;
  for (const SweepRow* row : rows) {
    ranked.emplace_back(study::rank_of(*row, report.best, report.best_is), row);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  rows.clear();
  for (std::size_t i = 0; i < kMostShownPoints; ++i) {
    rows.push_back(ranked[i].second);
  }
  return rows;
}

Table points_table(const SweepReport& report) {
  const auto rows = shown_rows(report);
  const auto keys = changed_keys(report.rows);
  const auto paths = figure_paths(report.rows);
  std::vector<std::string> all = keys;
  all.insert(all.end(), paths.begin(), paths.end());
  const bool part = rows.size() < report.rows.size();
  Table table{part ? fmt::format("The {} best of {} points", rows.size(),
                                 count(static_cast<double>(report.rows.size())))
                   : fmt::format("{} point{}", count(static_cast<double>(report.rows.size())),
                                 report.rows.size() == 1 ? "" : "s"),
              {{"point"}},
              {},
              false};
  for (const std::string& key : keys) {
    table.columns.push_back({short_name(key, all)});
  }
  for (const std::string& path : paths) {
    const std::string unit = shown_figure(path).heading;
    const std::string name = short_name(path, all);
    table.columns.push_back({unit.empty() ? name : without_unit(name) + unit});
  }
  table.columns.push_back({"status", false});
  for (const SweepRow* row : rows) {
    std::vector<std::string> cells{fmt::format("{}", row->point)};
    for (const std::string& key : keys) {
      cells.push_back(change_of(*row, key));
    }
    for (const auto& [path, value] : row->figures) {
      cells.push_back(value ? shown_figure(path).text(*value) : "-");
    }
    cells.push_back(fmt::format("{}{}", core::to_word(row->status),
                                row->memory_warning.empty() ? "" : kNearlyFull));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// A table folds its cells; what is longer is no sentence.
constexpr std::size_t kLongestReason = 400;

/// Reasons of points that did not work, with how many have each.
Table reasons_table(const SweepReport& report) {
  AlikeReasons reasons;
  for (const SweepRow& row : report.rows) {
    reasons.add(row.point, std::string(core::to_word(row.status)), row.reason);
  }
  Table table{"Points that did not work", {{"points"}, {"status", false}, {"reason", false}}, {}};
  for (AlikeReason alike : reasons.all()) {
    if (table.rows.size() < kMostShownPoints) {
      alike.reason = core::shortened(alike.reason, kLongestReason);
      table.rows.push_back(
          {count(static_cast<double>(alike.points.size())), alike.status, alike.words()});
    }
  }
  return table;
}

std::string counts_sentence(const SweepReport& report) {
  std::map<PointStatus, int> counts;
  for (const SweepRow& row : report.rows) {
    ++counts[row.status];
  }
  std::string text = fmt::format("{} of {} points are there", report.rows.size(), report.points);
  for (const auto& [status, points] : counts) {
    text += fmt::format(", {} {}", points, core::to_word(status));
  }
  return text + ".";
}

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
  throw core::Error(fmt::format("{}: {}", name, what));
}

std::optional<double> number_of(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

/// The row of a line; nothing where it is none.
std::optional<SweepRow> row_of(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    SweepRow row;
    row.point = json.at("point").get<std::int64_t>();
    for (const auto& [key, value] : json.at("changes").items()) {
      row.changes.emplace_back(key, value.get<std::string>());
    }
    row.digest = json.at("digest").get<std::string>();
    const auto status = core::from_word<PointStatus>(json.at("status").get<std::string>());
    if (!status) {
      return std::nullopt;
    }
    row.status = *status;
    row.reason = json.at("reason").get<std::string>();
    row.memory_warning = json.at("memory_warning").get<std::string>();
    for (const auto& [path, value] : json.at("figures").items()) {
      row.figures.emplace_back(path, number_of(value));
    }
    return row;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string sweep_json(const SweepReport& report) {
  return dump(result_object("headway.sweep/1", core::figures_of(report)));
}

std::string sweep_lines(const SweepReport& report) {
  std::string text;
  for (const SweepRow& row : report.rows) {
    text += to_json(core::figures_of(row)).dump(-1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
  }
  return text;
}

std::string sweep_csv(const SweepReport& report) {
  const auto keys = changed_keys(report.rows);
  const auto paths = figure_paths(report.rows);
  Table table;
  table.columns.push_back({"point"});
  for (const auto& list : {keys, paths}) {
    for (const std::string& heading : list) {
      table.columns.push_back({heading});
    }
  }
  for (const char* heading : {"status", "reason", "digest", "memory_warning"}) {
    table.columns.push_back({heading, false});
  }
  for (const SweepRow& row : report.rows) {
    std::vector<std::string> cells{fmt::format("{}", row.point)};
    for (const std::string& key : keys) {
      cells.push_back(change_of(row, key));
    }
    for (const auto& [path, value] : row.figures) {
      cells.push_back(value ? fmt::format("{}", *value) : "");
    }
    cells.insert(cells.end(), {std::string(core::to_word(row.status)), row.reason, row.digest,
                               row.memory_warning});
    table.rows.push_back(std::move(cells));
  }
  return to_csv(table);
}

Document sweep_document(const SweepReport& report) {
  Document document;
  document.title = "Sweep of " + report.name;
  document.tables.push_back(points_table(report));
  Table reasons = reasons_table(report);
  if (!reasons.rows.empty()) {
    document.tables.push_back(std::move(reasons));
  }
  for (const std::string& text : report.warnings) {
    document.closing.push_back("Warning: " + text);
  }
  document.closing.push_back(counts_sentence(report));
  if (auto verdict = report.verdict()) {
    document.closing.push_back(std::move(*verdict));
  }
  return document;
}

std::vector<SweepRow> read_sweep_lines(const std::string& text, const std::string& name) {
  std::vector<SweepRow> rows;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    auto row = row_of(line);
    if (!row) {
      refuse(fmt::format("{}:{}", name, number),
             "this is no row of a sweep; remove the file, and its points are simulated again");
    }
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::string sweep_manifest(const SweepManifest& manifest) {
  const study::SweepRequest& r = manifest.request;
  Json json;
  json["schema"] = kManifest;
  json["version"] = HEADWAY_VERSION;
  json["digest"] = manifest.digest;
  json["shards"] = manifest.shards;
  json["file"] = r.file;
  json["set"] = r.set;
  json["axes"] = r.axes;
  json["figures"] = r.figures;
  json["best"] = r.best;
  json["best_is"] = r.best_is ? Json(core::to_word(*r.best_is)) : Json();
  json["text"] = r.text;
  return dump(json);
}

std::string shard_file_name(const std::string& digest, std::int64_t shard, std::int64_t shards) {
  return fmt::format("{}-{:05}-of-{:05}.jsonl", digest, shard, shards);
}

SweepManifest read_sweep_manifest(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != kManifest) {
      refuse(name, "this is no sweep of this program");
    }
    SweepManifest manifest;
    manifest.digest = json.at("digest").get<std::string>();
    manifest.shards = json.at("shards").get<std::int64_t>();
    study::SweepRequest& r = manifest.request;
    r.file = json.at("file").get<std::string>();
    r.set = json.at("set").get<std::vector<std::string>>();
    r.axes = json.at("axes").get<std::vector<std::string>>();
    r.figures = json.at("figures").get<std::vector<std::string>>();
    r.best = json.at("best").get<std::string>();
    if (!json.at("best_is").is_null()) {
      r.best_is = core::from_word<training::Best>(json.at("best_is").get<std::string>());
    }
    r.text = json.at("text").get<std::string>();
    if (json.at("version") != HEADWAY_VERSION) {
      refuse(name, fmt::format("the sweep was begun by version {}; this is {}",
                               json.at("version").get<std::string>(), HEADWAY_VERSION));
    }
    if (manifest.shards < 1) {
      refuse(name, "a sweep has at least one shard");
    }
    return manifest;
  } catch (const nlohmann::json::exception& error) {
    refuse(name, "this is no sweep of this program: " + core::shortened(error.what()));
  }
}

}  // namespace headway::report

#include "sim/report/points/solve_report.h"

#include <fmt/format.h>

#include "sim/core/figures.h"
#include "sim/core/shown_text.h"
#include "sim/report/points/sweep_report.h"
#include "sim/report/result_json.h"

namespace headway::report {

namespace {

using study::SolvePoint;
using study::SolveReport;

/// A range of whole numbers may have hundreds that break a rule: of so many the reason of the first
/// is said.
std::vector<const SolvePoint*> shown_points(const SolveReport& report) {
  constexpr std::size_t kFew = 20;
  std::vector<const SolvePoint*> points;
  for (const SolvePoint& point : report.points) {
    if (point.judged() || report.points.size() <= kFew) {
      points.push_back(&point);
    }
  }
  return points;
}

Table values_table(const SolveReport& report) {
  Table table{fmt::format("{} values looked at", report.points.size()),
              {{report.key}, {report.path}, {"from"}, {"to"}, {"met", false}, {"status", false}},
              {},
              false};
  for (const SolvePoint* point : shown_points(report)) {
    const auto end = [&](std::size_t i) {
      return point->interval ? std::optional((*point->interval)[i]) : std::nullopt;
    };
    const auto shown = [&](const std::optional<double>& value) {
      return value ? study::judged_number(*value, report.asked) : "-";
    };
    table.rows.push_back({point->value, shown(point->figure), shown(end(0)), shown(end(1)),
                          point->met ? "yes" : "no",
                          point->reason.empty()
                              ? fmt::format("{}{}", core::to_word(point->status),
                                            point->memory_warning.empty() ? "" : kNearlyFull)
                              : fmt::format("{}: {}", core::to_word(point->status),
                                            core::shortened(point->reason, 60))});
  }
  return table;
}

}  // namespace

std::string solve_json(const SolveReport& report) {
  return dump(result_object("headway.solve/1", core::figures_of(report)));
}

std::string solve_csv(const SolveReport& report) {
  Table table{"",
              {{report.key},
               {report.path},
               {"from"},
               {"to"},
               {"met"},
               {"status"},
               {"reason"},
               {"digest"},
               {"memory_warning"}},
              {},
              false};
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  for (const SolvePoint& point : report.points) {
    const auto& ends = point.interval;
    table.rows.push_back({point.value, text(point.figure), ends ? text((*ends)[0]) : "",
                          ends ? text((*ends)[1]) : "", point.met ? "true" : "false",
                          std::string(core::to_word(point.status)), point.reason, point.digest,
                          point.memory_warning});
  }
  return to_csv(table);
}

Document solve_document(const SolveReport& report) {
  Document document;
  document.title = fmt::format("{}: {} for {}", report.name, report.key, report.condition);
  document.tables.push_back(values_table(report));
  for (const std::string& text : report.warnings) {
    document.closing.push_back("Warning: " + text + ".");
  }
  document.closing.insert(document.closing.end(), report.sentences.begin(), report.sentences.end());
  return document;
}

}  // namespace headway::report

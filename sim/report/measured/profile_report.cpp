#include "sim/report/measured/profile_report.h"

#include <fmt/format.h>

#include "sim/report/result_json.h"

namespace headway::report {

namespace {

Table temporal_table(const study::ProfileReport& report) {
  Table table{"Temporal breakdown of a step",
              {{"time", false},
               {"measured [s]"},
               {"predicted [s]"},
               {"90 % interval"},
               {"measured / predicted"}},
              {}};
  for (const auto& row : report.rows) {
    if (study::work_of(row.figure) || row.figure == study::ProfileFigure::overlap) {
      continue;
    }
    table.rows.push_back({study::words_of(row.figure), number(row.measured), number(row.predicted),
                          row.interval ? fmt::format("{} to {}", number((*row.interval)[0]),
                                                     number((*row.interval)[1]))
                                       : "-",
                          cell(row.ratio())});
  }
  return table;
}

Table kernel_table(const study::ProfileReport& report) {
  Table table{"Kernel breakdown",
              {{"kernels", false},
               {"measured [s]"},
               {"launches"},
               {"predicted [s]"},
               {"launches"},
               {"measured / predicted"}},
              {}};
  for (const auto& row : report.rows) {
    if (study::work_of(row.figure)) {
      table.rows.push_back({study::words_of(row.figure), number(row.measured),
                            cell(row.measured_launches), number(row.predicted),
                            cell(row.predicted_launches), cell(row.ratio())});
    }
  }
  return table;
}

Table rank_table(const study::ProfileReport& report) {
  Table table{"By rank",
              {{"rank"},
               {"stage"},
               {"steps"},
               {"measured [s]"},
               {"predicted [s]"},
               {"overlap, measured [%]"},
               {"predicted [%]"},
               {"file", false}},
              {}};
  for (const auto& rank : report.ranks) {
    table.rows.push_back({fmt::format("{}", rank.rank), fmt::format("{}", rank.stage),
                          fmt::format("{}", rank.steps), number(rank.measured.whole.si()),
                          number(rank.predicted.whole.si()), percent(rank.measured.overlap()),
                          percent(rank.predicted.overlap()), rank.file});
  }
  return table;
}

}  // namespace

std::string profile_json(const study::ProfileReport& report) {
  return dump(result_object("headway.compare-profile/1", core::figures_of(report)));
}

std::string profile_csv(const study::ProfileReport& report) {
  Table table{"", {{"figure"}, {"unit"}, {"measured"}, {"predicted"}, {"low"}, {"high"}}, {}};
  const auto text = [](double value) { return fmt::format("{:.9g}", value); };
  for (const auto& row : report.rows) {
    const bool share = row.figure == study::ProfileFigure::overlap;
    table.rows.push_back({std::string(core::to_word(row.figure)), share ? "1" : "s",
                          text(row.measured), text(row.predicted),
                          row.interval ? text((*row.interval)[0]) : "",
                          row.interval ? text((*row.interval)[1]) : ""});
  }
  return to_csv(table);
}

Document profile_document(const study::ProfileReport& report) {
  Document document;
  document.title = report.scenario.name + ", profiled";
  document.tables = {temporal_table(report), kernel_table(report), rank_table(report)};
  for (const auto& line : report.remarks) {
    document.closing.push_back("Note: " + line + ".");
  }
  document.closing.push_back(report.limit);
  return document;
}

}  // namespace headway::report

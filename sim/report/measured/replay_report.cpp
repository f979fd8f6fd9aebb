#include "sim/report/measured/replay_report.h"

#include <fmt/format.h>

#include "sim/report/result_json.h"

namespace headway::report {

namespace {

std::optional<double> in(double unit, const std::optional<core::Seconds>& time) {
  return time ? std::optional(time->si() / unit) : std::nullopt;
}

Table rank_table(const study::ReplayReport& report) {
  Table table{
      "Ranks",
      {{"ranks", false}, {"computation [ms]"}, {"end [ms]"}, {"computes [% of the replay]"}},
      {}};
  for (const auto& row : report.rows) {
    const auto busy = row.busy(report.time);
    table.rows.push_back(
        {row.count == 1 ? fmt::format("{}", row.first)
                        : fmt::format("{} and {} like it", row.first, row.count - 1),
         cell(in(1e-3, row.computation)), cell(in(1e-3, row.end)), busy ? percent(*busy) : "-"});
  }
  return table;
}

Table transfer_table(const study::ReplayReport& report) {
  Table table{"Transfers",
              {{"collective", false},
               {"message [MB]"},
               {"ranks"},
               {"nodes"},
               {"calls"},
               {"alone [us]"},
               {"algorithm", false}},
              {}};
  for (const auto& row : report.collectives) {
    table.rows.push_back({std::string(core::to_word(row.kind)), number(row.bytes.si() / 1e6),
                          fmt::format("{}", row.ranks),
                          row.nodes ? fmt::format("{}", *row.nodes) : "-",
                          fmt::format("{}", row.calls), cell(in(1e-6, row.alone)),
                          row.algorithm ? std::string(core::to_word(*row.algorithm)) : "-"});
  }
  return table;
}

Table link_table(const study::ReplayReport& report) {
  Table table{"Links", {{"tier", false}, {"mean [%]"}, {"busiest [%]"}}, {}};
  for (const auto& use : report.links) {
    table.rows.push_back({use.tier, percent(use.mean), percent(use.busiest)});
  }
  return table;
}

}  // namespace

std::string replay_json(const study::ReplayReport& report) {
  return dump(result_object("headway.replay/1", core::figures_of(report)));
}

std::string replay_csv(const study::ReplayReport& report) { return to_csv(transfer_table(report)); }

Document replay_document(const study::ReplayReport& report) {
  Document document;
  document.title = report.machine
                       ? fmt::format("Traces of {} ranks on {}", report.ranks, *report.machine)
                       : fmt::format("Traces of {} ranks, {} nodes", report.ranks, report.nodes);
  document.tables.push_back(rank_table(report));
  if (!report.collectives.empty()) {
    document.tables.push_back(transfer_table(report));
  }
  if (!report.links.empty()) {
    document.tables.push_back(link_table(report));
  }
  for (const auto& line : report.assumptions) {
    document.closing.push_back("Assumed: " + line + ".");
  }
  document.closing.push_back(report.limit);
  return document;
}

}  // namespace headway::report

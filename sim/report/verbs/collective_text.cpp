// The forms of `headway collective`: nccl-tests' text, table, JSON.
#include <fmt/format.h>

#include "sim/report/result_json.h"
#include "sim/report/verbs/collective_report.h"
#include "sim/study/nccl_tests_names.h"

namespace headway::report {

using namespace core::literals;

namespace {

constexpr const char* kNotMeasured = "N/A";

/// nccl-tests' rule: fewer decimals for longer times.
std::string microseconds(core::Seconds time) {
  const double us = time.si() * 1e6;
  return us >= 10000 ? fmt::format("{:.0f}", us)
                     : (us >= 100 ? fmt::format("{:.1f}", us) : fmt::format("{:.2f}", us));
}

std::string bandwidth(core::BytesPerSecond rate) { return fmt::format("{:.2f}", rate / 1_GBps); }

std::string timing_cells(const std::string& time,
                         const std::string& algorithm,
                         const std::string& bus) {
  return fmt::format("  {:>7}  {:>6}  {:>6}  {:>5}", time, algorithm, bus, kNotMeasured);
}

std::string headings(bool compared) {
  const std::string group =
      fmt::format("  {:>7}  {:>6}  {:>6} {:>6}", "time", "algbw", "busbw", "#wrong");
  const std::string units =
      fmt::format("  {:>7}  {:>6}  {:>6}  {:>5}", "(us)", "(GB/s)", "(GB/s)", "");
  std::string out = fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place      "
      "                 in-place          {}\n",
      "", "", "", "", "", compared ? "           measured" : "");
  out += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{}{}\n", "size", "count", "type",
                     "redop", "root", group, group, compared ? "     time   busbw   error" : "");
  out += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{}{}\n", "(B)", "(elements)", "", "",
                     "", units, units, compared ? "     (us)  (GB/s)     (%)" : "");
  return out;
}

std::string measured_cells(const study::CollectiveRow& row) {
  const auto error = row.error();
  return fmt::format("  {:>7}  {:>6}  {:>6}",
                     row.measured ? microseconds(*row.measured) : kNotMeasured,
                     row.measured ? bandwidth(*row.measured_bus_bandwidth) : kNotMeasured,
                     error ? fmt::format("{:+.1f}", *error * 100) : kNotMeasured);
}

/// What happened to packets, where something did: a comment below the table.
std::string packet_line(const study::CollectiveRow& row) {
  const auto& counts = row.packets->counts;
  std::string line = fmt::format("# {:>10} B: {} packets, longest queue {} kB", row.bytes,
                                 count(static_cast<double>(counts.packets)),
                                 number(static_cast<double>(counts.deepest) / 1e3));
  const std::pair<std::uint64_t, const char*> rest[] = {
      {counts.marks, "marked"},     {counts.notices, "notices"},
      {counts.drops, "dropped"},    {counts.trims, "trimmed"},
      {counts.pauses, "pauses"},    {counts.stalls, "waits for credit"},
      {counts.repeats, "repeated"}, {counts.timeouts, "timeouts"}};
  for (const auto& [times, what] : rest) {
    line += times > 0 ? fmt::format(", {} {}", count(static_cast<double>(times)), what) : "";
  }
  return line + "\n";
}

/// The mean of the bus bandwidths printed, as nccl-tests takes it.
double average_bus_bandwidth(const study::CollectiveReport& report) {
  double sum = 0;
  std::size_t rows = 0;
  for (const auto& row : report.rows) {
    sum += row.time ? row.bus_bandwidth / 1_GBps : 0;
    rows += row.time ? 1 : 0;
  }
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

std::string error_words(const std::optional<double>& error) {
  return error ? fmt::format("{:+.1f}", *error * 100) : "-";
}

}  // namespace

std::string nccl_tests_text(const study::CollectiveReport& report) {
  const bool compared = !report.log.empty();
  std::string out = fmt::format(
      "# headway {} predicts {}_perf on {} GPUs of {} node{}: {}\n"
      "# nothing was run: in-place and #wrong are N/A, and the time stands for both placements\n",
      HEADWAY_VERSION, study::nccl_tests_name(report.kind), report.gpus, report.nodes,
      report.nodes == 1 ? "" : "s", report.machine);
  for (const auto& assumption : report.assumptions) {
    out += fmt::format("# assumed: {}\n", assumption);
  }
  out += "#\n" + headings(compared);
  for (const auto& row : report.rows) {
    out += fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count, report.type,
                       study::reduction_word(report.kind), study::root_of(report.kind));
    out += row.time ? timing_cells(microseconds(row.time->total),
                                   bandwidth(row.algorithm_bandwidth), bandwidth(row.bus_bandwidth))
                    : timing_cells(kNotMeasured, kNotMeasured, kNotMeasured);
    out += timing_cells(kNotMeasured, kNotMeasured, kNotMeasured);
    out += (compared ? measured_cells(row) : "") + "\n";
  }
  for (const auto& row : report.rows) {
    out += row.packets ? packet_line(row) : "";
  }
  out += fmt::format("# Out of bounds values : N/A\n# Avg bus bandwidth    : {:g}\n#\n# {}\n",
                     average_bus_bandwidth(report), study::collective_sentence(report));
  return out;
}

Table collective_table(const study::CollectiveReport& report) {
  Table table{"",
              {{"size [B]"},
               {"count"},
               {"time [us]"},
               {"algbw [GB/s]"},
               {"busbw [GB/s]"},
               {"algorithm", false},
               {"protocol", false},
               {"source", false}},
              {}};
  const bool compared = !report.log.empty();
  const bool packets = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const auto& row) { return row.packets.has_value(); });
  if (packets) {
    table.columns.insert(table.columns.end(), {{"packets"},
                                               {"longest queue [kB]"},
                                               {"marks"},
                                               {"drops"},
                                               {"trims"},
                                               {"pauses"},
                                               {"repeats"},
                                               {"p99 flow [us]"}});
  }
  if (compared) {
    table.columns.insert(table.columns.end(),
                         {{"measured [us]"}, {"measured busbw [GB/s]"}, {"error [%]"}});
  }
  for (const auto& row : report.rows) {
    std::vector<std::string> cells{std::to_string(row.bytes), std::to_string(row.count)};
    if (row.time) {
      cells.insert(cells.end(),
                   {microseconds(row.time->total), bandwidth(row.algorithm_bandwidth),
                    bandwidth(row.bus_bandwidth), std::string(core::to_word(row.time->algorithm)),
                    std::string(core::to_word(row.time->protocol)),
                    std::string(core::to_word(row.time->source))});
    } else {
      cells.insert(cells.end(), 6, "-");
    }
    if (row.packets) {
      const auto& counts = row.packets->counts;
      for (const std::uint64_t times :
           {counts.marks, counts.drops, counts.trims, counts.pauses, counts.repeats}) {
        cells.push_back(count(static_cast<double>(times)));
      }
      cells.insert(cells.end() - 5, {count(static_cast<double>(counts.packets)),
                                     number(static_cast<double>(counts.deepest) / 1e3)});
      cells.push_back(microseconds(row.packets->slow_flow));
    } else if (packets) {
      cells.insert(cells.end(), 8, "-");
    }
    if (compared) {
      cells.push_back(row.measured ? microseconds(*row.measured) : "-");
      cells.push_back(row.measured ? bandwidth(*row.measured_bus_bandwidth) : "-");
      cells.push_back(error_words(row.error()));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Document collective_document(const study::CollectiveReport& report) {
  Document document;
  document.title =
      fmt::format("{} on {} GPUs of {}", core::to_word(report.kind), report.gpus, report.machine);
  document.opening = report.assumptions;
  document.tables.push_back(collective_table(report));
  document.tables.back().title = "Time alone on the fabric";
  document.closing.push_back(study::collective_sentence(report));
  return document;
}

std::string collective_json(const study::CollectiveReport& report) {
  return dump(result_object("headway.collective/1", core::figures_of(report)));
}

}  // namespace headway::report

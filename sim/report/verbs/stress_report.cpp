#include "sim/report/verbs/stress_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/result_json.h"

namespace headway::report {

using namespace core::literals;

namespace {

std::string stress_size(core::Bytes size) {
  return size >= 1_MiB ? fmt::format("{} MiB", number(size / 1_MiB))
                       : fmt::format("{} KiB", number(size / 1_KiB));
}

std::string stress_times(double times) { return fmt::format("{:.2f}", times); }

/// What happened, where something did.
std::string happenings(const network::PacketCounts& counts) {
  const std::pair<std::uint64_t, const char*> all[] = {
      {counts.pauses, "pauses"},      {counts.marks, "marks"},     {counts.drops, "drops"},
      {counts.trims, "trims"},        {counts.repeats, "repeats"}, {counts.timeouts, "timeouts"},
      {counts.stalls, "credit waits"}};
  std::string words;
  for (const auto& [times, what] : all) {
    if (times > 0) {
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count(static_cast<double>(times)),
                           what);
    }
  }
  return words.empty() ? "-" : words;
}

/// "all_to_all x 8": by eight groups at once.
std::string traffic_words(study::Traffic traffic, int groups) {
  return fmt::format("{}{}", core::to_word(traffic),
                     groups > 1 ? fmt::format(" x {}", groups) : "");
}

Table rows_table(const std::vector<study::StressRow>& rows) {
  Table table{"Packets beside fluid flows",
              {{"traffic", false},
               {"message"},
               {"packets [us]"},
               {"fluid [us]"},
               {"times"},
               {"longest queue [kB]"},
               {"what happened", false}},
              {}};
  for (const auto& row : rows) {
    table.rows.push_back({traffic_words(row.traffic, row.groups), stress_size(row.message),
                          number(row.packet_time / 1_us), number(row.fluid_time / 1_us),
                          stress_times(row.times()),
                          number(static_cast<double>(row.packets.counts.deepest) / 1e3),
                          happenings(row.packets.counts)});
  }
  return table;
}

}  // namespace

Document stress_document(const study::StressReport& report) {
  Document document;
  document.title = fmt::format("{} under stress: {} GPUs, {}, path by {}", report.machine.name,
                               report.gpus, report.transport, report.path_choice);
  for (const auto& assumption : report.machine.assumptions) {
    document.opening.push_back("Assumed: " + assumption + ".");
  }
  document.tables = {rows_table(report.rows)};
  document.closing.push_back(study::stress_sentence(report));
  return document;
}

std::string stress_csv(const study::StressReport& report) { return flow_model_csv({{report}}); }

std::string stress_json(const study::StressReport& report) {
  return dump(result_object("headway.topo-stress/1", core::figures_of(report)));
}

Document flow_model_document(const study::FlowModelReport& report) {
  Document document;
  document.title = "The fluid model against packets";
  Table table{"Packets / fluid, least and most over the sizes",
              {{"fabric", false}, {"transport", false}},
              {}};
  std::vector<std::pair<study::Traffic, int>> columns;
  for (const auto& row : report.fabrics.front().rows) {
    const std::pair of{row.traffic, row.groups};
    if (std::find(columns.begin(), columns.end(), of) == columns.end()) {
      columns.push_back(of);
      table.columns.push_back({traffic_words(of.first, of.second)});
    }
  }
  for (const auto& fabric : report.fabrics) {
    std::vector<std::string> cells{fabric.machine.name, fabric.transport};
    for (const auto& [traffic, groups] : columns) {
      double least = core::kInfinity;
      double most = 0;
      for (const auto& row : fabric.rows) {
        if (row.traffic == traffic && row.groups == groups) {
          least = std::min(least, row.times());
          most = std::max(most, row.times());
        }
      }
      cells.push_back(stress_times(least) + "-" + stress_times(most));
    }
    table.rows.push_back(std::move(cells));
  }
  document.tables = {std::move(table)};
  document.closing.push_back(study::flow_model_sentence(report));
  return document;
}

std::string flow_model_csv(const study::FlowModelReport& report) {
  Table table{"",
              {{"fabric"},
               {"transport"},
               {"path_choice"},
               {"gpus"},
               {"groups"},
               {"traffic"},
               {"message_bytes"},
               {"packet_time_s"},
               {"fluid_time_s"},
               {"times"},
               {"deepest_queue_bytes"},
               {"marks"},
               {"drops"},
               {"trims"},
               {"pauses"},
               {"repeats"},
               {"timeouts"}},
              {}};
  for (const auto& fabric : report.fabrics) {
    for (const auto& row : fabric.rows) {
      const auto& counts = row.packets.counts;
      table.rows.push_back(
          {fabric.machine.name, fabric.transport, fabric.path_choice, std::to_string(fabric.gpus),
           std::to_string(row.groups), std::string(core::to_word(row.traffic)),
           fmt::format("{:.0f}", row.message.si()), fmt::format("{:.6g}", row.packet_time.si()),
           fmt::format("{:.6g}", row.fluid_time.si()), fmt::format("{:.4g}", row.times()),
           std::to_string(counts.deepest), std::to_string(counts.marks),
           std::to_string(counts.drops), std::to_string(counts.trims),
           std::to_string(counts.pauses), std::to_string(counts.repeats),
           std::to_string(counts.timeouts)});
    }
  }
  return to_csv(table);
}

std::string flow_model_json(const study::FlowModelReport& report) {
  return dump(result_object("headway.validate-flow-model/1", core::figures_of(report)));
}

}  // namespace headway::report

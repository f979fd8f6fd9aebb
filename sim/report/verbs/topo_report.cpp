#include "sim/report/verbs/topo_report.h"

#include <fmt/format.h>

#include "sim/report/result_json.h"

namespace headway::report {

using namespace core::literals;

namespace {

using network::FabricReport;

Json topo_object(const study::TopoReport& report) {
  return result_object("headway.topo/1", core::figures_of(report));
}

Table counts_table(const study::TopoReport& report) {
  Table table{"Fabric", {{"quantity", false}, {"value"}}, {}};
  for (const auto& figure : core::figures_of(network::FabricCounts{report.fabric}).parts) {
    std::string words = figure.key;
    for (char& c : words) {
      c = c == '_' ? ' ' : c;
    }
    table.rows.push_back({words, count(static_cast<double>(figure.integer))});
  }
  const auto& f = report.fabric;
  table.rows.push_back({"bisection [GB/s]", number(f.bisection / 1_GBps)});
  table.rows.push_back({"full bisection [GB/s]", number(f.full_bisection / 1_GBps)});
  table.rows.push_back({"diameter [links]", std::to_string(f.diameter)});
  table.rows.push_back({"connected", f.connected ? "yes" : "no"});
  return table;
}

Table tiers_table(const FabricReport& fabric) {
  Table table{"Tiers", {{"tier", false}, {"cables"}, {"a cable [GB/s]"}, {"oversubscription"}}, {}};
  for (const auto& tier : fabric.tiers) {
    table.rows.push_back({tier.name, count(static_cast<double>(tier.cables)),
                          number(tier.cable_rate / 1_GBps),
                          tier.oversubscription > 0 ? number(tier.oversubscription) : "-"});
  }
  return table;
}

}  // namespace

Document topo_document(const study::TopoReport& report) {
  Document document;
  document.title = fmt::format("{}: {}", report.machine.name,
                               core::to_word(report.machine.cluster.fabric.topology));
  for (const auto& assumption : report.machine.assumptions) {
    document.opening.push_back("Assumed: " + assumption + ".");
  }
  document.tables = {counts_table(report), tiers_table(report.fabric)};
  document.closing.push_back(study::topo_sentence(report.fabric));
  return document;
}

std::string topo_csv(const study::TopoReport& report) {
  Table table{"", {{"key", false}, {"value"}}, {}};
  const Json flat = topo_object(report).flatten();
  for (const auto& [key, value] : flat.items()) {
    std::string dotted = key.substr(1);
    for (char& c : dotted) {
      c = c == '/' ? '.' : c;
    }
    table.rows.push_back({dotted, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return to_csv(table);
}

std::string topo_json(const study::TopoReport& report) { return dump(topo_object(report)); }

}  // namespace headway::report

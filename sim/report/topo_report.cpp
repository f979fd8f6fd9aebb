#include "sim/report/topo_report.h"

#include <array>
#include <fmt/format.h>

#include "sim/report/json_parts.h"

namespace headway::report {

using namespace core::literals;

namespace {

using network::FabricReport;

/// The counts in the order of the JSON.
std::array<std::pair<const char*, std::uint64_t>, 16> counts(const FabricReport& f) {
  return {{{"nodes", f.nodes},
           {"gpus", f.gpus},
           {"nvlink_domains", f.domains},
           {"nics", f.nics},
           {"leaves", f.leaves},
           {"spines", f.spines},
           {"cores", f.cores},
           {"links", f.links},
           {"rail_ports_per_leaf", f.ports_per_leaf},
           {"nodes_per_leaf", f.nodes_per_leaf},
           {"leaf_radix", f.leaf_radix},
           {"spine_radix", f.spine_radix},
           {"core_radix", f.core_radix},
           {"links_down", f.links_down},
           {"links_degraded", f.links_degraded},
           {"unreachable_gpus", f.unreachable_gpus}}};
}

Json tiers_json(const FabricReport& fabric) {
  Json tiers = Json::array();
  for (const auto& tier : fabric.tiers) {
    tiers.push_back(
        {{"name", tier.name},
         {"cables", tier.cables},
         {"cable_rate_bytes_per_s", number_or_null(tier.cable_rate.si())},
         {"oversubscription",
          tier.oversubscription > 0 ? number_or_null(tier.oversubscription) : Json(nullptr)}});
  }
  return tiers;
}

Json topo_object(const TopoReport& report) {
  const auto& f = report.fabric;
  Json out{{"schema", "headway.topo/1"},
           {"version", HEADWAY_VERSION},
           {"machine", report.machine.name},
           {"fabric", report.machine.cluster.fabric.name},
           {"topology", core::to_word(report.machine.cluster.fabric.topology)}};
  Json numbers = Json::object();
  for (const auto& [key, value] : counts(f)) {
    numbers[key] = value;
  }
  out["counts"] = numbers;
  out["tiers"] = tiers_json(f);
  out["bisection_bytes_per_s"] = number_or_null(f.bisection.si());
  out["full_bisection_bytes_per_s"] = number_or_null(f.full_bisection.si());
  out["diameter_links"] = f.diameter;
  out["connected"] = f.connected;
  out["limit"] = topo_sentence(f);
  out["assumptions"] = report.machine.assumptions;
  return out;
}

Table counts_table(const TopoReport& report) {
  Table table{"Fabric", {{"quantity", false}, {"value"}}, {}};
  for (const auto& [key, value] : counts(report.fabric)) {
    std::string words = key;
    for (char& c : words) {
      c = c == '_' ? ' ' : c;
    }
    table.rows.push_back({words, count(static_cast<double>(value))});
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

std::string topo_sentence(const FabricReport& fabric) {
  if (!fabric.connected) {
    return fmt::format("The fabric is not connected: {} of {} GPUs cannot be reached from GPU 0.",
                       count(static_cast<double>(fabric.unreachable_gpus)),
                       count(static_cast<double>(fabric.gpus)));
  }
  if (fabric.nodes < 2) {
    return "One node: its GPUs are connected, and nothing is bisected.";
  }
  const double share = fabric.bisection / fabric.full_bisection;
  return fmt::format(
      "Half of the nodes can send {} GB/s to the other half: {} % of what their "
      "network cards carry.",
      number(fabric.bisection / 1_GBps), percent(share));
}

Document topo_document(const TopoReport& report) {
  Document document;
  document.title = fmt::format("{}: {}", report.machine.name,
                               core::to_word(report.machine.cluster.fabric.topology));
  for (const auto& assumption : report.machine.assumptions) {
    document.opening.push_back("Assumed: " + assumption + ".");
  }
  document.tables = {counts_table(report), tiers_table(report.fabric)};
  document.closing.push_back(topo_sentence(report.fabric));
  return document;
}

std::string topo_csv(const TopoReport& report) {
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

std::string topo_json(const TopoReport& report) { return dump(topo_object(report)); }

}  // namespace headway::report

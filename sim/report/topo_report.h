// What `headway topo` says of a fabric.
#pragma once

#include <string>

#include "sim/network/fabric/fabric_report.h"
#include "sim/report/machine.h"
#include "sim/report/table.h"

namespace headway::report {

struct TopoReport {
  Machine machine;
  network::FabricReport fabric;
};

/// Counts, one line a quantity; then the tiers of links; then what limits traffic.
Document topo_document(const TopoReport& report);
/// "key,value" lines of the JSON's numbers.
std::string topo_csv(const TopoReport& report);
/// configs/schema/headway.topo-1.json has its keys.
std::string topo_json(const TopoReport& report);
/// Where the fabric is narrowest, or what is cut off.
std::string topo_sentence(const network::FabricReport& fabric);

}  // namespace headway::report

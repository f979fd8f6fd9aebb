// What `headway topo` says of a fabric.
#pragma once

#include <string>

#include "sim/report/table.h"
#include "sim/study/topo.h"

namespace headway::report {

/// Counts, one line a quantity; then the tiers of links; then what limits traffic.
Document topo_document(const study::TopoReport& report);
/// "key,value" lines of the JSON's numbers.
std::string topo_csv(const study::TopoReport& report);
/// configs/schema/headway.topo-1.json has its keys.
std::string topo_json(const study::TopoReport& report);

}  // namespace headway::report

// What `headway topo` asks of a fabric.
#pragma once

#include <string>

#include "sim/core/result_fields.h"
#include "sim/network/fabric/fabric_report.h"
#include "sim/study/machine.h"

namespace headway::study {

/// Where the fabric is narrowest, or what is cut off.
std::string topo_sentence(const network::FabricReport& fabric);

struct TopoReport {
  Machine machine;
  network::FabricReport fabric;

  template <class V>
  void fields(V& v) const {
    v.part("version", HEADWAY_VERSION, "of the program");
    v.part("machine", machine.name, "the file or the entry");
    v.part("fabric", machine.cluster.fabric.name, "its fabric");
    v.part("topology", machine.cluster.fabric.topology, "as `cluster.fabric.topology`");
    v.part("counts", network::FabricCounts{fabric}, "What there is how often.");
    v.part("tiers", fabric.tiers, "tiers of links, from the nodes up");
    v.figure("bisection_bytes_per_s", fabric.bisection, "B/s",
             "first half of the nodes to the second half over the NICs, one direction, payload, "
             "ideal spray",
             core::non_negative);
    v.figure("full_bisection_bytes_per_s", fabric.full_bisection, "B/s",
             "what the NICs of half the nodes can send", core::non_negative);
    v.figure("diameter_links", fabric.diameter, "",
             "most links of a shortest path between two GPUs, over NVLink or NIC",
             core::non_negative);
    v.part("connected", fabric.connected, "every GPU reaches every other one");
    v.part("limit", topo_sentence(fabric), "one sentence: where the fabric is narrowest");
    v.part("assumptions", machine.assumptions, "what neither the file nor the options say");
  }
};

}  // namespace headway::study

#include "sim/study/topo.h"

#include <fmt/format.h>

#include "sim/core/text.h"

namespace headway::study {

using namespace core::literals;

std::string topo_sentence(const network::FabricReport& fabric) {
  if (!fabric.connected) {
    return fmt::format("The fabric is not connected: {} of {} GPUs cannot be reached from GPU 0.",
                       core::count(static_cast<double>(fabric.unreachable_gpus)),
                       core::count(static_cast<double>(fabric.gpus)));
  }
  if (fabric.nodes < 2) {
    return "One node: its GPUs are connected, and nothing is bisected.";
  }
  const double share = fabric.bisection / fabric.full_bisection;
  return fmt::format(
      "Half of the nodes can send {} GB/s to the other half: {} % of what their "
      "network cards carry.",
      core::number(fabric.bisection / 1_GBps), core::percent(share));
}

}  // namespace headway::study

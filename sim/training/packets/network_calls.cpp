#include "sim/training/packets/network_calls.h"

#include <algorithm>

#include "sim/training/step/lower.h"

namespace headway::training {

std::vector<NetworkCall> network_calls(const LoweredStep& lowered) {
  std::vector<NetworkCall> calls;
  for (std::size_t g = 0; g < lowered.use_of_group.size(); ++g) {
    const std::uint32_t use = lowered.use_of_group[g];
    if (use >= lowered.collectives.size() || lowered.collectives[use].shape.domains < 2) {
      continue;
    }
    const CollectiveUse& of = lowered.collectives[use];
    const bool message = of.call.kind == core::CollectiveKind::send_receive;
    const NetworkCall call{
        lowered.problem.groups[g].activity, of.call.kind,
        message ? of.call.bytes : of.call.bytes / static_cast<double>(of.shape.ranks)};
    if (std::find(calls.begin(), calls.end(), call) == calls.end()) {
      calls.push_back(call);
    }
  }
  return calls;
}

}  // namespace headway::training

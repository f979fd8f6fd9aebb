// From "who has how many NVLinks to whom" to a scale-up network: switch, mesh or none.
#pragma once

#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/gpu/spec.h"
#include "sim/import/network/imported_network.h"

namespace headway::import {

/// Links between GPUs of one node. `peer[a][b]` counts links from a to b; `to_switch[a]` those into
/// a switch.
struct LinkMatrix {
  std::vector<std::vector<int>> peer;
  std::vector<int> to_switch;
};

/// Payload of one NVLink (Infinity Fabric link on AMD), one direction, as NCCL and RCCL count it in
/// their topology search (src/graph/topo.h): 20 GB/s on Ampere, 20.6 on Hopper, 40.1 on Blackwell,
/// 48 on CDNA 3.
core::BytesPerSecond link_payload(gpu::Architecture architecture);

/// Links of one GPU: 12 on Ampere, 18 on Hopper and Blackwell, 7 on CDNA.
int links_of_gpu(gpu::Architecture architecture);

/// Sets kind, bandwidth and domain_gpus of `node.scale_up` from the links. Where GPUs have none the
/// kind is PCIe and the bandwidth is `pcie`. Irregular links become warnings.
/// @param link  payload of one link, one direction [B/s]
void describe_scale_up(const LinkMatrix& links,
                       gpu::Architecture architecture,
                       core::BytesPerSecond link,
                       core::BytesPerSecond pcie,
                       ImportedNode& node);

}  // namespace headway::import

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

/// Line rate of one NVLink (Infinity Fabric link on AMD), one direction, as the schema wants it and
/// as data sheets print it: 25 GB/s for NVLink 2 to 4, 50 for NVLink 5 and CDNA 2, 64 for CDNA 3,
/// 76.8 for CDNA 4. The collective model takes the payload share of it.
core::BytesPerSecond link_rate(gpu::Architecture architecture);

/// Links of one GPU: 12 on Ampere, 18 on Hopper and Blackwell, 7 on CDNA.
int links_of_gpu(gpu::Architecture architecture);

/// Sets kind, bandwidth, domain_gpus and in_switch_reduction of `node.scale_up` from the links.
/// Where GPUs have none the kind is PCIe and the bandwidth is `pcie`. Irregular links become
/// warnings.
/// @param link  line rate of one link, one direction
void describe_scale_up(const LinkMatrix& links,
                       gpu::Architecture architecture,
                       core::BytesPerSecond link,
                       core::BytesPerSecond pcie,
                       ImportedNode& node);

}  // namespace headway::import

// Reads the topology files that NCCL and RCCL write and take (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE).
#pragma once

#include <string>
#include <string_view>

#include "sim/gpu/spec.h"
#include "sim/import/network/imported_network.h"

namespace headway::import {

/// GPUs, their links and the network cards of one node. GPUs are PCI devices with a `gpu` element
/// or of a display or accelerator class; cards are `net` elements, or where the file has none PCI
/// devices of a network class, whose speed is then the largest standard one that their PCIe link
/// carries. Files that clouds hand out often have no NVLink elements, because NCCL adds them when
/// it runs: the scale-up network is then PCIe, and a warning says so.
/// @param architecture  generation of the GPUs where the file does not tell (`sm` or `gcn`)
/// @throws core::Error naming the line: malformed XML, no `system`, no GPU, a bus id used twice, a
/// bad number
ImportedNode read_nccl_topology(std::string_view text,
                                const std::string& file_name,
                                gpu::Architecture architecture);

}  // namespace headway::import

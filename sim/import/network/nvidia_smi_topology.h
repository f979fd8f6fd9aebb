// Reads the matrix that `nvidia-smi topo -m` prints.
#pragma once

#include <string>
#include <string_view>

#include "sim/gpu/spec.h"
#include "sim/import/network/imported_network.h"

namespace headway::import {

/// GPUs, NVLinks and the network cards near them. The matrix names neither the generation of the
/// GPUs nor the speed of the cards, so both are given. Cards that are near no GPU (management,
/// storage) do not count.
/// @param architecture  generation of the GPUs: selects the payload of one NVLink
/// @param nic           bandwidth of one card, one direction [B/s]
/// @throws core::Error naming the line: no matrix, a missing row or cell, an unknown word
ImportedNode read_nvidia_smi_topology(std::string_view text,
                                      const std::string& file_name,
                                      gpu::Architecture architecture,
                                      core::BytesPerSecond nic);

}  // namespace headway::import

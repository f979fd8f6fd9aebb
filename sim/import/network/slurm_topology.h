// Reads Slurm's topology.conf: a tree of switches, or blocks of servers.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/units.h"
#include "sim/import/network/imported_network.h"

namespace headway::import {

/// A fabric from `SwitchName=` lines (topology/tree) or NVLink domains from `BlockName=` lines
/// (topology/block). Slurm's file knows servers, not network cards, and no oversubscription; link
/// speeds are seldom in it. What is missing is assumed and listed in the warnings.
/// @param assumed_link  bandwidth of one cable, one direction [B/s], where the file does not tell
/// @param cards  network cards of a server, all on the leaf that the file names; 0: unknown, one is
/// assumed
/// @throws core::Error naming the line: an unknown key, a bad host list, a switch that nobody
/// defines,
///         defined twice or above itself, a server on two leaves
ImportedFabric read_slurm_topology(std::string_view text,
                                   const std::string& file_name,
                                   core::BytesPerSecond assumed_link,
                                   int cards = 0);

}  // namespace headway::import

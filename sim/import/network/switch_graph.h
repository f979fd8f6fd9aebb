// Switches, servers and the cables between them, as a topology file lists them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/units.h"
#include "sim/import/network/imported_network.h"

namespace headway::import {

/// One switch and its cables.
struct SwitchNode {
  std::string name;
  /// Cables to one neighbouring switch.
  struct Trunk {
    std::size_t to = 0;
    int cables = 0;
  };
  std::vector<Trunk> trunks;
  int host_ports = 0;  ///< ports that carry a server's network card
};

/// One network card and the switch it is plugged into.
struct HostPort {
  std::string host;  ///< name of the server; empty if the card does not say
  std::size_t at = 0;
};

/// A whole fabric, one entry a device.
struct SwitchGraph {
  std::vector<SwitchNode> switches;
  std::vector<HostPort> host_ports;
  core::BytesPerSecond link_bandwidth;  ///< of the usual cable, one direction
};

/// Recognises tiers, rails, pods and oversubscription.
/// A leaf is a switch with servers; spines are one step away from leaves, cores two.
/// Irregular fabrics are described by their usual leaf (the median), and the differences become
/// warnings.
/// @pre at least one host port
ImportedFabric describe_fabric(const SwitchGraph& graph, std::string name);

}  // namespace headway::import

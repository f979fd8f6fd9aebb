// What the importers of topology files return: specs of floor 1, and what the file says beyond
// them.
#pragma once

#include <string>
#include <vector>

#include "sim/network/spec.h"

namespace headway::import {

/// A fabric as a file shows it.
struct ImportedFabric {
  network::FabricSpec fabric;
  int nodes = 0;          ///< servers
  int nics_per_node = 1;  ///< network cards of the usual server
  int leaves = 0, spines = 0, cores = 0;
  int nodes_per_domain = 1;           ///< servers of one NVLink domain, where the file tells
  std::vector<std::string> hosts;     ///< names of the servers, where the file tells, sorted
  std::vector<std::string> warnings;  ///< irregularities, and what had to be assumed
};

/// The inside of a server as a file shows it.
struct ImportedNode {
  int gpus = 0;
  network::ScaleUpSpec scale_up;
  network::NicSpec nic;
  std::vector<int> nic_of_gpu;        ///< the nearest network card of each GPU; empty without cards
  std::vector<std::string> warnings;  ///< what the file does not say and had to be assumed
};

}  // namespace headway::import

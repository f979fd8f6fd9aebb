// The machine that `headway topo` and `headway collective` look at: from a cluster, a fabric, a
// node or a scenario.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/load.h"
#include "sim/network/spec.h"
#include "sim/training/cluster_spec.h"

namespace headway::study {

/// What the file alone does not say.
struct MachineOptions {
  int nodes = 0;       ///< of a fabric or a node file; 0: those of the file, or the least that says
                       ///< something
  std::string node;    ///< catalogue entry or path, for a fabric file
  std::string fabric;  ///< catalogue entry or path, for a node file
};

struct Machine {
  std::string name;
  training::ClusterSpec cluster;
  std::vector<network::CollectiveCurve> curves;  ///< of a scenario's calibration
  std::vector<std::string> assumptions;          ///< what neither file nor options said
};

/// Reads a file, or the catalogue entry of that name among clusters, fabrics and nodes.
/// @throws core::Error with all complaints, or if the file is of another kind
Machine load_machine(const std::string& file,
                     const MachineOptions& how,
                     const config::LoadOptions& options);

}  // namespace headway::study

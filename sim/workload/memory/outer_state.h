// What sites that train apart keep and move of a parameter to meet again (local steps).
#pragma once

#include "sim/workload/layout.h"
#include "sim/workload/spec.h"

namespace headway::workload {

/// Of each value that a rank exchanges, in fp32: the parameter as it was after the last exchange,
/// and the momentum of the outer Nesterov step [B]. Source: arXiv 2311.08105, algorithm 1 and 3.1.
inline constexpr double kOuterBytes = 8;

/// Memory traffic a value beside its form between sites [B]: before the exchange the parameter and
/// its last exchanged state are read. Source: counted in that algorithm.
inline constexpr double kPackTraffic = 4 + 4;
/// After it momentum and that state are read and written, the parameter is written. Source: counted
/// in that algorithm.
inline constexpr double kOuterStepTraffic = 8 + 8 + 4;

/// Values that a rank of the stage exchanges with the ranks of its place on other sites: its
/// parameters, divided over the ranks of its site that hold them too.
/// @param data_parallel  of one site
double exchanged_values(const ModelSpec& model,
                        const ParallelismSpec& parallelism,
                        const StageLayout& layout,
                        int stage,
                        int data_parallel);

}  // namespace headway::workload

// How long the passes of a chunk of layers take in one layout, with the data-parallel traffic
// beside them.
#pragma once

#include "sim/analytic/blocks.h"
#include "sim/analytic/costs.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::analytic {

/// What a chunk class takes in one layout.
struct ChunkCosts {
  workload::PassTimes passes{};
  double ready = 0;  ///< of its first parameters, where it begins a stage
  double tail = 0;   ///< reductions that go on after its last backward
  double begun = 0;  ///< of the reductions of its first whole backward, done as that ends
};

/// @param first  layers of the chunk
/// @param line   kept between calls for its memory
ChunkCosts chunk_costs(const ChunkClass& chunk,
                       const FirstLayers& first,
                       const RankCosts& rank,
                       const DataCosts& data,
                       Timeline& line);

}  // namespace headway::analytic

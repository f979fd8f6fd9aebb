// How long the passes of a chunk of layers take in one layout, with the data-parallel traffic
// beside them.
#pragma once

#include "sim/analytic/blocks.h"
#include "sim/analytic/costs.h"
#include "sim/workload/memory/offload.h"
#include "sim/workload/schedule/pipeline_time.h"

namespace headway::analytic {

/// What a chunk class takes in one layout.
struct ChunkCosts {
  workload::PassTimes passes{};
  double ready = 0;  ///< of its first parameters, where it begins a stage
  double tail = 0;   ///< reductions that go on after its last backward
  double begun = 0;  ///< of the reductions of its first whole backward, done as that ends
};

/// What is kept between chunks for its memory.
struct ChunkScratch {
  Timeline line;
  workload::CopySteps copies;
};

/// @param first  layers of the chunk
ChunkCosts chunk_costs(const ChunkClass& chunk,
                       const FirstLayers& first,
                       const RankCosts& rank,
                       const DataCosts& data,
                       ChunkScratch& scratch);

}  // namespace headway::analytic

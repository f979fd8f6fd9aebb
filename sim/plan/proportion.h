// Layers of stages in proportion to how fast their GPUs are, where a job has GPUs of several kinds.
#pragma once

#include <vector>

#include "sim/analytic/analytic.h"
#include "sim/plan/space.h"

namespace headway::plan {

/// What a stage takes of a micro-batch: for each of its layers, and for what else it holds. [s]
struct StageCost {
  double layer = 0, rest = 0;
};

/// Layers of each stage so that the slowest takes least, none being empty: layers are given out one
/// by one, each to the stage that is first to be done with it. Exact, since all layers of a stage
/// cost the same: any other division gives some stage a layer more than this one does, and every
/// stage with a layer more takes at least as long as the slowest here.
/// @param layers  at least as many as stages
std::vector<int> balanced_layers(const std::vector<StageCost>& stages, int layers);

/// Lists of `chunk_layers` for a shape: balanced by how long a layer takes on each stage's slowest
/// GPUs, and three that go a quarter, half and three quarters as far, for GPUs whose memory holds
/// less than their speed asks for. None where all stages are as fast, the shape breaks a rule, or
/// its schedule holds every layer twice.
std::vector<std::vector<int>> layers_in_proportion(const training::Scenario& scenario,
                                                   const ParallelismSpec& shape,
                                                   int data,
                                                   analytic::AnalyticTier& tier);

}  // namespace headway::plan

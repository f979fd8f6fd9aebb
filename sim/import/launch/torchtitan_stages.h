// Layers of the stages of a pipeline, as torchtitan splits a model.
#pragma once

#include "sim/import/launch/launch_table.h"

namespace headway::import {

/// The first and the last stage count as so many layers more, one each where nothing is said; so
/// many layers of all these a stage give the number of stages, and they are split evenly, the first
/// ones having one more. Source: pytorch/torchtitan,
/// torchtitan/distributed/pipeline_parallel.py, 2025.
void read_titan_stages(LaunchReader& reader, LaunchRun& run);

/// The words that are read as the chunks of the run; where there are none, what differs is found by
/// reading the file again.
void write_titan_stages(const LaunchRun& run, LaunchWriter& out);

}  // namespace headway::import

// What a prediction is made from, as inputs that can be scaled one at a time.
#pragma once

#include <vector>

#include "sim/training/scenario.h"

namespace headway::training {

/// An input, the scenario's fields that it stands for, and how they are scaled.
struct Input {
  const char* name;    ///< "matrix units"
  const char* fields;  ///< "cluster.node.gpu.peak"
  void (*scale)(Scenario& scenario, double factor);
};

/// Those that the time of a step depends on: matrix units, memory bandwidth, attention kernels,
/// NVLink, network bandwidth, network latency, gaps between kernels, CPU time. Measured figures of
/// `calibration` that replace a field are scaled with it. Shares of a peak stay at or below it.
const std::vector<Input>& step_inputs();

/// Copies to and from the host: they matter where something is offloaded.
const Input& host_way_input();

/// Size of a GPU's memory: what fits, no time.
const Input& memory_input();

/// How often everything fails that is counted or has a mean time between failures, lemons with it;
/// recorded failures stay. A step does not depend on it, a run does.
const Input& failure_input();

/// The scenario with an input at `factor` times its value, on every kind of node.
Scenario scaled(const Scenario& scenario, const Input& input, double factor);

}  // namespace headway::training

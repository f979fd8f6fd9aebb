// From a stage of the step graph to the program that its ranks run, with slots in place of groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/tick.h"
#include "sim/gpu/kernel_time.h"
#include "sim/network/problem.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// What a slot of a program stands for; ranks with equal slots in one group run the same transfers.
struct SlotKey {
  workload::OperationKind kind = workload::OperationKind::collective;
  workload::Group group = workload::Group::tensor;
  core::CollectiveKind collective = core::CollectiveKind::all_reduce;
  core::Activity activity = core::Activity::other;
  core::Bytes bytes;
  int peer_stage = -1;
  int channel = 0;
  std::string name;

  auto operator<=>(const SlotKey&) const = default;
};

/// How long the kernels of an operation take on this GPU.
struct KernelTimes {
  const gpu::GpuSpec* gpu = nullptr;
  gpu::SustainedShares shares;
  gpu::LaunchModel launch;
};

/// One stage's program and what its slots mean.
struct StageProgram {
  network::Program steps;
  std::vector<SlotKey> slots;
};

/// Compiles a stage. Transfers of groups for which `alone(group)` is true (one rank) vanish.
/// @param names  table of names; extended
StageProgram compile_stage(const workload::StepGraph& graph,
                           int stage,
                           const KernelTimes& times,
                           const std::vector<workload::Group>& groups_of_one,
                           std::vector<std::string>& names);

}  // namespace headway::training

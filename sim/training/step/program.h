// From a stage of the step graph to the program that its ranks run, with slots in place of groups.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/tick.h"
#include "sim/gpu/kernel_time.h"
#include "sim/network/flow/problem.h"
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
  int distance = 1;
  std::string name;

  auto operator<=>(const SlotKey&) const = default;
};

/// How long the kernels of an operation take on this GPU.
struct KernelTimes {
  const gpu::GpuSpec* gpu = nullptr;
  gpu::SustainedShares shares;
  gpu::LaunchModel launch;
};

/// What transfers cost the kernels of their block; an empty function: nothing.
struct TransferCosts {
  using Cost = std::function<core::Seconds(const workload::Operation&)>;
  Cost interference;  ///< compute time that an asynchronous collective takes from those beside it
  Cost blocking;      ///< how long a collective that nothing runs beside takes alone
};

/// How much the CPU stretches the kernels of a block, gpu::host_stretch.
double block_stretch(const workload::Block& block,
                     const KernelTimes& times,
                     const TransferCosts& transfers = {});

/// How long an operation keeps its rank busy.
struct OperationTime {
  core::Tick ticks = 0;
  core::Tick launch = 0;  ///< of these: what the CPU adds because it launches too slowly
};

/// How long each operation of a block keeps its rank busy; of transfers, asynchronous collectives
/// by their interference only.
std::vector<OperationTime> operation_times(const workload::Block& block,
                                           const KernelTimes& times,
                                           const TransferCosts& transfers = {});

/// The same of every block.
std::vector<std::vector<OperationTime>> block_times(const workload::StepGraph& graph,
                                                    const KernelTimes& times,
                                                    const TransferCosts& transfers = {});

/// A copy between GPU and host memory: the link's time, or that of the GPU's share of the host's
/// memory, and the launch gap.
core::Seconds host_copy_time(const KernelTimes& times, core::Bytes bytes);

/// Pairs (from, to) of stages whose messages are received in the order they are sent, whatever
/// their channel. One group then serves all channels of the pair, which keeps the problem small.
std::set<std::pair<int, int>> in_order_pairs(const workload::StepGraph& graph);

/// Where in the step graph an instruction of a program comes from.
struct StepOrigin {
  std::int32_t block = -1, operation = -1;  ///< of a computation
  std::int32_t call = -1;                   ///< of its stage; -1 behind the last
};

/// One stage's program and what its slots mean.
struct StageProgram {
  network::Program steps;
  std::vector<core::Tick> launch;   ///< per step: OperationTime::launch of a computation, else 0
  std::vector<core::Tick> idle;     ///< per step: of a computation, ticks without a kernel; else 0
  std::vector<StepOrigin> origins;  ///< per step, if asked for
  std::vector<SlotKey> slots;
};

/// What all stages of a step are compiled with.
struct CompileInput {
  const workload::StepGraph* graph = nullptr;
  std::vector<std::vector<OperationTime>> times;  ///< from block_times
  std::vector<workload::Group> groups_of_one;  ///< groups of a single rank: their transfers vanish
  std::set<std::pair<int, int>> in_order;      ///< from in_order_pairs
  bool origins = false;                        ///< fill StageProgram::origins
  /// Calls that repeat at least so often become a loop; 0: never, as with origins.
  std::int64_t loops_from = 0;
};

/// Compiles a stage.
/// @param names  table of names; extended
StageProgram compile_stage(const CompileInput& input, int stage, std::vector<std::string>& names);

}  // namespace headway::training

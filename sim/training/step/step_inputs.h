// What a step is lowered from: ranks on GPUs, the graph of every stage, the fabric, kernel speeds.
#pragma once

#include <cstdint>

#include "sim/network/collective/collective.h"
#include "sim/network/fabric/fabric.h"
#include "sim/training/check.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/program.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// The row of NCCL's cost tables that a GPU reads: CDNA 3 that of Hopper, CDNA 4 that of Blackwell.
network::NcclGeneration nccl_generation(gpu::Architecture architecture);

/// What the collective model knows of the machine, and of what gradients become between sites.
network::NetworkParameters network_parameters(const Scenario& scenario,
                                              const network::FabricInput& input);

/// Ranks over the cluster's GPUs.
RankLayout rank_layout(const CheckedScenario& checked);

/// What every stage of the scenario does.
workload::StepGraph step_graph(const CheckedScenario& checked);

/// What the fabric of a cluster is built from, storage servers on it included.
network::FabricInput fabric_input(const ClusterSpec& cluster);

/// The same with the network of this node in each.
network::FabricInput with_node(network::FabricInput input, const NodeSpec& node);

/// The fabric of a cluster; where nodes are of several kinds, their links as fast as their own.
/// @param hash_seed  of its switches, under ecmp
network::Fabric build_fabric(const ClusterSpec& cluster, std::uint64_t hash_seed = 0);

/// The hash that the switches of a run have under ecmp: drawn from the run's seed.
/// @param draw  0: the step's own; from 1 others, for its interval
std::uint64_t hash_seed(const Scenario& scenario, std::uint64_t draw = 0);

/// Servers are pooled by leaf, evenly and so that stripes are exact: the largest divisor of the
/// coefficient unit that is at most the servers and the leaves.
int storage_targets(int servers, int leaves);

/// Compute time lost a second of an asynchronous collective of this kind, by the framework.
double interference_share(const Scenario& scenario, core::Activity activity);

/// Whether attention runs at the speed of FlashAttention-2, which is below that of the GPU's newest
/// kernels: asked for, or PyTorch's choice (before Blackwell).
/// Source: PyTorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, priority_order: flash
/// before all others to 2.9; pytorch/torchtitan, models/attention.py: cuDNN first on Blackwell.
bool runs_flash2(const Scenario& scenario);

/// What the CPUs of this layout's ranks take to launch.
gpu::LaunchModel launch_model(const Scenario& scenario,
                              const workload::ParallelismSpec& parallelism);

/// Kernel speeds of the cluster's GPU with the calibration applied, launched by the CPUs of the
/// scenario's layout, or of another.
KernelTimes kernel_times(const Scenario& scenario);
KernelTimes kernel_times(const Scenario& scenario, const workload::ParallelismSpec& parallelism);

}  // namespace headway::training

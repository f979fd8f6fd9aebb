// From step graph, placement and fabric to one flow problem.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/network/collective/collective_flows.h"
#include "sim/network/fabric/fabric.h"
#include "sim/network/flow/problem.h"
#include "sim/training/check.h"
#include "sim/training/step/critical_path.h"
#include "sim/training/step/placement.h"
#include "sim/training/step/program.h"
#include "sim/training/step/tensor_orbits.h"
#include "sim/workload/step_graph.h"

namespace headway::training {

/// The time of one kind of collective of the step, alone on the fabric: what reports and
/// explanations quote.
struct CollectiveUse {
  std::string name;
  network::CollectiveCall call;
  network::GroupShape shape;
  network::CollectiveTime alone;
};

/// A training step as a problem for the flow engine.
struct LoweredStep {
  network::Problem problem;
  std::vector<core::LinkId> fabric_links;        ///< problem link -> fabric link
  std::vector<std::uint32_t> link_multiplicity;  ///< problem link -> fabric links it stands for
  std::vector<CollectiveUse> collectives;        ///< each distinct one once, in order of first use
  std::vector<core::Bytes>
      timed_bytes;  ///< per group: bytes one rank sends over NVLink in a timed event, else 0
  std::vector<core::Bytes>
      copied_bytes;  ///< per group: of a copy between GPU and host memory, else 0
  std::vector<std::uint32_t>
      use_of_group;    ///< per group: its entry in `collectives`; of a copy none
  LaunchTicks launch;  ///< per program and step
  std::vector<std::vector<StepOrigin>> origins;  ///< per program and step, if asked for
  std::vector<double> stretches;  ///< per block of the graph, block_stretch; with origins
};

struct LowerOptions {
  bool contention = true;  ///< false: every transfer is a timed event that takes its time alone
  bool origins = false;    ///< fill LoweredStep::origins and stretches
  const TensorOrbits* orbits = nullptr;  ///< lower only the tensor indices that these keep
};

/// The row of NCCL's cost tables that a GPU reads: CDNA 3 that of Hopper, CDNA 4 that of Blackwell.
network::NcclGeneration nccl_generation(gpu::Architecture architecture);

/// Ranks over the cluster's GPUs.
RankLayout rank_layout(const CheckedScenario& checked);

/// What every stage of the scenario does.
workload::StepGraph step_graph(const CheckedScenario& checked);

/// What the fabric of a cluster is built from, storage servers on it included.
network::FabricInput fabric_input(const ClusterSpec& cluster);

/// The fabric of a cluster.
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

/// One actor a rank, one group for every set of ranks that communicates; with
/// `options.orbits` only those of the kept tensor indices, with multiplicities: the same ticks and
/// result digest. Groups inside one NVLink domain are timed events: the domain is taken to serve
/// one group at a time.
LoweredStep lower(const CheckedScenario& checked,
                  const workload::StepGraph& graph,
                  const network::Fabric& fabric,
                  const LowerOptions& options = {});

}  // namespace headway::training

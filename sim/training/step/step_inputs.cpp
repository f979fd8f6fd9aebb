#include "sim/training/step/step_inputs.h"

#include <algorithm>

#include "sim/core/error.h"
#include "sim/core/random.h"
#include "sim/gpu/closed_form.h"
#include "sim/network/fabric/route.h"
#include "sim/training/compute_fabric.h"
#include "sim/training/constants.h"
#include "sim/training/retries.h"
#include "sim/training/unequal/node_kinds.h"
#include "sim/workload/blocks/build.h"

namespace headway::training {

network::NcclGeneration nccl_generation(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::volta:
    case gpu::Architecture::turing:
      return network::NcclGeneration::volta;
    case gpu::Architecture::ampere:
    case gpu::Architecture::ada:
      return network::NcclGeneration::ampere;
    case gpu::Architecture::hopper:
    case gpu::Architecture::cdna2:
    case gpu::Architecture::cdna3:
      return network::NcclGeneration::hopper;
    case gpu::Architecture::blackwell:
    case gpu::Architecture::cdna4:
      return network::NcclGeneration::blackwell;
  }
  HEADWAY_CHECK(false, "architecture {}", static_cast<int>(architecture));
}

RankLayout rank_layout(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  return {s.parallelism,
          checked.data_parallel(),
          s.cluster.node.scale_up.domain_gpus,
          node_order(s.cluster, s.parallelism, checked.data_parallel(),
                     static_cast<std::uint64_t>(s.run.seed)),
          checked.islands(),
          workload::encoder_stages(s.model)};
}

workload::StepGraph step_graph(const CheckedScenario& checked) {
  const Scenario& s = checked.scenario();
  workload::StepGraph graph =
      workload::build_step_graph(s.model, s.training, s.parallelism, checked.synchronous_data(),
                                 checked.micro_batches(), rank_layout(checked).expert_domains());
  add_retries(checked, graph);
  return graph;
}

network::NetworkParameters network_parameters(const Scenario& s,
                                              const network::FabricInput& input) {
  auto machine = network::make_parameters(input, nccl_generation(s.cluster.node.gpu.architecture));
  if (input.sites && input.sites->gradient_bits > 0) {
    const double from = s.training.framework.reduce_bytes;
    const double to = input.sites->gradient_bits / 8;
    const auto& gpu = s.cluster.node.gpu;
    // Packing reads the one and writes the other, unpacking the other way round.
    machine.site_pack = to / from;
    machine.site_pack_rate =
        gpu.memory_bandwidth * (kernel_times(s).shares.memory * from / (2 * (from + to)));
  }
  return machine;
}

std::uint64_t hash_seed(const Scenario& scenario, std::uint64_t draw) {
  const core::RandomStream stream(static_cast<std::uint64_t>(scenario.run.seed), "ecmp hash");
  return stream.bits(draw)[0];
}

network::FabricInput fabric_input(const ClusterSpec& cluster) {
  network::FabricInput input = compute_fabric(cluster);
  if (on_compute_fabric(cluster)) {
    // One target stands for all servers of a leaf.
    const int leaves = static_cast<int>(network::make_shape(input).leaves_per_tree);
    const int targets = storage_targets(*cluster.storage->servers, leaves);
    input.storage = {targets, cluster.storage->read_bandwidth / targets,
                     cluster.storage->write_bandwidth / targets};
  }
  return input;
}

network::FabricInput with_node(network::FabricInput input, const NodeSpec& node) {
  input.scale_up = node.scale_up;
  input.nic = node.nic;
  return input;
}

namespace {

void slow_cards(std::uint32_t node, double factor, network::Fabric& fabric) {
  const auto& shape = fabric.shape();
  for (std::uint32_t port = 0; factor < 1 && port < shape.rails * shape.planes; ++port) {
    for (const bool up : {true, false}) {
      const core::LinkId link = fabric.nic_link(node, port / shape.planes, port % shape.planes, up);
      fabric.degrade(link, factor, fabric.link(link).cables);
    }
  }
}

void slow_scale_up(std::uint32_t node, double factor, network::Fabric& fabric) {
  const auto& shape = fabric.shape();
  const std::uint32_t gpus = shape.domain_gpus > 1 ? shape.gpus_per_node : 0;
  for (std::uint32_t i = 0; factor < 1 && i < gpus; ++i) {
    for (const bool up : {true, false}) {
      fabric.degrade(fabric.scale_up_link(node * shape.gpus_per_node + i, up), factor);
    }
  }
}

/// Cards and NVLink ports of other kinds of nodes are slower ones of the first kind.
void slow_links(const ClusterSpec& cluster, network::Fabric& fabric) {
  for (int kind = 1; kind < node_kinds(cluster); ++kind) {
    const auto slow = network::make_shape(with_node(fabric.input(), node_of_kind(cluster, kind)));
    const double cards = slow.port_rate / fabric.shape().port_rate;
    const double ports = slow.scale_up_rate / fabric.shape().scale_up_rate;
    for (std::int64_t n = first_node(cluster, kind); n < first_node(cluster, kind + 1); ++n) {
      slow_cards(static_cast<std::uint32_t>(n), cards, fabric);
      slow_scale_up(static_cast<std::uint32_t>(n), ports, fabric);
    }
  }
}

}  // namespace

network::Fabric build_fabric(const ClusterSpec& cluster, std::uint64_t hash_seed) {
  network::FabricInput input = fabric_input(cluster);
  input.hash_seed = hash_seed;
  network::Fabric fabric(input);
  slow_links(cluster, fabric);
  return fabric;
}

int storage_targets(int servers, int leaves) {
  int targets = std::min({servers, leaves, static_cast<int>(network::kCoefficientUnit)});
  while (static_cast<int>(network::kCoefficientUnit) % targets != 0) {
    --targets;
  }
  return targets;
}

double interference_share(const Scenario& scenario, core::Activity activity) {
  const auto& framework = scenario.training.framework;
  switch (activity) {
    case core::Activity::tensor:
      return framework.tensor_interference;
    case core::Activity::expert:
      return framework.expert_overlap ? framework.expert_interference : 0;
    case core::Activity::pipeline_p2p:
      return 0;  // one or two channels between two GPUs
    default:
      return scenario.calibration.data_interference.value_or(framework.data_interference);
  }
}

/// PyTorch multiplies 8-bit operands that have a scale a row with CUTLASS, others with cuBLASLt.
constexpr double kRowProducts = 0.84;

/// Of the bandwidth of the host's memory channels, what streams reach.
constexpr double kStreamShare = 0.8;

/// Whether a message between two stages leaves an NVLink domain.
bool stages_leave_domains(const ClusterSpec& cluster, const workload::ParallelismSpec& p) {
  const std::int64_t gpus = std::int64_t{cluster.nodes} * cluster.node.gpus;
  const std::int64_t domain = cluster.node.scale_up.domain_gpus;
  const bool side_by_side = p.rank_order == workload::RankOrder::pipeline_first;
  const std::int64_t pipeline =
      side_by_side ? std::int64_t{p.tensor} * p.context * p.pipeline : gpus;
  return p.pipeline > 1 && gpus > domain && domain % pipeline != 0;
}

/// The CPUs' updates share the host's memory.
gpu::LaunchModel launch_model(const Scenario& scenario,
                              const workload::ParallelismSpec& parallelism) {
  const auto& framework = scenario.training.framework;
  const auto& node = scenario.cluster.node;
  gpu::LaunchModel launch;
  launch.cpu_launch = host_launch(scenario.calibration, framework);
  launch.loop_launch = framework.host.loop_launch;
  launch.collective = framework.host.collective;
  launch.layer = host_layer(scenario.calibration, framework);
  if (stages_leave_domains(scenario.cluster, parallelism)) {
    launch.slowdown = 1 + framework.host.stall * parallelism.tensor;
  }
  launch.cuda_graphs = framework.cuda_graphs;
  launch.host_memory = node.host_memory_bandwidth * (kStreamShare / node.gpus);
  return launch;
}

bool runs_flash2(const Scenario& scenario) {
  using workload::AttentionKernels;
  const auto& gpu = scenario.cluster.node.gpu;
  const AttentionKernels kernels = scenario.training.framework.attention_kernels;
  const bool nvidia = gpu.architecture < gpu::Architecture::cdna2;
  const bool chosen =
      kernels == AttentionKernels::sdpa && gpu.architecture != gpu::Architecture::blackwell;
  // FlashAttention's package calls AMD's own library on its GPUs, PyTorch kernels made by Triton.
  const bool named = kernels == AttentionKernels::flash2 && nvidia;
  const auto& shares = scenario.calibration.kernels.value_or(gpu.sustained);
  return (chosen || named) && shares.attention_flash2 > 0;
}

KernelTimes kernel_times(const Scenario& scenario) {
  return kernel_times(scenario, scenario.parallelism);
}

KernelTimes kernel_times(const Scenario& scenario, const workload::ParallelismSpec& parallelism) {
  const auto& gpu = scenario.cluster.node.gpu;
  const auto& framework = scenario.training.framework;
  gpu::SustainedShares shares = scenario.calibration.kernels.value_or(gpu.sustained);
  if (runs_flash2(scenario)) {
    shares.attention_forward = shares.attention_backward = shares.attention_flash2;
    shares.flash2 = gpu.architecture < gpu::Architecture::cdna2;
  }
  for (double* share : {&shares.gemm_16bit, &shares.gemm_8bit, &shares.gemm_4bit, &shares.gemm_tf32,
                        &shares.gemm_fp32}) {
    *share *= framework.gemm_share;
  }
  const bool nvidia = gpu.architecture < gpu::Architecture::cdna2;
  if (framework.scaling == workload::Scaling::row && nvidia) {
    shares.gemm_8bit *= kRowProducts;
  }
  shares.attention_forward *= framework.attention_share;
  shares.attention_backward *= framework.attention_share;
  // A synchronous step waits for the slowest GPU at every collective.
  const std::int64_t gpus = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  return {&gpu, gpu::shares_of_slowest(shares, gpus), launch_model(scenario, parallelism)};
}

std::vector<core::ModelConstant> host_constants() {
  return {{"training.host_stream_share", kStreamShare, "", 0,
           "round value, assumed: streams of several sockets reach about four fifths of the "
           "channels' peak"},
          {"training.row_scaled_products", kRowProducts, "", 0.06,
           "NVIDIA: 0.95 / 1.13, CUTLASS over cuBLASLt on H100 as in its catalogue entry; PyTorch, "
           "aten/src/ATen/native/cuda/RowwiseScaledMM.cu"}};
}

}  // namespace headway::training

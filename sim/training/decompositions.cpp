#include "sim/training/decompositions.h"

#include <algorithm>

#include "sim/gpu/kernel_time.h"
#include "sim/training/constants.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/schedule/end_blocks.h"

namespace headway::training {

namespace {

/// Relative error of the time of decompositions: a factor of three.
constexpr double kDecompositions = 1.1;

double gpus_of(const Scenario& s) {
  return static_cast<double>(s.cluster.nodes) * s.cluster.node.gpus;
}

int data_ranks_of(const Scenario& s) {
  const auto& p = s.parallelism;
  const double replica = static_cast<double>(p.tensor) * p.context * p.pipeline;
  return p.data.value.value_or(std::max(1, static_cast<int>(gpus_of(s) / replica)));
}

core::Seconds decompositions_of(const workload::Block& block, const KernelTimes& times) {
  core::Seconds sum;
  for (const workload::Operation& operation : block.operations) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (kernel.kind == core::KernelKind::decomposition) {
        sum += gpu::kernel_time(*times.gpu, times.shares, kernel, times.launch);
      }
    }
  }
  return sum;
}

/// What the model's work takes at the rate of large products.
core::Seconds products_time(const Scenario& s, const KernelTimes& times) {
  const auto flops = workload::training_flops_per_token(s.model, s.training, s.parallelism);
  const double tokens =
      static_cast<double>(s.training.global_batch) * s.training.sequence_length / gpus_of(s);
  return flops.hfu * tokens /
         (gpu::peak_rate(*times.gpu, s.training.precision) *
          gpu::gemm_share(times.shares, s.training.precision));
}

}  // namespace

core::Seconds decomposition_time(const Scenario& s) {
  core::Seconds most;
  if (!workload::preconditions(s.training.optimizer_state)) {
    return most;
  }
  const KernelTimes times = kernel_times(s);
  for (const workload::Block& block :
       workload::end_blocks(s.model, s.training, s.parallelism, data_ranks_of(s))) {
    most = std::max(most, decompositions_of(block, times));
  }
  return most;
}

double decomposition_error(const Scenario& s) {
  const core::Seconds time = decomposition_time(s);
  if (time <= core::Seconds(0)) {
    return 0;
  }
  return kDecompositions * (time / (time + products_time(s, kernel_times(s))));
}

std::vector<core::ModelConstant> decomposition_constants() {
  return {{"training.error_of_decompositions", kDecompositions, "", 0,
           "a factor of three: eigenvalues of 61 matrices of 768 took 85 ms on MI300X in fp64 "
           "(tasmaikeni13/RFS, artifacts/kernel_benchmark.json, 2026), the model says 27 ms in "
           "fp32; one at a time nothing is published"}};
}

}  // namespace headway::training

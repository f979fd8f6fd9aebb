#include "sim/training/decompositions.h"

#include <algorithm>

#include "sim/gpu/kernel_time.h"
#include "sim/training/constants.h"
#include "sim/training/step/step_inputs.h"
#include "sim/workload/closed_form.h"
#include "sim/workload/schedule/end_blocks.h"

namespace headway::training {

namespace {

/// Relative error of the time of decompositions: of those that were measured (cuSOLVER, sides above
/// 512) that of the solver's age (A100's published QR takes 0.54 of the law); of smaller ones (0.9
/// to 2.9 times the law) and of other solvers a factor of three.
constexpr double kMeasuredDecompositions = 0.5;
constexpr double kDecompositions = 1.1;
constexpr std::int64_t kLargestSmall = 512;

/// Times of decompositions, and the same by their relative errors.
struct Decompositions {
  core::Seconds time, error;
};

double gpus_of(const Scenario& s) {
  return static_cast<double>(s.cluster.nodes) * s.cluster.node.gpus;
}

int data_ranks_of(const Scenario& s) {
  const auto& p = s.parallelism;
  const double replica = static_cast<double>(p.tensor) * p.context * p.pipeline;
  return p.data.value.value_or(std::max(1, static_cast<int>(gpus_of(s) / replica)));
}

Decompositions decompositions_of(const workload::Block& block, const KernelTimes& times) {
  const bool measured = times.gpu->architecture < gpu::Architecture::cdna2;
  Decompositions sum;
  for (const workload::Operation& operation : block.operations) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (kernel.kind == core::KernelKind::decomposition ||
          kernel.kind == core::KernelKind::eigenvalues) {
        const auto time = gpu::kernel_time(*times.gpu, times.shares, kernel, times.launch);
        sum.time += time;
        sum.error += time * (measured && kernel.n > kLargestSmall ? kMeasuredDecompositions
                                                                  : kDecompositions);
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

/// Of the busiest stage.
Decompositions busiest(const Scenario& s) {
  Decompositions most;
  if (!workload::preconditions(s.training.optimizer_state)) {
    return most;
  }
  const KernelTimes times = kernel_times(s);
  for (const workload::Block& block :
       workload::end_blocks(s.model, s.training, s.parallelism, data_ranks_of(s))) {
    const Decompositions here = decompositions_of(block, times);
    most = here.time > most.time ? here : most;
  }
  return most;
}

}  // namespace

core::Seconds decomposition_time(const Scenario& s) { return busiest(s).time; }

double decomposition_error(const Scenario& s) {
  const auto [time, error] = busiest(s);
  return time > core::Seconds(0) ? error / (time + products_time(s, kernel_times(s))) : 0;
}

std::vector<core::ModelConstant> decomposition_constants() {
  return {{"training.error_of_measured_decompositions", kMeasuredDecompositions, "", 0,
           "QRs of 2,000 columns on A100 take 0.54 of what the law says (ml-explore/mlx, "
           "pull request 975)"},
          {"training.error_of_decompositions", kDecompositions, "", 0,
           "a factor of three: eigenvalues of 61 matrices of 768 took 85 ms on MI300X in fp64 "
           "(tasmaikeni13/RFS, artifacts/kernel_benchmark.json, 2026), the model says 27 ms in "
           "fp32; one at a time nothing is published"}};
}

}  // namespace headway::training

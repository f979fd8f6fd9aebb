#include "sim/workload/memory/optimizer_state.h"

#include "sim/workload/constants.h"

namespace headway::workload {

namespace {

/// fp32 scales of two moments in 8 bits, one for each block of 256 values [B]. Source: Dettmers et
/// al., arXiv 2110.02861.
constexpr double kScales = 2 * 4.0 / 256;

}  // namespace

double moment_bytes(OptimizerState state) {
  switch (state) {
    case OptimizerState::adam_fp32:
    case OptimizerState::shampoo:
    case OptimizerState::soap:
      return 8;
    case OptimizerState::adam_bf16:
      return 4;
    case OptimizerState::adam_8bit:
      return 2 + kScales;
    case OptimizerState::muon:  // of a matrix
    case OptimizerState::sgd_momentum:
      return 4;
  }
  return 8;
}

std::vector<core::ModelConstant> optimizer_constants() {
  return {{"workload.master_bytes", kMasterBytes, "B", 0, "an fp32 copy of each weight"},
          {"workload.scale_bytes", kScales, "B", 0,
           "two fp32 scales for each block of 256 values: Dettmers et al., 8-bit Optimizers via "
           "Block-wise Quantization, arXiv 2110.02861"}};
}

}  // namespace headway::workload

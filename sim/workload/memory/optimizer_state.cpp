#include "sim/workload/memory/optimizer_state.h"

namespace headway::workload {

double moment_bytes(OptimizerState state) {
  constexpr double kScales = 2 * 4.0 / 256;
  switch (state) {
    case OptimizerState::adam_fp32:
      return 8;
    case OptimizerState::adam_bf16:
      return 4;
    case OptimizerState::adam_8bit:
      return 2 + kScales;
    case OptimizerState::muon:  // one momentum; its time is refused (violations.cpp)
    case OptimizerState::sgd_momentum:
      return 4;
  }
  return 8;
}

}  // namespace headway::workload

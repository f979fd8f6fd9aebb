#include "sim/workload/number_formats.h"

namespace headway::workload {

double operand_bytes(core::Precision precision) {
  switch (precision) {
    case core::Precision::fp32:
    case core::Precision::tf32:
      return 4;
    case core::Precision::bf16:
    case core::Precision::fp16:
      return 2;
    case core::Precision::fp8:
      return 1;
    case core::Precision::mxfp8:
      return 33.0 / 32.0;  // one scale byte in a block of 32
    case core::Precision::nvfp4:
      return 9.0 / 16.0;  // half a byte, one scale byte in a block of 16
  }
  return 2;
}

bool narrow(core::Precision precision) { return operand_bytes(precision) < 2; }

bool full_precision(core::Precision precision) { return operand_bytes(precision) > 2; }

double element_bytes(core::Precision precision) { return full_precision(precision) ? 4 : 2; }

bool fuses_attention(const TrainingSpec& training) {
  return training.framework.fuses_attention() && !full_precision(training.precision);
}

TrainingSpec in_its_format(const TrainingSpec& training) {
  TrainingSpec resolved = training;
  if (full_precision(training.precision)) {
    FrameworkSpec& framework = resolved.framework;
    framework.gradient_bytes = framework.reduce_bytes = framework.dispatch_bytes = 4;
    framework.attention_kernels = AttentionKernels::unfused;
  }
  return resolved;
}

}  // namespace headway::workload

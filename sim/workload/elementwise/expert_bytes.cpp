#include "sim/workload/elementwise/expert_bytes.h"

#include "sim/workload/constants.h"

namespace headway::workload {

namespace {

/// An element of e bytes is made w bytes wide, and narrow again.
double widened(double e, double w) { return w > e ? e + w : 0; }

}  // namespace

double bias_forward(double e, double w) { return e + 5 * w + widened(e, w); }
double bias_backward(double e, double w) { return 2 * e + 6 * w + 2 * widened(e, w); }

MovedBytes unpermute_bytes(double e, double w) {
  return {e + 4 * w, w + widened(e, w), w > e ? 4 : 3, 3 * w};
}

MovedBytes unpermute_gradient_bytes(double e, double w) {
  return {2 * e + 6 * w, widened(e, w), w > e ? 5 : 4};
}

MovedBytes permute_gradient_bytes(double e) { return {3 * e, e, 2, 3 * e}; }

std::vector<core::ModelConstant> expert_constants() {
  constexpr const char* kBias =
      "passes counted in Megatron-LM, megatron/core/transformer/moe/experts.py, "
      "TEGroupedMLP._apply_bias, 2026";
  return {{"workload.scattered_issue", kScatteredIssue, "B/cycle", 0.1,
           "index_add in steps of a mixture, PyTorch 2.11 on H200 and H100: docs/calibration.md, "
           "parts 8 and 9"},
          {"workload.routing_bytes", kRoutingBytes, "B", 0,
           "passes over a score: fp32 scores read and written by softmax, read by top-k and by the "
           "balance loss, probabilities and a map written; counted"},
          {"workload.expert_bias_forward", bias_forward(2, 4), "B", 0, kBias},
          {"workload.expert_bias_backward", bias_backward(2, 4), "B", 0, kBias},
          {"workload.expert_bias_issue", kBiasIssue, "B/cycle", 2,
           "half of the bytes as composed norms and mixed sums, the rest as plain streams"}};
}

}  // namespace headway::workload

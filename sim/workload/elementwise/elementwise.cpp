#include "sim/workload/elementwise/elementwise.h"

#include "sim/workload/constants.h"

namespace headway::workload {

namespace {

/// Every line reads (r) and writes (w) arrays; small letters are of the activations' format,
/// capitals of fp32.
///   forward:  to fp32 rW, square RW, mean R, times its root RW, to 16 bits Rw, times weight rw
///   backward: times weight rw, for the weight rrw and summed r, to fp32 rW, times the root RW, for
///             the root RRW and summed R, square's RW RW RW, added RRW, to 16 bits Rw
/// The root itself is a value a token: two launches forward, four backward.
/// Source: PyTorch, aten/src/ATen/native/layer_norm.cpp, rms_norm of 2.4 to 2.7; Hugging Face,
/// LlamaRMSNorm.
/// Paces (here and below): samples of PyTorch 2.11 on H200,
/// calibrate/validate/h200-sxm/pytorch.csv, bytes over time at 2,048 and 4,096 columns, over the
/// 0.87 of the peak bandwidth of products and sums of whole arrays. Products with a row of weights
/// and sums over columns hold the others up.
constexpr ElementwiseOperator kComposedNorm{{4, 7, 8, 0.63}, {8, 17, 17, 0.67}};
constexpr ElementwiseOperator kCompiledNorm{{2, 0, 1, 0.74}, {3, 0, 1, 0.55}};
constexpr ElementwiseOperator kLibraryNorm{{2, 0, 1, 0.68}, {3, 0, 1, 0.39}};  // PyTorch's own
constexpr ElementwiseOperator kSingleNorm{{2, 0, 1}, {3, 0, 1}};

/// forward: to fp32 rW, complex product RW, to 16 bits Rw; backward the same.
/// Source: pytorch/torchtitan, apply_rotary_emb; Hugging Face's rotate_half moves as much in five
/// operators (negate, join, two products, sum).
constexpr ElementwiseOperator kComposedRotary{{2, 4, 3, 0.71}, {2, 4, 3, 0.71}};
constexpr ElementwiseOperator kCompiledRotary{{2, 0, 1, 0.8}, {2, 0, 1, 0.8}};
constexpr ElementwiseOperator kSingleRotary{{2, 0, 1}, {2, 0, 1}};

/// Gated, eager: SiLU rw, product rrw; backward: two products rrw each, SiLU rrw.
constexpr ElementwiseOperator kComposedGate{{5, 0, 2}, {9, 0, 3}};
/// Gated: reads gate and up, writes one; backward reads them and the gradient, writes two.
constexpr ElementwiseOperator kSingleGate{{3, 0, 1}, {5, 0, 1}};
/// Plain: reads its input, backward and the gradient, writes one.
constexpr ElementwiseOperator kPlain{{2, 0, 1}, {3, 0, 1}};

}  // namespace

ElementwiseOperator norm_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  switch (framework.elementwise) {
    case Elementwise::compiled:
      return kCompiledNorm;
    case Elementwise::eager:  // RMSNorm came with the gate (Llama)
      if (framework.fused_norms) {
        break;
      }
      return model.gated_mlp ? kComposedNorm : kLibraryNorm;
    case Elementwise::fused:
      break;
  }
  return kSingleNorm;
}

ElementwiseOperator rotary_operator(const FrameworkSpec& framework) {
  if (framework.elementwise == Elementwise::compiled) {
    return kCompiledRotary;
  }
  return framework.fuses_rotary() ? kSingleRotary : kComposedRotary;
}

ElementwiseOperator activation_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  if (!model.gated_mlp) {
    return kPlain;
  }
  return framework.fuses_elementwise() ? kSingleGate : kComposedGate;
}

core::Kernel elementwise_kernel(const char* name,
                                const ElementwisePass& pass,
                                double element,
                                double elements) {
  core::Kernel kernel;
  kernel.kind = core::KernelKind::memory_bound;
  kernel.name = name;
  kernel.traffic = core::Bytes(pass.bytes(element) * elements / pass.launches);
  kernel.pace = pass.pace;
  kernel.count = pass.launches;
  return kernel;
}

std::vector<core::ModelConstant> elementwise_constants() {
  constexpr const char* kSource = "PyTorch 2.11 on H200: samples of docs/calibration.md, part 8";
  return {{"workload.composed_norm_pace", kComposedNorm.forward.pace, "", 0.05, kSource},
          {"workload.composed_norm_backward_pace", kComposedNorm.backward.pace, "", 0.05, kSource},
          {"workload.compiled_norm_pace", kCompiledNorm.forward.pace, "", 0.06, kSource},
          {"workload.compiled_norm_backward_pace", kCompiledNorm.backward.pace, "", 0.04, kSource},
          {"workload.library_norm_pace", kLibraryNorm.forward.pace, "", 0.03, kSource},
          {"workload.library_norm_backward_pace", kLibraryNorm.backward.pace, "", 0.05, kSource},
          {"workload.composed_rotary_pace", kComposedRotary.forward.pace, "", 0.02, kSource},
          {"workload.compiled_rotary_pace", kCompiledRotary.forward.pace, "", 0.1, kSource},
          {"workload.list_pace", kListPace, "", 0.01, kSource},
          {"workload.mixed_sum_pace", kMixedSumPace, "", 0.05,
           "steps of eight decoders on H200: calibrate/validate/h200-sxm"}};
}

}  // namespace headway::workload

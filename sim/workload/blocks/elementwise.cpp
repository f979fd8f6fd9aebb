#include "sim/workload/blocks/elementwise.h"

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
constexpr ElementwiseOperator kComposedNorm{{4, 7, 8}, {8, 17, 17}};
constexpr ElementwiseOperator kSingleNorm{{2, 0, 1}, {3, 0, 1}};

/// forward: to fp32 rW, complex product RW, to 16 bits Rw; backward the same.
/// Source: pytorch/torchtitan, apply_rotary_emb; Hugging Face's rotate_half moves as much in five
/// operators (negate, join, two products, sum).
constexpr ElementwiseOperator kComposedRotary{{2, 4, 3}, {2, 4, 3}};
constexpr ElementwiseOperator kSingleRotary{{2, 0, 1}, {2, 0, 1}};

/// Gated, eager: SiLU rw, product rrw; backward: two products rrw each, SiLU rrw.
constexpr ElementwiseOperator kComposedGate{{5, 0, 2}, {9, 0, 3}};
/// Gated: reads gate and up, writes one; backward reads them and the gradient, writes two.
constexpr ElementwiseOperator kSingleGate{{3, 0, 1}, {5, 0, 1}};
/// Plain: reads its input, backward and the gradient, writes one.
constexpr ElementwiseOperator kPlain{{2, 0, 1}, {3, 0, 1}};

}  // namespace

ElementwiseOperator norm_operator(const ModelSpec& model, const FrameworkSpec& framework) {
  // RMSNorm came with the gate (Llama); PyTorch has one kernel for LayerNorm.
  return framework.fuses_elementwise() || !model.gated_mlp ? kSingleNorm : kComposedNorm;
}

ElementwiseOperator rotary_operator(const FrameworkSpec& framework) {
  return framework.fuses_elementwise() ? kSingleRotary : kComposedRotary;
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
  kernel.count = pass.launches;
  return kernel;
}

}  // namespace headway::workload

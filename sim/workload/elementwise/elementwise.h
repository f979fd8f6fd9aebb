// What the operators between matrix products move and launch, by who writes their kernels.
#pragma once

#include "sim/core/kernel.h"
#include "sim/workload/framework/framework_spec.h"
#include "sim/workload/model_spec.h"

namespace headway::workload {

/// One pass of an operator over an array: how often it reads or writes one of the activations'
/// format and one of fp32, each an element, and the kernels that do so.
struct ElementwisePass {
  double arrays = 0;       ///< of the activations' format
  double wide_arrays = 0;  ///< of fp32
  int launches = 1;
  double issued = 0;  ///< bytes a cycle and multiprocessor (Kernel::issued)
  /// Bytes an element.
  [[nodiscard]] double bytes(double element) const { return element * arrays + 4.0 * wide_arrays; }
};

/// Bytes that kernels over lists of arrays (multi_tensor_apply) handle in a cycle on a
/// multiprocessor: Adam, norm, product and copy of PyTorch 2.11 at 0.72 of the peak bandwidth of
/// H200 and 0.78 of that of H100, plain streams 0.87 and 0.88 (pytorch.csv of
/// calibrate/validate/h200-sxm and h100-sxm).
inline constexpr double kListIssue = 22.2;

/// The same of sums of 16-bit gradients into fp32 ones: 0.55 and 0.71 of the peak bandwidth in
/// steps of eight decoders on the same two GPUs (measured.json).
inline constexpr double kMixedSumIssue = 13.6;

/// The same of the loss, compiled (exponentials forward) and of separate operators forward: samples
/// of the same two GPUs, 50,304 and 128,256 logits a token.
inline constexpr double kFusedLossIssue = 6.2;
inline constexpr double kFusedLossBackwardIssue = 19.6;
inline constexpr double kSeparateLossIssue = 19.8;

struct ElementwiseOperator {
  ElementwisePass forward, backward;
};

/// Softmax over attention's scores in memory, of `element` bytes; eager in fp32, between two casts,
/// scale and mask apart.
ElementwiseOperator softmax_operator(const FrameworkSpec& framework, double element);

/// RMSNorm (models with gated MLPs) or LayerNorm, its addition to the residual's gradient apart.
/// Fused, compiled, or LayerNorm: read and written once, backward reads input and gradient. PyTorch
/// composes RMSNorm of eight operators in fp32.
ElementwiseOperator norm_operator(const ModelSpec& model, const FrameworkSpec& framework);

/// Rotary embedding of queries or of keys; eager in fp32, between two casts; with a factor where
/// the software's kernel takes none, of operators in the activations' format.
ElementwiseOperator rotary_operator(const ModelSpec& model, const FrameworkSpec& framework);

/// Copies of queries, and of keys and values, into the layout of attention's kernel
/// (`copied_heads`).
struct HeadCopies {
  ElementwiseOperator queries, keys_values;
};
HeadCopies head_copies();

/// The MLP's activation with its gate; an element is one of the result.
ElementwiseOperator activation_operator(const ModelSpec& model, const FrameworkSpec& framework);

/// Bounds on both inputs of the experts' activation by operators of their own, before it forward
/// and after it backward; an element is one of the activation's result. No launches: its kernel has
/// them, or there are none.
ElementwiseOperator limits_operator(const ModelSpec& model, const FrameworkSpec& framework);

/// Kernels of a pass over `elements` of `element` bytes.
core::Kernel elementwise_kernel(const char* name,
                                const ElementwisePass& pass,
                                double element,
                                double elements);

}  // namespace headway::workload
